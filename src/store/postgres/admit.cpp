// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/errors.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

#include <deque>
#include <exception>

namespace hapax::store::postgres {

namespace {

// The limits of one statement, unless a single request is larger: PostgreSQL accepts values of up
// to a gigabyte.
constexpr std::size_t kBytesMax = std::size_t{32} * 1024 * 1024;
constexpr std::size_t kRowsMax = 4096;

using Numbers = std::vector<std::int64_t>;
using OptionalNumbers = std::vector<std::optional<std::int64_t>>;
using Views = std::vector<std::string_view>;

// The columns of a batch. Keys are computed here and have stable addresses.
class Columns {
 public:
  explicit Columns(std::span<const Admit> items) {
    for (const Admit& item : items) {
      for (const Arrival& each : item.arrivals) add(item, each);
    }
  }

  Parameters parameters(const Runner& runner) const {
    Parameters out;
    out.add_number(runner.patience_ms());
    out.add_number_array(no);
    out.add_bytes_array(key_);
    out.add_number_array(source_);
    for (const Views* each : {&tenant_, &id_, &type_, &order_key_}) out.add_bytes_array(*each);
    out.add_number_array(version_);
    for (const Views* each : {&digest_, &headers_, &body_}) out.add_bytes_array(*each);
    out.add_number_array(remember_);
    out.add_number_array(would_);
    for (const Numbers* each :
         {&t_place_, &t_event_, &t_delivery_, &t_to_, &t_listen_, &t_guard_}) {
      out.add_number_array(*each);
    }
    out.add_bytes_array(t_lane_);
    out.add_number_array(t_version_);
    out.add_number_array(t_remember_);
    out.add_time(runner.moment());
    return out;
  }

  Numbers no;

 private:
  void add(const Admit& item, const Arrival& arrival) {
    const bool claims = item.would == Would::none && !arrival.key.empty();
    no.push_back(arrival.no.value());
    key_.push_back(claims ? keep(event_claim_key(arrival.source, arrival.tenant, arrival.key))
                          : "");
    source_.push_back(arrival.source.value());
    tenant_.push_back(arrival.tenant);
    id_.push_back(arrival.id);
    type_.push_back(arrival.type);
    order_key_.push_back(arrival.order_key);
    version_.push_back(arrival.version);
    digest_.push_back(hapax::view(arrival.digest));
    headers_.push_back(arrival.headers);
    body_.push_back(arrival.body);
    remember_.push_back(arrival.remember.count());
    would_.push_back(static_cast<std::int64_t>(item.would));
    add_targets(item, arrival);
  }

  void add_targets(const Admit& item, const Arrival& arrival) {
    const bool lanes = item.would == Would::none && !arrival.order_key.empty();
    const std::string_view lane =
        lanes ? keep(lane_key(arrival.source, arrival.tenant, arrival.order_key)) : "";
    std::int64_t ordinal = 0;
    for (const Target& target : arrival.targets) {
      const bool in_lane = lanes && !target.listen;
      t_place_.push_back(static_cast<std::int64_t>(no.size()));
      t_event_.push_back(arrival.no.value());
      t_delivery_.push_back(++ordinal);
      t_to_.push_back(target.to.value());
      t_listen_.push_back(target.listen ? 1 : 0);
      t_guard_.push_back(item.guard ? 0 : 1);
      t_lane_.push_back(in_lane ? lane : "");
      t_version_.push_back(in_lane ? arrival.version : std::nullopt);
      t_remember_.push_back(arrival.remember.count());
    }
  }

  std::string_view keep(std::string key) { return keys_.emplace_back(std::move(key)); }

  std::deque<std::string> keys_;
  Views key_, tenant_, id_, type_, order_key_, digest_, headers_, body_, t_lane_;
  Numbers source_, remember_, would_;
  Numbers t_place_, t_event_, t_delivery_, t_to_, t_listen_, t_guard_, t_remember_;
  OptionalNumbers version_, t_version_;
};

std::size_t bytes_of(const Admit& item) {
  std::size_t bytes = 0;
  for (const Arrival& each : item.arrivals) bytes += each.body.size() + each.headers.size();
  return bytes;
}

// How many of the first items fit in one statement.
std::size_t chunk(std::span<const Admit> items) {
  std::size_t bytes = 0;
  std::size_t rows = 0;
  for (std::size_t count = 0; count < items.size(); ++count) {
    bytes += bytes_of(items[count]);
    rows += items[count].arrivals.size();
    if (count > 0 && (bytes > kBytesMax || rows > kRowsMax)) return count;
  }
  return items.size();
}

// Whether a single item made the whole batch fail.
bool is_one_items(const Error& error) {
  return error.outcome() != Outcome::unknown &&
         (is_refused(error) || error.code() == Code::invalid_argument);
}

Error number_taken(const Error& error) {
  return Error(Code::store_busy, "an event number of this request belongs to another event: " +
                                     error.detail() + "; generate new numbers and retry");
}

std::vector<std::vector<Admission>> read(const QueryResult& answer, std::span<const Admit> items) {
  std::map<std::int64_t, Admission> others;
  for (int i = 0; i < answer.rows(); ++i) {
    const Row row(answer, i);
    others[row.number(0)] = {row.flag(2) ? Admission::Kind::changed : Admission::Kind::duplicate,
                             row.no<EventNo>(1)};
  }
  std::vector<std::vector<Admission>> admissions;
  std::int64_t place = 0;
  for (const Admit& item : items) {
    std::vector<Admission>& own = admissions.emplace_back();
    for (const Arrival& each : item.arrivals) {
      const auto other = others.find(++place);
      own.push_back(other != others.end() ? other->second
                                          : Admission{Admission::Kind::fresh, each.no});
    }
  }
  return admissions;
}

}  // namespace

// One transaction per kind, with an outcome of its own: no locks are held from one to the next.
Answers PostgresQueue::write(const Batch& batch) {
  try {
    Answers answers;
    if (!batch.settle.empty()) answers.settle = settle(batch.settle);
    if (!batch.admit.empty()) answers.admit = admit(batch.admit);
    if (!batch.lease.empty()) answers.lease = lease(batch.lease);
    return answers;
  } catch (const std::exception& failure) {
    return failed(batch, Error(Code::outcome_unknown, failure.what()));
  }
}

std::vector<AdmitAnswer> PostgresQueue::admit(std::span<const Admit> items) {
  std::vector<AdmitAnswer> answers(items.size(), AdmitAnswer(std::vector<Admission>()));
  for (std::size_t done = 0; done < items.size();) {
    const std::size_t count = chunk(items.subspan(done));
    admit_or_split(items.subspan(done, count), std::span(answers).subspan(done, count));
    done += count;
  }
  return answers;
}

// If an item makes the batch fail, the halves are tried separately, until the item is alone.
void PostgresQueue::admit_or_split(std::span<const Admit> items, std::span<AdmitAnswer> answers) {
  Result<Admissions> admitted = admit_once(items);
  if (admitted) {
    for (std::size_t i = 0; i < items.size(); ++i) answers[i] = std::move((*admitted)[i]);
    return;
  }
  const Error& error = admitted.error();
  if (is_one_items(error) && items.size() > 1) {
    const std::size_t half = items.size() / 2;
    admit_or_split(items.first(half), answers.first(half));
    admit_or_split(items.subspan(half), answers.subspan(half));
    return;
  }
  for (AdmitAnswer& each : answers) each = is_refused(error) ? number_taken(error) : error;
}

Result<PostgresQueue::Admissions> PostgresQueue::admit_once(std::span<const Admit> items) {
  const Columns columns(items);
  HAPAX_TRY_ASSIGN(
      answer, run_query_with_days(columns.no, kAdmit, columns.parameters(runner_), "admit events"));
  return read(answer, items);
}

}  // namespace hapax::store::postgres
