// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/senders.hpp"
#include "postgres/server.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <iostream>

// PostgreSQL fails while a real server is under load: 503 meanwhile, automatic recovery, no loss
// and no repetition of acknowledged events. Durations are printed, not asserted.
namespace hapax::test {

namespace {

constexpr int kSenders = 8;

class Stopwatch {
 public:
  BootTime passed() const { return clock_->since_boot() - start_; }
  std::string text() const {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(passed()).count()) +
           " ms";
  }

 private:
  std::unique_ptr<Clock> clock_ = make_system_clock();
  BootTime start_ = clock_->since_boot();
};

// Waits until all senders got 503 and the outage has lasted for `length`.
void wait_for_outage(Senders& senders, const Stopwatch& since, std::chrono::seconds length) {
  ASSERT_TRUE(senders.wait_for_refusals()) << "no 503 during the outage";
  std::cout << "  all senders got 503 " << since.text() << " after the failure\n";
  // Here the duration matters: a long outage differs from a short one.
  EXPECT_TRUE(
      eventually([&] { return since.passed() >= length; }, length + std::chrono::minutes(1)));
}

void expect_recovery(Senders& senders) {
  const Stopwatch since;
  ASSERT_TRUE(senders.wait_for_acknowledgements(1)) << "not recovered";
  std::cout << "  all senders acknowledged " << since.text() << " after recovery\n";
}

// Uses the default timeout of the store, which is under test.
std::string outage_config(const std::string& store_url) {
  return demo_config(store_url, kGenerousServer, "");
}

std::string both(const PostgresServer& first, const PostgresServer& second) {
  return "postgres://hapax@/postgres?host=" + first.directory() + "," + second.directory() +
         "&target_session_attrs=read-write";
}

}  // namespace

TEST(PostgresOutageTest, AStoppedServer) {
  PostgresServer postgres;
  Serve serve(outage_config(postgres.url()));
  Senders senders(serve, kSenders);
  ASSERT_TRUE(senders.wait_for_acknowledgements(20));
  const Stopwatch since;
  postgres.stop(PostgresServer::Stop::fast);
  wait_for_outage(senders, since, std::chrono::seconds(rounds(10)));
  postgres.start();
  expect_recovery(senders);
  senders.stop();
  StoreView view(postgres.url());
  senders.expect_all_in(view);
  EXPECT_EQ(serve.stop(), 0);
}

TEST(PostgresOutageTest, ARepeatedlyRestartedServer) {
  PostgresServer postgres;
  Serve serve(outage_config(postgres.url()));
  Senders senders(serve, kSenders);
  const int count = std::max(3, rounds(20));
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(senders.wait_for_acknowledgements(10)) << "before " << i + 1;
    postgres.restart(i % 3 == 0   ? PostgresServer::Stop::fast
                     : i % 3 == 1 ? PostgresServer::Stop::immediate
                                  : PostgresServer::Stop::kill);
    expect_recovery(senders);
  }
  senders.stop();
  StoreView view(postgres.url());
  senders.expect_all_in(view);
}

TEST(PostgresOutageTest, AFailoverToASynchronousStandby) {
  PostgresServer primary;
  PostgresServer standby(PostgresServer::StandbyOf{primary});
  primary.set("synchronous_standby_names", "*");
  const PgHandle asked = primary.connect();
  const std::string in_sync = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
  ASSERT_TRUE(eventually([&] { return ask(asked.get(), in_sync) == "1"; }));
  const std::string url = both(primary, standby);
  Serve serve(outage_config(url));
  Senders senders(serve, kSenders);
  ASSERT_TRUE(senders.wait_for_acknowledgements(20));
  const Stopwatch since;
  primary.stop(PostgresServer::Stop::kill);
  wait_for_outage(senders, since, std::chrono::seconds(1));
  standby.promote();
  expect_recovery(senders);
  senders.stop();
  StoreView view(url);
  senders.expect_all_in(view);
}

}  // namespace hapax::test
