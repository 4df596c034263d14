// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/running_server.hpp"
#include "model/ids.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <boost/json.hpp>

#include <filesystem>
#include <fstream>

// `hapax doctor`, and the checks of the store in `hapax check`.
namespace hapax::test {

namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSources =
    "[[source]]\nname = 'demo'\npreset = 'standard-webhooks'\n"
    "secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_bmV2ZXIgdXNlZCBieSBhbnlib2R5']\n"
    "deliver_to = ['work']\n[[destination]]\nname = 'work'\nkind = 'pull'\n";

// The findings of a check, one line each: "level: text".
std::string diagnostics(const Ran& ran, const std::string& check) {
  std::string text;
  const json::value whole = json::parse(ran.out);
  for (const json::value& each : whole.at("findings").as_array()) {
    if (json::value_to<std::string>(each.at("check")) != check) continue;
    text += json::value_to<std::string>(each.at("level")) + ": " +
            json::value_to<std::string>(each.at("text")) + "\n";
  }
  return text;
}

void change_store(const TempDir& directory, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(directory.file("hapax.db").c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  sqlite3_close(db);
}

class DoctorCliTest : public testing::Test {
 protected:
  Ran doctor(const std::string& more = "") {
    return run_hapax(served_.directory(), "doctor --json --admin " + served_.admin() + " " + more);
  }
  void send() {
    const Ran sent = run_hapax(served_.directory(), "send --url " + served_.url("demo") +
                                                        " --preset standard-webhooks --secret "
                                                        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    ASSERT_EQ(sent.exit_code, 0) << sent.out << sent.errors;
  }

  RunningServer served_{kSources};
};

TEST_F(DoctorCliTest, ARunningServerHasNoProblems) {
  send();
  Ran ran;
  // On a busy machine the two clocks may be read five seconds apart and seem to differ.
  EXPECT_TRUE(eventually([&] {
    ran = doctor();
    return diagnostics(ran, "clock").starts_with("ok: ");
  })) << ran.out;
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.errors;
  EXPECT_THAT(diagnostics(ran, "store"), HasSubstr("ok: the store is readable; its schema has"));
  EXPECT_THAT(diagnostics(ran, "fsync"), HasSubstr("a sync in "));
  EXPECT_THAT(diagnostics(ran, "permissions"), Not(HasSubstr("problem")));
  EXPECT_THAT(diagnostics(ran, "server"), HasSubstr("ok: is running and responds"));
  EXPECT_THAT(diagnostics(ran, "silence"), HasSubstr("ok: demo last sent an event"));
  EXPECT_THAT(diagnostics(ran, "secrets"), HasSubstr("ok: secret 1 of demo was last used at 20"));
  EXPECT_THAT(
      diagnostics(ran, "secrets"),
      HasSubstr("warning: secret 2 of demo was not used since the server started; remove it"));
  EXPECT_THAT(diagnostics(ran, "names"), "");
}

TEST_F(DoctorCliTest, AStoppedServerIsInspectedThroughItsStore) {
  send();
  served_.stop();
  const Ran ran = doctor("--silent 0s");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.errors;
  EXPECT_THAT(diagnostics(ran, "store"), HasSubstr("ok: "));
  EXPECT_THAT(diagnostics(ran, "server"), HasSubstr("warning: does not respond"));
  EXPECT_THAT(diagnostics(ran, "silence"), HasSubstr("warning: demo last sent an event"));
}

TEST_F(DoctorCliTest, AClockSkewOfTheStoreIsAWarning) {
  send();
  served_.stop();
  const auto doctor_with_clock = [&](const std::string& shift_ms) {
    change_store(served_.directory(), "UPDATE hapax_clock SET store_ms = store_ms + " + shift_ms);
    const Ran ran = doctor();
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.errors;
    return diagnostics(ran, "clock");
  };
  constexpr std::int64_t kMs = 3'499'200'000;  // 40.5 days
  EXPECT_THAT(doctor_with_clock(std::to_string(-kMs)),
              HasSubstr("warning: the store's clock is 40 d behind the machine's: pauses"));
  EXPECT_THAT(doctor_with_clock(std::to_string(2 * kMs)),
              HasSubstr("warning: the store's clock is 40 d ahead of the machine's: the machine"));
}

TEST_F(DoctorCliTest, AnIdClaimedTwiceIsAProblem) {
  send();
  served_.stop();
  EXPECT_EQ(diagnostics(doctor(), "claims"), "ok: no event id was claimed twice\n");
  change_store(served_.directory(),
               "UPDATE hapax_claim_fault SET doubled = 2, event = 11, other = 10");
  const Ran ran = doctor();
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_THAT(diagnostics(ran, "claims"), HasSubstr("problem: 2 event ids were claimed twice"));
  EXPECT_THAT(diagnostics(ran, "claims"),
              HasSubstr(to_text(EventNo(11)) + " and " + to_text(EventNo(10))));
}

TEST_F(DoctorCliTest, FilesReadableByOthersAreAProblem) {
  chmod(served_.directory().file("admin.token").c_str(), 0644);
  const Ran ran = doctor();
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_THAT(diagnostics(ran, "permissions"),
              HasSubstr("problem: others can read the admin token"));
}

TEST_F(DoctorCliTest, DoctorAndCheckReportNamesMissingFromTheConfiguration) {
  send();
  served_.stop();
  const std::string file = served_.directory().file("hapax.toml");
  std::ofstream(file) << "[store]\nurl = 'sqlite:hapax.db'\n";
  const Ran doctored = doctor();
  EXPECT_EQ(doctored.exit_code, 0) << doctored.out;
  EXPECT_THAT(diagnostics(doctored, "names"), HasSubstr("warning: the store has source \"demo\""));
  EXPECT_THAT(diagnostics(doctored, "names"), HasSubstr("the store has destination \"work\""));
  const Ran checked = run_hapax(served_.directory(), "check --json");
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
  EXPECT_THAT(checked.out, HasSubstr("the store has source \\\"demo\\\""));
}

TEST(DoctorTest, InspectingCreatesNothing) {
  const TempDir directory;
  std::ofstream(directory.file("hapax.toml")) << "[store]\nurl = 'sqlite:hapax.db'\n";
  const Ran ran = run_hapax(directory, "doctor --json");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.errors;
  EXPECT_THAT(diagnostics(ran, "store"), HasSubstr("warning: no store yet"));
  EXPECT_EQ(run_hapax(directory, "check").exit_code, 0);
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(directory.path())) {
    files += each.path().filename() == "stderr" ? 0 : 1;
  }
  EXPECT_EQ(files, 1U) << "only hapax.toml";
}

TEST(DoctorTest, ATlsKeyThatOthersCanReadIsAProblem) {
  const TempDir directory;
  const std::string pem = "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n";
  std::ofstream(directory.file("cert.pem")) << pem;
  std::ofstream(directory.file("key.pem")) << pem;
  chmod(directory.file("key.pem").c_str(), 0644);
  std::ofstream(directory.file("hapax.toml"))
      << "[server]\ntls = { cert = 'cert.pem', key = 'key.pem' }\n";
  const Ran open = run_hapax(directory, "doctor --json");
  EXPECT_EQ(open.exit_code, 1) << open.out;
  EXPECT_THAT(diagnostics(open, "permissions"), HasSubstr("problem: others can read the TLS key"));
  EXPECT_THAT(diagnostics(open, "file"), HasSubstr("warning: "));
  EXPECT_THAT(run_hapax(directory, "check").out, HasSubstr("can read the private key"));
  chmod(directory.file("key.pem").c_str(), 0600);
  const Ran closed = run_hapax(directory, "doctor --json");
  EXPECT_THAT(diagnostics(closed, "permissions"), HasSubstr("ok: the TLS key"));
}

TEST(DoctorTest, AMissingFileIsAProblemAndWrongUsageIsReported) {
  const TempDir directory;
  const Ran absent = run_hapax(directory, "doctor --json");
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(diagnostics(absent, "file"), HasSubstr("problem: "));
  EXPECT_EQ(run_hapax(directory, "doctor --silent soon").exit_code, 2);
  EXPECT_EQ(run_hapax(directory, "doctor --nonsense").exit_code, 2);
}

}  // namespace

}  // namespace hapax::test
