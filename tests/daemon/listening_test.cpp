// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/listening.hpp"

#include "maintenance/faulty_store.hpp"
#include "store/memory/driver.hpp"
#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hapax::daemon {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class ListeningTest : public testing::Test {
 protected:
  void write(const std::string& name) {
    ASSERT_TRUE(driver_.node->put_record({"listen/" + name, 7, "of a newer version"}, 0).value());
  }
  // A new view, as after a reload.
  void drop_old() { listening_.drop_old(std::make_shared<const admin::ConfigView>()); }
  test::LinesLog::Lines logged() { return log_.of("listener not readable by this version"); }

  test::ManualClock clock_;
  test::SeededRandom random_{3};
  store::Driver driver_ = store::memory::make_driver(100, clock_);
  test::LinesLog log_;
  deliver::Listeners listeners_{*driver_.catalog, *driver_.node, clock_, random_, [] {}};
  Listening listening_{listeners_, *driver_.catalog, clock_, log_};
};

TEST_F(ListeningTest, AnUnreadableRegistrationIsLoggedOnce) {
  drop_old();
  EXPECT_THAT(logged(), IsEmpty());
  write("laptop");
  drop_old();
  drop_old();
  EXPECT_THAT(logged(), ElementsAre(Contains(Pair("name", "laptop"))));
  write("other");
  drop_old();
  EXPECT_THAT(logged(),
              ElementsAre(Contains(Pair("name", "laptop")), Contains(Pair("name", "other"))));
}

}  // namespace
}  // namespace hapax::daemon
