// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"

// Operations that search many rows for a few split the work into statements that finish in time.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

constexpr int kOthers = 4500;  // more rows than two statements examine

class InboxStepsTest : public testing::Test {
 protected:
  // One event behind many others.
  InboxStepsTest() {
    std::vector<Post> posts;
    for (int i = 0; i < kOthers; ++i) posts.push_back({"other-" + std::to_string(i)});
    EXPECT_EQ(node_.admit(posts), kOthers);
    EXPECT_EQ(node_.admit(std::array{Post{"last"}}), 1);
  }

  PostgresDatabase database_;
  InboxNode node_{database_.url(), 1};
  Witness witness_{database_.connect()};
};

TEST_F(InboxStepsTest, AReplayContinuesPastEmptySteps) {
  store::ReplayStep step{.dry = true};
  step.filter.id = "last";
  int empty = 0;
  store::Replaying came = node_.driver().queue->replay_step(step).value();
  for (; came.events == 0 && !came.done && empty < 10; ++empty) {
    EXPECT_GT(came.after, step.after);
    step.after = came.after;
    came = node_.driver().queue->replay_step(step).value();
  }
  EXPECT_EQ(empty, 2);
  EXPECT_EQ(came.events, 1U);
  EXPECT_TRUE(came.done);
}

TEST_F(InboxStepsTest, LeasesOfADeadHolderAreFoundBehindManyOthers) {
  const auto held = [&] {
    return witness_.number("SELECT count(*) FROM hapax.queue WHERE holder = 7");
  };
  witness_.text(
      "UPDATE hapax.queue SET holder_kind = 0, holder = 7, due_at = now() + interval '1 hour'"
      " WHERE event IN (SELECT min(event) FROM hapax.queue UNION SELECT max(event) FROM "
      "hapax.queue)");
  const store::ReleaseStep one{.kind = Holder::Kind::push, .owner = 7, .limit = 1};
  EXPECT_EQ(node_.driver().queue->release_holder(one).value().deliveries, 1U);
  EXPECT_EQ(held(), 1);
  const store::Released rest =
      node_.driver().queue->release_holder({.kind = Holder::Kind::push, .owner = 7}).value();
  EXPECT_EQ(rest.deliveries, 1U);
  EXPECT_TRUE(rest.done);
  EXPECT_EQ(held(), 0);
}

}  // namespace
}  // namespace hapax::test
