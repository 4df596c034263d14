// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/senders.hpp"
#include "support/eventually.hpp"
#include "support/sanitizer.hpp"
#include "support/sqlite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>

// Operator actions on a server under load.
namespace hapax::test {

namespace {

constexpr int kSenders = 8;

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Invalid files, as may be found in the middle of an edit.
std::string broken(const std::string& good, int kind) {
  switch (kind % 3) {
    case 0:
      return good.substr(0, good.find("[[destination]]"));  // the source needs it
    case 1:
      return good + "\n[[source]]\nname = \"demo\"\n";
    default:
      return good + "\nnonsense";
  }
}

// A valid file with an additional source, so that it differs from the previous one.
std::string changed(const std::string& good, int round) {
  return good + "\n[[source]]\nname = \"more-" + std::to_string(round % 3) +
         "\"\npreset = \"standard-webhooks\"\nsecrets = [\"" + kDemoSecret + "\"]\n";
}

}  // namespace

TEST(OperationsTest, ReloadsUnderLoadFailNoRequest) {
  const std::string good = demo_config("sqlite:hapax.db");
  Serve serve(good);
  Senders senders(serve, kSenders);
  const int count = std::max(10, rounds(100));
  std::size_t reloaded = 0;
  std::size_t refused = 0;
  for (int i = 0; i < count; ++i) {
    const bool is_good = i % 2 == 0;
    serve.write_config(is_good ? changed(good, i) : broken(good, i / 2));
    serve.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return times(serve.log(), "reloaded") > reloaded + refused; }));
    const std::string log = serve.log();
    refused = times(log, "not reloaded");
    reloaded = times(log, "reloaded") - refused;
    ASSERT_TRUE(senders.wait_for_acknowledgements(1)) << i;
  }
  const Senders::Counts counts = senders.counts();
  EXPECT_EQ(counts.refused, 0U);
  EXPECT_EQ(counts.broken, 0U);
  EXPECT_EQ(reloaded, static_cast<std::size_t>((count + 1) / 2));
  senders.stop();
  StoreView view("sqlite:" + serve.file("hapax.db"));
  senders.expect_all_in(view);
  std::cout << "  " << reloaded << " reloaded, " << refused << " rejected\n";
}

// Every accepted request is answered: the store has no event without an acknowledgement.
TEST(OperationsTest, AStopUnderLoadAnswersEverythingThatWasAccepted) {
  for (int round = 0; round < std::max(3, rounds(30)); ++round) {
    Serve serve(demo_config("sqlite:hapax.db"));
    Senders senders(serve, 32);
    ASSERT_TRUE(senders.wait_for_acknowledgements(1 + static_cast<std::size_t>(round) % 5));
    EXPECT_EQ(serve.stop(), 0) << serve.log();
    senders.stop();
    StoreView view("sqlite:" + serve.file("hapax.db"));
    senders.expect_all_in(view);
    EXPECT_EQ(view.bodies().size(), senders.counts().acknowledged)
        << "an event was stored without an acknowledgement";
  }
}

// The lock holds for every name of the file.
TEST(OperationsTest, AFileIsServedByOneServer) {
  Serve serve(demo_config("sqlite:hapax.db"));
  std::filesystem::create_symlink("hapax.db", serve.file("symbolic.db"));
  std::filesystem::create_hard_link(serve.file("hapax.db"), serve.file("hard.db"));
  for (const char* name : {"hapax.db", "symbolic.db", "hard.db"}) {
    SCOPED_TRACE(name);
    std::ofstream(serve.file("second.toml")) << demo_config("sqlite:" + std::string(name));
    const std::string command = std::string(HAPAX_BINARY) + " serve -c " +
                                serve.file("second.toml") + " > " + serve.file("second.log") +
                                " 2>&1";
    EXPECT_NE(std::system(command.c_str()), 0);
    std::ifstream log(serve.file("second.log"));
    const std::string text{std::istreambuf_iterator<char>(log), {}};
    EXPECT_NE(text.find("another hapax serve uses this database"), std::string::npos) << text;
    expect_no_report(text);
  }
  RawClient client(serve.port());
  EXPECT_EQ(serve.post(client, "still", "{}").status, 200);
}

// Sets the fault state that the store records if the claim index contradicts the claim log.
TEST(OperationsTest, DoubleClaimsAreCountedAndLogged) {
  Serve serve(demo_config("sqlite:hapax.db"));
  EXPECT_NE(serve.ask("/metrics").body.find("hapax_store_double_claims_total 0"),
            std::string::npos);
  {
    const CallersDatabase db(serve.file("hapax.db"));
    db.run("PRAGMA busy_timeout=60000");
    db.run("UPDATE hapax_claim_fault SET doubled = 2, event = 11, other = 10");
  }
  EXPECT_TRUE(eventually([&] {
    return serve.ask("/metrics").body.find("hapax_store_double_claims_total 2") !=
           std::string::npos;
  })) << serve.ask("/metrics").body;
  const std::string log = serve.log();
  EXPECT_EQ(times(log, "event ids claimed twice"), 1U) << log;
}

}  // namespace hapax::test
