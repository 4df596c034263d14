// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"
#include "store/postgres/driver.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace hapax::test {

// One event with one delivery.
struct Post {
  std::string id;
  std::string order_key = {};
};

// A node on the inbox of a database, in the server's own time.
class InboxNode {
 public:
  InboxNode(const std::string& url, std::int64_t node,
            std::chrono::milliseconds timeout = kLongTimeout)
      : driver_(store::postgres::open_driver(url, {.timeout = timeout, .connections = 8}, random_)
                    .value()),
        numbers_(*clock_, NodeNo(node)),
        source_(driver_.catalog->number_of(store::NameKind::source, "src").value()),
        destination_(driver_.catalog->number_of(store::NameKind::destination, "dst").value()) {}

  const store::Driver& driver() { return driver_; }
  DestinationNo destination() const { return destination_; }

  // Admits each post as a separate request, all in one batch. Returns how many were fresh.
  int admit(std::span<const Post> posts) {
    const store::Target target{destination_};
    std::vector<store::Arrival> arrivals;
    for (const Post& each : posts) {
      arrivals.push_back({.no = numbers_.next(),
                          .source = source_,
                          .key = each.id,
                          .id = each.id,
                          .order_key = each.order_key,
                          .headers = "headers",
                          .body = body_,
                          .targets = std::span(&target, 1)});
    }
    std::vector<store::Admit> admits;
    for (const store::Arrival& each : arrivals) admits.push_back({std::span(&each, 1)});
    int fresh = 0;
    for (const store::AdmitAnswer& each : driver_.queue->write({.admit = admits}).admit) {
      EXPECT_TRUE(each) << each.error().to_string();
      if (each && each->front().kind == store::Admission::Kind::fresh) ++fresh;
    }
    return fresh;
  }

  std::vector<store::Leased> lease(std::size_t max,
                                   std::chrono::milliseconds time = std::chrono::minutes(5)) {
    const store::LeaseRequest request{destination_, max, time, {Holder::Kind::push, 1}};
    store::Answers answers = driver_.queue->write({.lease = std::span(&request, 1)});
    EXPECT_TRUE(answers.lease) << answers.lease.error().to_string();
    return answers.lease ? std::move(answers.lease->front().deliveries)
                         : std::vector<store::Leased>();
  }

  std::vector<store::Settled> settle(std::span<const store::Leased> leases,
                                     std::span<const Disposition> dispositions) {
    std::vector<store::Settlement> wanted;
    for (std::size_t i = 0; i < leases.size(); ++i) {
      wanted.push_back(
          {{leases[i].event.no, leases[i].delivery}, leases[i].fence, dispositions[i]});
    }
    store::Answers answers = driver_.queue->write({.settle = wanted});
    EXPECT_TRUE(answers.settle) << answers.settle.error().to_string();
    return answers.settle ? std::move(*answers.settle) : std::vector<store::Settled>();
  }
  std::vector<store::Settled> ack(std::span<const store::Leased> leases) {
    return settle(leases, std::vector<Disposition>(leases.size(), Ack{}));
  }

 private:
  const std::string body_ = std::string(1024, 'b');
  std::unique_ptr<Clock> clock_ = make_system_clock();
  SeededRandom random_{7};
  store::Driver driver_;
  EventNumbers numbers_;
  SourceNo source_;
  DestinationNo destination_;
};

}  // namespace hapax::test
