// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_server.hpp"
#include "support/callers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// Regression in other systems (kamu-cli #1398, eventuous #222, fable #22): a cursor passed the
// number of a row whose transaction committed later, and the row was never sent. Here callers hold
// transactions open, at every isolation level, while rows with higher numbers are committed and
// moved.
namespace hapax::test {
namespace {

// A caller with an open transaction that has written a message.
class Writer {
 public:
  Writer(const PostgresDatabase& database, ManualClock& clock, const std::string& isolation,
         const std::string& payload)
      : connection_(database.connect()),
        session_(PostgresSession::attach(connection_.get(), {.clock = &clock}).value()) {
    ask(connection_.get(), "BEGIN ISOLATION LEVEL " + isolation);
    PostgresTx tx = session_.join().value();
    EXPECT_TRUE(outbox(tx).enqueue({.destination = "mail", .payload = payload, .order_key = "k"}));
  }
  void commit() { ask(connection_.get(), "COMMIT"); }

 private:
  PgHandle connection_;
  PostgresSession session_;
};

class LateCommit : public testing::TestWithParam<const char*> {
 protected:
  // The isolation level applies to the callers and, as the database default, to every transaction.
  void SetUp() override {
    ask_server("ALTER DATABASE " + database_.name() + " SET default_transaction_isolation = '" +
               GetParam() + "'");
    node_ = std::make_unique<NodeInbox>(database_.url(), kLongTimeout, clock_);
    mail_ =
        DestinationNo(node_->driver().catalog->number_of(NameKind::destination, "mail").value());
  }

  Writer begin(const std::string& payload) {
    return Writer(database_, clock_, GetParam(), payload);
  }
  std::size_t move() {
    const EventNo numbers[] = {EventNo(++last_), EventNo(++last_), EventNo(++last_)};
    const Result<Moved> moved = node_->driver().queue->move_messages(numbers);
    EXPECT_TRUE(moved) << moved.error().to_string();
    return moved ? moved->messages : 0;
  }
  // Returns the payloads in delivery order. They share a lane.
  std::vector<std::string> deliver_all() {
    std::vector<std::string> payloads;
    for (int i = 0; i < 1000; ++i) {
      const LeaseRequest request{.from = mail_, .max = 9, .lease = seconds(30), .holder = {}};
      const std::vector<Lease> got =
          node_->driver().queue->write({.lease = std::span(&request, 1)}).lease.value();
      if (got.at(0).deliveries.empty()) break;
      for (const Leased& each : got.at(0).deliveries) {
        payloads.push_back(each.event.body);
        const Settlement ack{.which = ref(each), .fence = each.fence, .disposition = Ack{}};
        EXPECT_EQ(node_->driver().queue->write({.settle = std::span(&ack, 1)}).settle.value().at(0),
                  Settled::ok);
      }
    }
    return payloads;
  }

  PostgresDatabase database_;
  ManualClock clock_;
  std::unique_ptr<NodeInbox> node_;
  DestinationNo mail_;
  std::int64_t last_ = 1000;
};

TEST_P(LateCommit, ALowerNumberIsForwardedAfterAHigherOne) {
  Writer late = begin("late");
  begin("early").commit();
  EXPECT_EQ(move(), 1U);
  EXPECT_EQ(deliver_all(), std::vector<std::string>{"early"});
  begin("between").commit();
  late.commit();
  EXPECT_EQ(move(), 2U);
  EXPECT_EQ(deliver_all(), (std::vector<std::string>{"late", "between"}));
  EXPECT_EQ(move(), 0U);
}

TEST_P(LateCommit, EveryMessageIsDeliveredOnceInAnyCommitOrder) {
  SeededRandom chance(118);
  std::vector<Writer> open;
  std::vector<std::string> wanted;
  std::vector<std::string> got;
  const int count = rounds(300);
  for (int i = 0; i < count || !open.empty(); ++i) {
    if (i < count) {
      wanted.push_back(std::to_string(i));
      open.push_back(begin(wanted.back()));
    }
    if (open.size() > 5 || i >= count) {
      const auto one = open.begin() + static_cast<std::ptrdiff_t>(chance.below(open.size()));
      one->commit();
      open.erase(one);
    }
    if (chance.below(3) == 0) move();
    const std::vector<std::string> some = deliver_all();
    got.insert(got.end(), some.begin(), some.end());
  }
  while (move() > 0) {
  }
  const std::vector<std::string> rest = deliver_all();
  got.insert(got.end(), rest.begin(), rest.end());
  std::sort(got.begin(), got.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(got, wanted);
}

INSTANTIATE_TEST_SUITE_P(Level, LateCommit,
                         testing::Values("read committed", "repeatable read", "serializable"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, ' ');
                           return name;
                         });

}  // namespace
}  // namespace hapax::test
