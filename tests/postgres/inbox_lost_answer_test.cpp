// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/gate.hpp"
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"

// The answer to an inbox statement is lost, before or after the server committed. The store repeats
// the statement with the same numbers and fences and gets the lost answer.
namespace hapax::test {
namespace {

using store::Leased;
using store::Settled;

class InboxLostAnswerTest : public testing::TestWithParam<Fault> {
 protected:
  void SetUp() override { EXPECT_EQ(admit("first"), 1); }  // also creates the partitions
  void TearDown() override { EXPECT_EQ(gate_.strikes(), strikes_); }

  void lose() {
    gate_.arm(GetParam(), Kind::any);
    ++strikes_;
  }
  int admit(const std::string& id) { return node_.admit(std::vector<Post>{{id, "lane"}}); }
  int count(const std::string& table) {
    return witness_.number("SELECT count(*) FROM hapax." + table);
  }

  PostgresDatabase database_;
  Gate gate_;
  InboxNode node_{gate_.url(database_.name()), 1};
  Witness witness_{database_.connect()};
  int strikes_ = 0;
};

TEST_P(InboxLostAnswerTest, AnAdmitIsFreshOnce) {
  lose();
  EXPECT_EQ(admit("a"), 1);
  EXPECT_EQ(admit("a"), 0);
  EXPECT_EQ(count("event"), 2);
  EXPECT_EQ(count("queue"), 2);
}

// No worker has received the lost lease.
TEST_P(InboxLostAnswerTest, ALostLeaseIsFreedAndDoesNotCountAsAbandoned) {
  ASSERT_EQ(admit("second"), 1);
  const store::LeaseRequest request{.from = node_.destination(),
                                    .max = 10,
                                    .lease = std::chrono::minutes(5),
                                    .holder = {Holder::Kind::pull, 1},
                                    .max_abandons = 3};
  lose();
  const store::Answers answers = node_.driver().queue->write({.lease = std::span(&request, 1)});
  ASSERT_TRUE(answers.lease) << answers.lease.error().to_string();
  const std::vector<Leased>& leases = answers.lease->front().deliveries;
  ASSERT_EQ(leases.size(), 1U) << "the head of the lane, not the next delivery";
  EXPECT_EQ(leases.front().abandons, 0U);
  EXPECT_EQ(count("queue WHERE holder_kind IS NOT NULL"), 1);
  EXPECT_EQ(node_.ack(leases), std::vector{Settled::ok});
}

TEST_P(InboxLostAnswerTest, ASettleIsOkAndRecordedOnce) {
  const std::vector<Leased> leases = node_.lease(1);
  lose();
  EXPECT_EQ(node_.ack(leases), std::vector{Settled::ok});
  EXPECT_EQ(count("attempt"), 1);
  EXPECT_EQ(count("queue"), 0);
}

TEST_P(InboxLostAnswerTest, ARetryIsCountedOnce) {
  const std::vector<Leased> leases = node_.lease(1);
  lose();
  EXPECT_EQ(node_.settle(leases, std::vector<Disposition>{RetryIn{}}), std::vector{Settled::ok});
  EXPECT_EQ(node_.lease(1).front().attempt, 2U);
}

TEST_P(InboxLostAnswerTest, AReplayMakesOneDelivery) {
  const std::vector<Leased> leases = node_.lease(1);
  node_.ack(leases);
  lose();
  const Result<store::Replayed> replayed = node_.driver().queue->replay(
      {.event = leases.front().event.no, .how = {.as = store::ReplayAs::as_new}});
  ASSERT_TRUE(replayed) << replayed.error().to_string();
  EXPECT_EQ(replayed->deliveries, std::vector{DeliveryNo(2)});
  EXPECT_EQ(count("queue"), 1);
}

TEST_P(InboxLostAnswerTest, AMessageIsSentAndBecomesOneEvent) {
  const MessageId id{{1, 2, 3}};
  const Message message{.destination = "mail", .key = "k", .payload = "text"};
  lose();
  const Result<Enqueued> sent = node_.driver().queue->enqueue(id, message);
  ASSERT_TRUE(sent) << sent.error().to_string();
  EXPECT_EQ(sent->message, id);
  EXPECT_FALSE(sent->duplicate);
  EXPECT_EQ(count("message"), 1);
  const std::vector<EventNo> numbers{EventNo(1000), EventNo(1001)};
  ASSERT_TRUE(
      node_.driver().queue->move_messages(std::vector{EventNo(999)}));  // creates the partition
  ASSERT_TRUE(
      node_.driver().queue->enqueue(MessageId{{4}}, {.destination = "mail", .payload = "more"}));
  lose();
  const Result<store::Moved> moved = node_.driver().queue->move_messages(numbers);
  ASSERT_TRUE(moved) << moved.error().to_string();
  EXPECT_EQ(moved->messages, 1U);
  EXPECT_EQ(count("message"), 0);
  EXPECT_EQ(count("event"), 3);
}

INSTANTIATE_TEST_SUITE_P(EveryFault, InboxLostAnswerTest,
                         testing::Values(Fault::cut_before, Fault::cut_after));

// The first statement arrives after the second was answered.
TEST(InboxHeldRequestTest, AStatementThatArrivesAfterItsRepeatChangesNothing) {
  PostgresDatabase database;
  Gate gate;
  InboxNode node(gate.url(database.name()), 1);
  const Witness witness(database.connect());
  const std::vector<Post> posts{{"a", "lane"}};
  node.admit(std::vector<Post>{{"first", "lane"}});
  gate.arm(Fault::hold, Kind::any);
  EXPECT_EQ(node.admit(posts), 1);
  gate.release_held();
  gate.wait_until_held_is_answered();
  EXPECT_EQ(witness.number("SELECT count(*) FROM hapax.event"), 2);
  EXPECT_EQ(witness.number("SELECT count(*) FROM hapax.queue"), 2);

  const std::vector<Leased> leases = node.lease(1);
  gate.arm(Fault::hold, Kind::any);
  EXPECT_EQ(node.settle(leases, std::vector<Disposition>{RetryIn{}}), std::vector{Settled::ok});
  gate.release_held();
  gate.wait_until_held_is_answered();
  EXPECT_EQ(node.lease(1).front().attempt, 2U);
}

// The first repeat is delayed, and arrives when a worker holds what the second repeat leased.
TEST(InboxHeldRequestTest, ALateRepeatDoesNotFreeALeaseOfALaterRepeat) {
  PostgresDatabase database;
  Gate gate;
  InboxNode node(gate.url(database.name()), 1);
  node.admit(std::vector<Post>{{"a"}});
  gate.arm(Fault::cut_before, Kind::lease);
  gate.then_arm(Fault::hold, Kind::lease);
  const std::vector<Leased> leases = node.lease(1);
  ASSERT_EQ(leases.size(), 1U);
  ASSERT_EQ(gate.strikes(), 2);
  gate.release_held();
  gate.wait_until_held_is_answered();
  EXPECT_EQ(node.ack(leases), std::vector{Settled::ok});
}

// Each repeat frees what the lost request before it leased.
TEST(InboxHeldRequestTest, ALeaseWhoseAnswerWasLostTwiceIsNotAbandoned) {
  PostgresDatabase database;
  Gate gate;
  InboxNode node(gate.url(database.name()), 1);
  node.admit(std::vector<Post>{{"a"}});
  const store::LeaseRequest request{.from = node.destination(),
                                    .max = 1,
                                    .lease = std::chrono::minutes(5),
                                    .holder = {Holder::Kind::pull, 1},
                                    .max_abandons = 3};
  gate.arm(Fault::cut_after, Kind::lease);
  gate.then_arm(Fault::cut_after, Kind::lease);
  const store::Answers answers = node.driver().queue->write({.lease = std::span(&request, 1)});
  ASSERT_TRUE(answers.lease) << answers.lease.error().to_string();
  const std::vector<Leased>& leases = answers.lease->front().deliveries;
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases.front().abandons, 0U);
  EXPECT_EQ(gate.strikes(), 2);
}

// A node of the previous version repeats with the same token, whatever its last bits are.
TEST(InboxHeldRequestTest, ARepeatWithTheSameTokenFreesWhatTheLostRequestLeased) {
  PostgresDatabase database;
  InboxNode node(database.url(), 1);
  const Witness witness(database.connect());
  node.admit(std::vector<Post>{{"a"}});
  const auto abandons = [&](const std::string& lost_ms) {
    return witness.text("SELECT abandons FROM hapax._lease_once(ARRAY[" +
                        std::to_string(node.destination().value()) +
                        "], ARRAY[1], ARRAY[300000], ARRAY[1], ARRAY[1], ARRAY[3], ARRAY[0],"
                        " ARRAY[0], ARRAY[0], 64, 16000000, NULL, 1234567, " +
                        lost_ms + ") WHERE delivery IS NOT NULL");
  };
  EXPECT_EQ(abandons("NULL"), "0");
  EXPECT_EQ(abandons("25000"), "0");
}

}  // namespace
}  // namespace hapax::test
