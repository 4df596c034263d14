// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/must.hpp"
#include "bench/store/inbox_sides.hpp"

#include <chrono>
#include <stdexcept>

namespace hapax::bench {

namespace {

// hapax's own tables, created by hapax, with the minimal statements to use them: no lanes,
// versions, horizon, pauses, store time or per-request errors.
class ByHand final : public InboxWay {
 public:
  ByHand(const std::string& path, const Undone& undone) {
    must(migrate("sqlite:" + path));
    const Undoing undoing(undone);
    db_ = open_database(path);
    const auto query = [&](const char* sql) { return Query(db_.get(), sql); };
    begin_ = query("BEGIN IMMEDIATE");
    commit_ = query("COMMIT");
    claim_ = query("INSERT INTO hapax_event_id VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING");
    winner_ = query("SELECT event FROM hapax_event_id WHERE key = ?1");
    digest_ = query("SELECT digest FROM hapax_event WHERE no = ?1");
    event_ = query(
        "INSERT INTO hapax_event(no, source, received_ms, would, tenant, id, type, order_key,"
        " digest, headers, body) VALUES(?1, 1, ?2, 0, x'', ?3, ?4, x'', ?5, ?6, ?7)");
    delivery_ = query(
        "INSERT INTO hapax_queue(event, delivery, destination, state, due_ms, attempts, abandons,"
        " flags) VALUES(?1, 1, 1, 0, ?2, 0, 0, 0)");
    due_ = query(
        "SELECT event, delivery, attempts FROM hapax_queue"
        " WHERE destination = 1 AND state = 0 AND due_ms <= ?1"
        " ORDER BY due_ms, event, delivery LIMIT ?2");
    lease_ = query(
        "UPDATE hapax_queue SET due_ms = ?3, fence = ?4, holder = 0, owner = 1, first_sent_ms = ?5"
        " WHERE event = ?1 AND delivery = ?2");
    read_ = query(
        "SELECT source, tenant, id, type, headers, body, received_ms FROM hapax_event"
        " WHERE no = ?1");
    done_ = query("DELETE FROM hapax_queue WHERE event = ?1 AND delivery = ?2 AND fence = ?3");
    attempt_ = query(
        "INSERT INTO hapax_attempt VALUES(?1, ?2, ?3, 1, 0, ?4, 0, 0, 200, x'', x'', 0, NULL,"
        " NULL)");
  }

  std::size_t admit(std::span<const Request> requests) override {
    begin_.run();
    const std::size_t fresh = admit_in(requests, now_ms());
    commit_.run();
    return fresh;
  }

  std::vector<Held> lease(std::size_t max) override {
    begin_.run();
    std::vector<Held> leases = lease_in(max, now_ms());
    commit_.run();
    return leases;
  }

  void ack(std::span<const Held> leases) override {
    begin_.run();
    ack_in(leases, now_ms());
    commit_.run();
  }

  std::vector<Held> turn(std::span<const Held> acks, std::span<const Request> requests,
                         std::size_t max) override {
    begin_.run();
    const std::int64_t now = now_ms();
    ack_in(acks, now);
    admit_in(requests, now);
    std::vector<Held> leases = lease_in(max, now);
    commit_.run();
    return leases;
  }

 private:
  static std::int64_t now_ms() { return expiry_ms() - kDefaultTtl.count(); }

  std::size_t admit_in(std::span<const Request> requests, std::int64_t now) {
    std::size_t fresh = 0;
    for (const Request& each : requests) {
      claim_.bind(1, each.id);
      claim_.bind(2, each.no);
      claim_.bind(3, now + kDefaultTtl.count());
      if (claim_.run() == 0) {
        look_at_winner(each);
        continue;
      }
      ++fresh;
      store(each, now);
    }
    return fresh;
  }

  void look_at_winner(const Request& request) {
    winner_.bind(1, request.id);
    winner_.step();
    digest_.bind(1, winner_.number(0));
    winner_.reset();
    digest_.step();
    if (digest_.bytes(0) != view(Requests::digest())) throw std::runtime_error("a changed body");
    digest_.reset();
  }

  void store(const Request& request, std::int64_t now) {
    event_.bind(1, request.no);
    event_.bind(2, now);
    event_.bind(3, request.id);
    event_.bind(4, std::string_view("invoice.paid"));
    event_.bind(5, view(Requests::digest()));
    event_.bind(6, Requests::headers());
    event_.bind(7, Requests::body());
    event_.run();
    delivery_.bind(1, request.no);
    delivery_.bind(2, now);
    delivery_.run();
  }

  std::vector<Held> lease_in(std::size_t max, std::int64_t now) {
    std::vector<Held> leases;
    due_.bind(1, now);
    due_.bind(2, static_cast<std::int64_t>(max));
    while (due_.step()) leases.push_back({due_.number(0), due_.number(1), ++fence_});
    due_.reset();
    for (const Held& each : leases) {
      lease_.bind(1, each.event);
      lease_.bind(2, each.delivery);
      lease_.bind(3, now + 30'000);
      lease_.bind(4, each.fence);
      lease_.bind(5, now);
      lease_.run();
      read_.bind(1, each.event);
      read_.step();
      bodies_.emplace_back(read_.bytes(5));
      read_.reset();
    }
    bodies_.clear();
    return leases;
  }

  void ack_in(std::span<const Held> leases, std::int64_t now) {
    for (const Held& each : leases) {
      done_.bind(1, each.event);
      done_.bind(2, each.delivery);
      done_.bind(3, each.fence);
      if (done_.run() != 1) throw std::runtime_error("a lease could not be settled");
      attempt_.bind(1, each.event);
      attempt_.bind(2, each.delivery);
      attempt_.bind(3, each.fence);
      attempt_.bind(4, now);
      attempt_.run();
    }
  }

  Database db_;
  Query begin_, commit_, claim_, winner_, digest_, event_, delivery_, due_, lease_, read_, done_,
      attempt_;
  std::int64_t fence_ = 0;
  std::vector<std::string> bodies_;
};

}  // namespace

std::unique_ptr<InboxWay> inbox_by_hand(const std::string& path, const Undone& undone) {
  return std::make_unique<ByHand>(path, undone);
}

}  // namespace hapax::bench
