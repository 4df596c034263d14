// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/outbox.hpp>

#include "support/callers.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using namespace std::string_literals;

template <class Caller>
class OutboxTest : public testing::Test {
 protected:
  Result<Enqueued> enqueue_and_commit(const Message& message) {
    typename Caller::Transaction tx = session_.begin().value();
    Result<Enqueued> done = outbox(tx).enqueue(message);
    EXPECT_TRUE(tx.commit());
    return done;
  }

  int messages() const { return test::count(caller_, Caller::kMessages); }
  // Selects an expression over the stored messages.
  std::string select(const std::string& expression, const std::string& where = "true") const {
    return caller_.text("SELECT " + expression + " FROM " + Caller::kMessages + " WHERE " + where);
  }

  test::ManualClock clock_;
  Caller caller_{clock_};
  typename Caller::Session session_ = caller_.attach();
};

TYPED_TEST_SUITE(OutboxTest, test::Callers, test::CallerNames);

TYPED_TEST(OutboxTest, AMessageIsStoredWithTheTransaction) {
  const Result<Enqueued> sent = this->enqueue_and_commit({.destination = "mail",
                                                          .payload = "hello",
                                                          .order_key = "customer-1",
                                                          .headers = {{"A", "b"}}});
  ASSERT_TRUE(sent) << sent.error().to_string();
  EXPECT_FALSE(sent->duplicate);
  EXPECT_EQ(this->select("destination"), "mail");
  EXPECT_EQ(this->select(test::hex_of<TypeParam>("payload")), "68656C6C6F");
  EXPECT_EQ(this->select(test::hex_of<TypeParam>("order_key")), "637573746F6D65722D31");
  EXPECT_EQ(this->select(test::hex_of<TypeParam>("headers")), "01410162");
}

TYPED_TEST(OutboxTest, AMessageOfARolledBackTransactionIsNotStored) {
  {
    typename TypeParam::Transaction tx = this->session_.begin().value();
    ASSERT_TRUE(outbox(tx).enqueue({.destination = "mail", .key = "k"}));
  }
  EXPECT_EQ(this->messages(), 0);
  EXPECT_FALSE(this->enqueue_and_commit({.destination = "mail", .key = "k"})->duplicate);
}

TYPED_TEST(OutboxTest, AMessageOfFailedWorkIsRolledBackWithIt) {
  typename TypeParam::Transaction tx = this->session_.begin().value();
  EXPECT_FALSE(once(tx, {"s", "a"}, [](auto& t) -> Result<void> {
    EXPECT_TRUE(outbox(t).enqueue({.destination = "mail", .key = "k", .payload = "p"}));
    return Error(Code::work_failed, "no");
  }));
  ASSERT_TRUE(tx.commit());
  EXPECT_EQ(this->messages(), 0);
  EXPECT_FALSE(
      this->enqueue_and_commit({.destination = "mail", .key = "k", .payload = "p"})->duplicate);
}

TYPED_TEST(OutboxTest, ARepeatedKeyIsADuplicateWithTheFirstId) {
  const Message message{.destination = "mail", .key = "k", .payload = "p"};
  const MessageId first = this->enqueue_and_commit(message)->message;
  const Result<Enqueued> second = this->enqueue_and_commit(message);
  EXPECT_TRUE(second->duplicate);
  EXPECT_EQ(second->message, first);
  EXPECT_EQ(this->messages(), 1);
}

TYPED_TEST(OutboxTest, TheSameKeyForAnotherDestinationIsAnotherMessage) {
  EXPECT_FALSE(this->enqueue_and_commit({.destination = "mail", .key = "k"})->duplicate);
  EXPECT_FALSE(this->enqueue_and_commit({.destination = "sms", .key = "k"})->duplicate);
}

TYPED_TEST(OutboxTest, MessagesWithoutAKeyAreNeverDuplicates) {
  EXPECT_FALSE(this->enqueue_and_commit({.destination = "mail", .payload = "p"})->duplicate);
  EXPECT_FALSE(this->enqueue_and_commit({.destination = "mail", .payload = "p"})->duplicate);
  EXPECT_EQ(this->messages(), 2);
}

TYPED_TEST(OutboxTest, AKeyReusedForOtherContentIsRefusedAndChangesNothing) {
  const Message message{.destination = "mail", .key = "k", .payload = "p"};
  ASSERT_TRUE(this->enqueue_and_commit(message));
  for (const Message& other :
       {Message{.destination = "mail", .key = "k", .payload = "q"},
        Message{.destination = "mail", .key = "k", .payload = "p", .headers = {{"A", "b"}}},
        Message{.destination = "mail", .key = "k", .payload = "p", .order_key = "o"}}) {
    const Result<Enqueued> refused = this->enqueue_and_commit(other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::key_reused);
  }
  EXPECT_EQ(this->messages(), 1);
  EXPECT_TRUE(this->enqueue_and_commit(message)->duplicate);
}

TYPED_TEST(OutboxTest, AKeyExpiresAfterThirtyDays) {
  ASSERT_TRUE(this->enqueue_and_commit({.destination = "mail", .key = "k", .payload = "p"}));
  this->clock_.advance(30 * days);
  EXPECT_FALSE(
      this->enqueue_and_commit({.destination = "mail", .key = "k", .payload = "q"})->duplicate);
}

TYPED_TEST(OutboxTest, AKeyIsNotAnIdOfOnce) {
  ASSERT_TRUE(this->enqueue_and_commit({.destination = "mail", .key = "k"}));
  typename TypeParam::Transaction tx = this->session_.begin().value();
  EXPECT_FALSE(once(tx, {"mail", "k"}, [](auto&) {})->duplicate);
}

TYPED_TEST(OutboxTest, PayloadsAndKeysMayBeAnyBytes) {
  const std::string bytes = "\0\xff\xfe\0"s;
  const Message message{.destination = "mail", .key = bytes, .payload = bytes, .order_key = bytes};
  ASSERT_TRUE(this->enqueue_and_commit(message));
  EXPECT_TRUE(this->enqueue_and_commit(message)->duplicate);
  for (const char* column : {"key", "payload", "order_key"}) {
    EXPECT_EQ(this->select(test::hex_of<TypeParam>(column)), "00FFFE00");
  }
  ASSERT_TRUE(this->enqueue_and_commit({.destination = "mail", .payload = ""}));
  EXPECT_EQ(this->select("payload IS NOT NULL AND length(payload) = 0", "key IS NULL")[0],
            this->caller_.text("SELECT 1 = 1")[0]);
}

TYPED_TEST(OutboxTest, OversizedInputIsRejectedBeforeAnyWrite) {
  const std::string long_name(kMaxDestination + 1, 'd');
  const std::string long_key(kMaxId + 1, 'k');
  const std::string long_payload(kMaxPayload + 1, 'p');
  const std::string long_value(kMaxHeaderBytes, 'v');
  for (const Message& message : {Message{.destination = ""}, Message{.destination = long_name},
                                 Message{.destination = "d", .key = long_key},
                                 Message{.destination = "d", .payload = long_payload},
                                 Message{.destination = "d", .order_key = long_key},
                                 Message{.destination = "d", .headers = {{"n", long_value}}}}) {
    const Result<Enqueued> refused = this->enqueue_and_commit(message);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::invalid_argument);
  }
  EXPECT_EQ(this->messages(), 0);
}

TYPED_TEST(OutboxTest, EnqueueOutsideATransactionIsAnErrorAtOnce) {
  typename TypeParam::Transaction tx = this->session_.begin().value();
  tx.rollback();
  const Result<Enqueued> refused = outbox(tx).enqueue({.destination = "mail"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::not_in_transaction);
}

}  // namespace
}  // namespace hapax
