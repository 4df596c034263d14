// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/inbox_sides.hpp"

#include "bench/must.hpp"
#include "store/postgres/driver.hpp"
#include "store/sqlite/driver.hpp"

#include <algorithm>
#include <stdexcept>

namespace hapax::bench {

namespace {

using std::chrono::hours;
using std::chrono::seconds;

void check(bool right, const char* what) {
  if (!right) throw std::runtime_error(what);
}

// A driver and its dependencies.
struct Inbox {
  std::unique_ptr<Clock> clock = make_system_clock();
  std::unique_ptr<Random> random = make_system_random();
  store::Driver driver;
};

Inbox on_sqlite(const std::string& path, const Undone& undone) {
  Inbox inbox;
  inbox.driver = open_undone(path, undone, *inbox.clock);
  return inbox;
}

Inbox on_postgres(const std::string& url) {
  Inbox inbox;
  inbox.driver = must(store::postgres::open_driver(url, {}, *inbox.random));
  return inbox;
}

class HapaxInbox final : public InboxWay {
 public:
  explicit HapaxInbox(Inbox inbox) : inbox_(std::move(inbox)), driver_(inbox_.driver) {
    must(driver_.catalog->number_of(store::NameKind::source, "source"));
    must(driver_.catalog->number_of(store::NameKind::destination, "destination"));
  }

  std::size_t admit(std::span<const Request> requests) override {
    return fresh(driver_.queue->write({.admit = prepare(requests)}));
  }

  std::vector<Held> lease(std::size_t max) override {
    const store::LeaseRequest request = lease_of(max);
    return held(driver_.queue->write({.lease = std::span(&request, 1)}));
  }

  void ack(std::span<const Held> leases) override {
    settled(driver_.queue->write({.settle = settle(leases)}));
  }

  std::vector<Held> turn(std::span<const Held> acks, std::span<const Request> requests,
                         std::size_t max) override {
    const store::LeaseRequest request = lease_of(max);
    store::Answers answers = driver_.queue->write(
        {.settle = settle(acks), .admit = prepare(requests), .lease = std::span(&request, 1)});
    settled(answers);
    check(fresh(answers) == requests.size(), "an id that was never used is a duplicate");
    return held(std::move(answers));
  }

  // Adds a backlog behind the head of a lane that waits for an hour.
  void block(std::size_t deliveries) {
    Requests source(IdOrder::by_time);
    std::vector<Request> requests = source.next(deliveries, 1);
    for (Request& each : requests) {
      each.no += std::int64_t{1} << 40;
      each.id += "-blocked";
    }
    admit(std::span(requests).first(1));
    const std::vector<Held> head = lease(1);
    const store::Settlement retry{ref(head.front()), Fence(head.front().fence), RetryIn{hours(1)}};
    settled(driver_.queue->write({.settle = std::span(&retry, 1)}));
    for (std::size_t done = 1; done < requests.size(); done += 1000) {
      admit(std::span(requests).subspan(done, std::min<std::size_t>(1000, requests.size() - done)));
    }
    check(lease(1).empty(), "a blocked delivery was leased");
  }

 private:
  static DeliveryRef ref(const Held& lease) {
    return {EventNo(lease.event), DeliveryNo(lease.delivery)};
  }

  static store::LeaseRequest lease_of(std::size_t max) {
    return {.from = DestinationNo(kDestination),
            .max = max,
            .lease = seconds(30),
            .holder = {Holder::Kind::push, 1}};
  }

  std::span<const store::Admit> prepare(std::span<const Request> requests) {
    arrivals_.clear();
    admits_.clear();
    for (const Request& each : requests) {
      arrivals_.push_back({.no = EventNo(each.no),
                           .source = SourceNo(kSource),
                           .key = each.id,
                           .id = each.id,
                           .type = "invoice.paid",
                           .order_key = each.order_key,
                           .digest = Requests::digest(),
                           .headers = Requests::headers(),
                           .body = Requests::body(),
                           .targets = std::span(&target_, 1)});
    }
    for (const store::Arrival& each : arrivals_) {
      admits_.push_back({.arrivals = std::span(&each, 1)});
    }
    return admits_;
  }

  std::span<const store::Settlement> settle(std::span<const Held> leases) {
    settlements_.clear();
    AttemptNote note;
    note.status = 200;
    for (const Held& each : leases) {
      settlements_.push_back({ref(each), Fence(each.fence), Ack{}, note});
    }
    return settlements_;
  }

  static std::size_t fresh(const store::Answers& answers) {
    std::size_t count = 0;
    for (const store::AdmitAnswer& each : answers.admit) {
      count += must(each).front().kind == store::Admission::Kind::fresh ? 1 : 0;
    }
    return count;
  }

  static void settled(const store::Answers& answers) {
    for (const store::Settled each : must(answers.settle)) {
      check(each == store::Settled::ok, "a lease could not be settled");
    }
  }

  static std::vector<Held> held(store::Answers answers) {
    std::vector<Held> leases;
    const std::vector<store::Lease> all = must(std::move(answers.lease));
    for (const store::Leased& each : all.front().deliveries) {
      leases.push_back({each.event.no.value(), each.delivery.value(), each.fence.value()});
    }
    return leases;
  }

  Inbox inbox_;
  const store::Driver& driver_;
  const store::Target target_{DestinationNo(kDestination)};
  std::vector<store::Arrival> arrivals_;
  std::vector<store::Admit> admits_;
  std::vector<store::Settlement> settlements_;
};

class AdmitSide final : public Side {
 public:
  AdmitSide(std::unique_ptr<InboxWay> way, IdOrder order, std::size_t batch, bool again,
            std::size_t skip)
      : way_(std::move(way)), requests_(order), batch_(batch), again_(again) {
    requests_.skip(skip);
  }

  void prepare(std::size_t rows) override {
    next_ = requests_.next(rows);
    if (!again_) return;
    admit_all();
    for (Request& each : next_) each.no += std::int64_t{1} << 40;  // another event, same id
  }
  void run() override {
    check(admit_all() == (again_ ? 0 : next_.size()), "an id was not what it should be");
  }

 private:
  std::size_t admit_all() {
    std::size_t fresh = 0;
    for (std::size_t done = 0; done < next_.size(); done += batch_) {
      fresh += way_->admit(std::span(next_).subspan(done, batch_));
    }
    return fresh;
  }

  std::unique_ptr<InboxWay> way_;
  Requests requests_;
  std::size_t batch_;
  bool again_;
  std::vector<Request> next_;
};

class MostlyAgainSide final : public Side {
 public:
  MostlyAgainSide(std::unique_ptr<InboxWay> way, std::size_t batch)
      : way_(std::move(way)), batch_(batch) {}

  void prepare(std::size_t rows) override {
    next_ = requests_.next(rows);
    std::vector<Request> before;
    for (std::size_t i = 0; i < rows; ++i) {
      if (is_new(i)) continue;
      before.push_back(next_[i]);
      next_[i].no += std::int64_t{1} << 40;  // another event, same id
    }
    for (std::size_t done = 0; done < before.size(); done += 1000) {
      way_->admit(
          std::span(before).subspan(done, std::min<std::size_t>(1000, before.size() - done)));
    }
  }
  void run() override {
    std::size_t fresh = 0;
    for (std::size_t done = 0; done < next_.size(); done += batch_) {
      fresh += way_->admit(std::span(next_).subspan(done, batch_));
    }
    check(fresh == (next_.size() + 9) / 10, "an id was not what it should be");
  }

 private:
  static bool is_new(std::size_t i) { return i % 10 == 0; }

  std::unique_ptr<InboxWay> way_;
  Requests requests_{IdOrder::random};
  std::size_t batch_;
  std::vector<Request> next_;
};

class DeliverySide final : public Side {
 public:
  DeliverySide(std::unique_ptr<InboxWay> way, std::size_t batch)
      : way_(std::move(way)), batch_(batch) {}

  void prepare(std::size_t rows) override {
    rows_ = rows;
    const std::vector<Request> requests = requests_.next(rows);
    for (std::size_t done = 0; done < rows; done += 1000) {
      way_->admit(std::span(requests).subspan(done, std::min<std::size_t>(1000, rows - done)));
    }
  }
  void run() override {
    for (std::size_t done = 0; done < rows_; done += batch_) {
      const std::vector<InboxWay::Held> leases = way_->lease(batch_);
      check(leases.size() == batch_, "not all that is due was leased");
      way_->ack(leases);
    }
  }

 private:
  std::unique_ptr<InboxWay> way_;
  Requests requests_{IdOrder::by_time};
  std::size_t batch_;
  std::size_t rows_ = 0;
};

// The complete life of a delivery: admitted in one turn, leased in the same or the next one, then
// acknowledged.
class LifeSide final : public Side {
 public:
  LifeSide(std::unique_ptr<InboxWay> way, std::size_t batch, Sharing sharing, std::size_t lanes)
      : way_(std::move(way)), batch_(batch), sharing_(sharing), lanes_(lanes) {}

  void prepare(std::size_t rows) override { next_ = requests_.next(rows, lanes_); }
  void run() override {
    for (std::size_t done = 0; done < next_.size(); done += batch_) {
      take_turn(std::span(next_).subspan(done, batch_));
    }
    while (!held_.empty()) take_turn({});
  }

 private:
  void take_turn(std::span<const Request> requests) {
    if (sharing_ == Sharing::one_transaction) {
      held_ = way_->turn(held_, requests, batch_);
      return;
    }
    way_->ack(held_);
    if (!requests.empty()) way_->admit(requests);
    held_ = way_->lease(batch_);
  }

  std::unique_ptr<InboxWay> way_;
  Requests requests_{IdOrder::by_time};
  std::size_t batch_;
  Sharing sharing_;
  std::size_t lanes_;
  std::vector<Request> next_;
  std::vector<InboxWay::Held> held_;
};

class RejectSide final : public Side {
 public:
  RejectSide(const std::string& path, std::size_t sources, std::size_t batch, const Undone& undone)
      : driver_(open_undone(path, undone, *clock_)), sources_(sources), batch_(batch) {
    prepare(sources * store::kMaxRejects);
    run();
  }

  void prepare(std::size_t rows) override { rows_ = rows; }
  void run() override {
    std::vector<store::Reject> rejects;
    for (std::size_t done = 0; done < rows_; done += batch_) {
      rejects.clear();
      while (rejects.size() < batch_) rejects.push_back(next());
      must(driver_.rejects->add_rejects({.rejects = rejects}));
    }
  }

 private:
  store::Reject next() {
    const std::int64_t no = ++last_;
    return {.no = RejectNo(no),
            .source = SourceNo(1 + no % static_cast<std::int64_t>(sources_)),
            .reason = "signature-invalid",
            .headers = Requests::headers(),
            .body = Requests::body()};
  }

  std::unique_ptr<Clock> clock_ = make_system_clock();
  store::Driver driver_;
  std::size_t sources_;
  std::size_t batch_;
  std::size_t rows_ = 0;
  std::int64_t last_ = 0;
};

}  // namespace

std::vector<Request> Requests::next(std::size_t count, std::size_t lanes) {
  std::vector<Request> made;
  made.reserve(count);
  for (std::string& id : ids_.next(count)) {
    const std::int64_t no = ++last_number_;
    const std::string lane =
        lanes == 0 ? "" : "object-" + std::to_string(static_cast<std::size_t>(no) % lanes);
    made.push_back({no, std::move(id), lane});
  }
  return made;
}

const std::string& Requests::headers() {
  static const std::string headers(240, 'h');
  return headers;
}

const std::string& Requests::body() {
  static const std::string body(1024, 'b');
  return body;
}

const Digest& Requests::digest() {
  static const Digest digest = sha256(body());
  return digest;
}

Requests::Days Requests::days() {
  constexpr std::int64_t kFirstDay = (kFirst >> 22) / 86'400'000;
  return {kFirstDay, kFirstDay + 1};
}

std::unique_ptr<InboxWay> inbox_of_hapax(const std::string& path, const Undone& undone) {
  return std::make_unique<HapaxInbox>(on_sqlite(path, undone));
}

std::unique_ptr<InboxWay> postgres_inbox_of_hapax(const std::string& url) {
  return std::make_unique<HapaxInbox>(on_postgres(url));
}

std::unique_ptr<InboxWay> inbox_with_blocked(const std::string& path, std::size_t deliveries,
                                             const Undone& undone) {
  auto inbox = std::make_unique<HapaxInbox>(on_sqlite(path, undone));
  inbox->block(deliveries);
  return inbox;
}

std::unique_ptr<InboxWay> postgres_inbox_with_blocked(const std::string& url,
                                                      std::size_t deliveries) {
  auto inbox = std::make_unique<HapaxInbox>(on_postgres(url));
  inbox->block(deliveries);
  return inbox;
}

std::unique_ptr<Side> admit_side(std::unique_ptr<InboxWay> way, IdOrder order, std::size_t batch,
                                 bool again, std::size_t skip) {
  return std::make_unique<AdmitSide>(std::move(way), order, batch, again, skip);
}

std::unique_ptr<Side> mostly_again_side(std::unique_ptr<InboxWay> way, std::size_t batch) {
  return std::make_unique<MostlyAgainSide>(std::move(way), batch);
}

std::unique_ptr<Side> reject_side(const std::string& path, std::size_t sources, std::size_t batch,
                                  const Undone& undone) {
  return std::make_unique<RejectSide>(path, sources, batch, undone);
}

std::unique_ptr<Side> delivery_side(std::unique_ptr<InboxWay> way, std::size_t batch) {
  return std::make_unique<DeliverySide>(std::move(way), batch);
}

std::unique_ptr<Side> life_side(std::unique_ptr<InboxWay> way, std::size_t batch, Sharing sharing,
                                std::size_t lanes) {
  return std::make_unique<LifeSide>(std::move(way), batch, sharing, lanes);
}

}  // namespace hapax::bench
