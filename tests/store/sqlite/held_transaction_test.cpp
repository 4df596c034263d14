// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/driver.hpp"
#include "support/sqlite.hpp"

#include <gtest/gtest.h>

#include <hapax/outbox.hpp>

// Another writer holds a transaction open on the same file. SQLite has a single writer: the store
// waits for its busy_timeout, reports did_not_happen, and loses nothing.
namespace hapax::store::sqlite {
namespace {

class HeldTransaction : public testing::Test {
 protected:
  Moved move(std::vector<EventNo> numbers) { return store_.queue->move_messages(numbers).value(); }

  test::TempDir directory_;
  test::ManualClock clock_;
  Driver store_ = open_driver(directory_.file("app.db"),
                              {.busy_timeout = std::chrono::milliseconds(20)}, clock_)
                      .value();
  test::CallersDatabase caller_{directory_.file("app.db")};
  SqliteSession session_ = SqliteSession::attach(caller_.get(), {.clock = &clock_}).value();
};

TEST_F(HeldTransaction, IsNotForwardedBeforeItsCommitAndNotLostAfterIt) {
  ASSERT_TRUE(store_.queue->enqueue(MessageId{{1}}, {.destination = "mail", .payload = "early"}));
  SqliteTransaction late = session_.begin().value();
  ASSERT_TRUE(outbox(late).enqueue({.destination = "mail", .payload = "late"}));
  const EventNo number(10);
  const Result<Moved> blocked = store_.queue->move_messages(std::span(&number, 1));
  ASSERT_FALSE(blocked);
  EXPECT_EQ(blocked.error().code(), Code::store_busy);
  EXPECT_EQ(blocked.error().outcome(), Outcome::did_not_happen);
  EXPECT_EQ(store_.catalog->event(number).value().presence, Presence::absent);
  ASSERT_TRUE(late.commit());
  const Moved first = move({number});
  EXPECT_EQ(first.messages, 1U);
  EXPECT_TRUE(first.more);
  EXPECT_EQ(move({EventNo(11), EventNo(12)}).messages, 1U);
  EXPECT_EQ(store_.catalog->body(EventNo(10), BodyOf::event).value().value, "early");
  EXPECT_EQ(store_.catalog->body(EventNo(11), BodyOf::event).value().value, "late");
}

TEST_F(HeldTransaction, ThatIsRolledBackLeavesNothing) {
  {
    SqliteTransaction late = session_.begin().value();
    ASSERT_TRUE(outbox(late).enqueue({.destination = "mail", .payload = "late"}));
    EXPECT_FALSE(store_.queue->enqueue(MessageId{{1}}, {.destination = "mail", .payload = "x"}));
  }
  EXPECT_EQ(move({EventNo(10)}).messages, 0U);
}

}  // namespace
}  // namespace hapax::store::sqlite
