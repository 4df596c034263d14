// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/must.hpp"
#include "bench/store/cases.hpp"
#include "bench/store/inbox_sides.hpp"
#include "bench/store/postgres.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace hapax::bench {

namespace {

// Claims the keys and, for the free ones, inserts the bytes and a delivery. Parameters: 1 sorted
// keys, 2 event numbers, 3 ids, 4 digests, 5 headers, 6 bodies.
constexpr const char* kAdmit =
    "WITH claimed AS (INSERT INTO hapax.claim AS c (key, event, expires_at)"
    "  SELECT w.key, w.no, now() + interval '30 days' FROM unnest($1, $2) AS w (key, no)"
    "  ON CONFLICT DO NOTHING RETURNING c.event),"
    " stored AS (INSERT INTO hapax.event (no, source, would, received_at, tenant, id, type, "
    "order_key,"
    "   digest, headers, body)"
    "  SELECT w.no, 1, 0, now(), '', w.id, 'invoice.paid', '', w.digest, w.headers, w.body"
    "  FROM unnest($2, $3, $4, $5, $6) AS w (no, id, digest, headers, body)"
    "  JOIN claimed AS c ON c.event = w.no),"
    " queued AS (INSERT INTO hapax.queue (event, delivery, destination, listen, state, due_at, "
    "fence,"
    "   guard) SELECT c.event, 1, 1, false, 0, now(), 0, 0 FROM claimed AS c)"
    " SELECT event FROM claimed";

// The events that own the duplicate ids, and the digests of their bodies.
constexpr const char* kWinners =
    "SELECT c.event, e.digest FROM hapax.claim AS c JOIN hapax.event AS e ON e.no = c.event"
    " WHERE c.key = ANY ($1)";

// Parameter: 1 maximum number of leases.
constexpr const char* kLease =
    "WITH due AS MATERIALIZED (SELECT q.event, q.delivery FROM hapax.queue AS q"
    "  WHERE q.destination = 1 AND q.state = 0 AND q.due_at <= now()"
    "  ORDER BY q.due_at, q.event, q.delivery LIMIT $1 FOR UPDATE SKIP LOCKED),"
    " held AS (UPDATE hapax.queue AS q SET due_at = now() + interval '30 s',"
    "   fence = nextval('hapax.fence'), holder_kind = 0, holder = 1, first_sent_at = now()"
    "  FROM due WHERE q.event = due.event AND q.delivery = due.delivery"
    "  RETURNING q.event, q.delivery, q.fence)"
    " SELECT h.event, h.delivery, h.fence, e.source, e.tenant, e.id, e.type, e.headers, e.body,"
    "  e.received_at FROM held AS h JOIN hapax.event AS e ON e.no = h.event";

// Parameters: 1 events, 2 deliveries, 3 fences.
constexpr const char* kAck =
    "WITH gone AS (DELETE FROM hapax.queue AS q USING unnest($1, $2, $3) AS w (event, delivery, "
    "fence)"
    "  WHERE q.event = w.event AND q.delivery = w.delivery AND q.fence = w.fence"
    "  RETURNING q.event, q.delivery, q.fence)"
    " INSERT INTO hapax.attempt (event, delivery, fence, destination, listen, outcome, settled_at,"
    "   began_us, took_ms, status, error, excerpt)"
    "  SELECT event, delivery, fence, 1, false, 0, now(), 0, 0, 200, '', '' FROM gone";

// hapax's own tables, created by hapax, with the minimal statements to use them: one statement per
// operation, without lanes, versions, horizon, pauses, expired ids or recovery from a lost commit.
class ByHand final : public InboxWay {
 public:
  explicit ByHand(const std::string& url) {
    must(migrate(url));
    connection_ = connect(url);
    const Requests::Days days = Requests::days();
    const std::array<PgValue, 1> wanted{numbers_array(days)};
    execute(connection(), "SELECT hapax._make_days($1)", wanted);
  }

  std::size_t admit(std::span<const Request> requests) override {
    sort(requests);
    const std::array<PgValue, 6> values{bytes_array(ids_),
                                        numbers_array(numbers_),
                                        bytes_array(ids_),
                                        bytes_array(fill(digests_, digest_)),
                                        bytes_array(fill(headers_, Requests::headers())),
                                        bytes_array(fill(bodies_, Requests::body()))};
    const std::size_t fresh = rows_of(execute(connection(), kAdmit, values));
    if (fresh < requests.size()) look_at_winners(requests.size() - fresh);
    return fresh;
  }

  std::vector<Held> lease(std::size_t max) override {
    const std::array<PgValue, 1> values{number_value(static_cast<std::int64_t>(max))};
    const PgResult due = execute(connection(), kLease, values);
    std::vector<Held> leases;
    std::vector<std::string> bodies;
    for (int row = 0; row < PQntuples(due.get()); ++row) {
      leases.push_back({number_of(due, row, 0), number_of(due, row, 1), number_of(due, row, 2)});
      bodies.emplace_back(bytes_of(due, row, 8));
    }
    return leases;
  }

  void ack(std::span<const Held> leases) override {
    if (leases.empty()) return;
    std::vector<std::int64_t> events;
    std::vector<std::int64_t> deliveries;
    std::vector<std::int64_t> fences;
    for (const Held& each : leases) {
      events.push_back(each.event);
      deliveries.push_back(each.delivery);
      fences.push_back(each.fence);
    }
    const std::array<PgValue, 3> values{numbers_array(events), numbers_array(deliveries),
                                        numbers_array(fences)};
    if (rows_of(execute(connection(), kAck, values)) == leases.size()) return;
    throw std::runtime_error("a lease could not be settled");
  }

  // One transaction: saves two syncs and costs two more round trips.
  std::vector<Held> turn(std::span<const Held> acks, std::span<const Request> requests,
                         std::size_t max) override {
    execute(connection(), "BEGIN");
    ack(acks);
    if (!requests.empty()) admit(requests);
    std::vector<Held> leases = lease(max);
    execute(connection(), "COMMIT");
    return leases;
  }

 private:
  // Sorted by id, so that two batches with the same ids cannot deadlock.
  void sort(std::span<const Request> requests) {
    sorted_.clear();
    for (const Request& each : requests) sorted_.push_back(&each);
    std::sort(sorted_.begin(), sorted_.end(),
              [](const Request* a, const Request* b) { return a->id < b->id; });
    ids_.clear();
    numbers_.clear();
    for (const Request* each : sorted_) {
      ids_.push_back(each->id);
      numbers_.push_back(each->no);
    }
  }

  // One value for each id. The columns are reused by the next batch, so that they cost little.
  std::span<const std::string> fill(std::vector<std::string>& column,
                                    std::string_view value) const {
    column.resize(ids_.size(), std::string(value));
    return column;
  }

  void look_at_winners(std::size_t duplicates) {
    const std::array<PgValue, 1> values{bytes_array(ids_)};
    const PgResult winners = execute(connection(), kWinners, values);
    if (rows_of(winners) < duplicates) throw std::runtime_error("an id that nobody has");
    for (int row = 0; row < PQntuples(winners.get()); ++row) {
      if (bytes_of(winners, row, 1) != digest_) throw std::runtime_error("a changed body");
    }
  }

  PGconn* connection() { return connection_.get(); }

  PgHandle connection_;
  const std::string digest_{view(Requests::digest())};
  std::vector<const Request*> sorted_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::string> ids_, digests_, headers_, bodies_;
};

constexpr std::int64_t kFewDays = 2;
constexpr std::int64_t kManyDays = 365;
constexpr double kDaysBudget = 0.8;
constexpr std::size_t kDaysBatch = 64;

// hapax with partitions for `count` days, the last of which is written.
std::unique_ptr<InboxWay> with_days(PostgresPlace& place, std::int64_t count) {
  const std::string url = place.fresh_url();
  must(migrate(url));
  std::vector<std::int64_t> days;
  for (std::int64_t i = 0; i < count; ++i) days.push_back(Requests::days().back() - i);
  const std::array<PgValue, 1> wanted{numbers_array(days)};
  execute(connect(url).get(), "SELECT hapax._need_days($1)", wanted);
  return postgres_inbox_of_hapax(url);
}

using MakeSide = std::function<std::unique_ptr<Side>(std::unique_ptr<InboxWay>)>;

// Both sides are hapax. A longer retention must not cost more.
Case many_days(PostgresPlace& place, const std::string& what, const MakeSide& side) {
  return {.name = "postgres hapax: " + std::to_string(kManyDays) + " days beside " +
                  std::to_string(kFewDays) + ", " + what,
          .budget = kDaysBudget,
          .unit = kDaysBatch,
          .open = [&place, side] {
            return Pair{side(with_days(place, kFewDays)), side(with_days(place, kManyDays))};
          }};
}

}  // namespace

std::unique_ptr<InboxWay> postgres_inbox_by_hand(const std::string& url) {
  return std::make_unique<ByHand>(url);
}

std::vector<Case> postgres_inbox_cases(PostgresPlace& place) {
  std::vector<Case> cases =
      inbox_cases_of({.prefix = "postgres ",
                      .by_hand = [&place] { return postgres_inbox_by_hand(place.fresh_url()); },
                      .hapax = [&place] { return postgres_inbox_of_hapax(place.fresh_url()); },
                      .hapax_with_blocked =
                          [&place](std::size_t deliveries) {
                            return postgres_inbox_with_blocked(place.fresh_url(), deliveries);
                          }});
  using Way = std::unique_ptr<InboxWay>;
  cases.push_back(many_days(place, "fresh", [](Way way) {
    return admit_side(std::move(way), IdOrder::random, kDaysBatch, false);
  }));
  cases.push_back(many_days(place, "90 % duplicates",
                            [](Way way) { return mostly_again_side(std::move(way), kDaysBatch); }));
  cases.push_back(many_days(place, "lease and settle",
                            [](Way way) { return delivery_side(std::move(way), kDaysBatch); }));
  return cases;
}

}  // namespace hapax::bench
