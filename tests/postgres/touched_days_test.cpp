// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"

#include <map>

// Events and attempts are partitioned by day. An operation on a few events must open only their
// days, however many days exist. The test counts the locks of a transaction, because a plan over
// all partitions locks each of them, whether it is read or not.
namespace hapax::test {
namespace {

using store::Leased;

constexpr int kDays = 60;
constexpr int kCalls = 8;  // PostgreSQL may switch to a generic plan after five

struct Call {
  const char* name;
  const char*
      sql;  // placeholders: EVENT, its KEY, a lease's DELIVERY and FENCE, NEW: a free number
};

constexpr Call kCallsOfTheInbox[] = {
    {"AdmitWithADuplicate",
     "SELECT * FROM hapax._admit(ARRAY[NEW, NEW + 1], ARRAY[KEY, '\\xff']::bytea[], ARRAY[1, 1],"
     " ARRAY['', '']::bytea[], ARRAY['a', 'zz']::bytea[], ARRAY['', '']::bytea[],"
     " ARRAY['', '']::bytea[], ARRAY[NULL, NULL]::bigint[], ARRAY['x', 'x']::bytea[],"
     " ARRAY['', '']::bytea[], ARRAY['', '']::bytea[], ARRAY[1000, 1000], ARRAY[0, 0],"
     " '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', NULL)"},
    {"AdmitWithoutAKey",
     "SELECT * FROM hapax._admit(ARRAY[NEW], ARRAY['']::bytea[], ARRAY[1],"
     " ARRAY['']::bytea[], ARRAY['a']::bytea[], ARRAY['']::bytea[],"
     " ARRAY['']::bytea[], ARRAY[NULL]::bigint[], ARRAY['x']::bytea[],"
     " ARRAY['']::bytea[], ARRAY['']::bytea[], ARRAY[1000], ARRAY[0],"
     " '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', NULL)"},
    {"Lease",
     "SELECT * FROM hapax._lease_once(ARRAY[DESTINATION], ARRAY[10], ARRAY[1000], ARRAY[0],"
     " ARRAY[1], ARRAY[0], ARRAY[0], ARRAY[0], ARRAY[0], 64, 16000000, NULL, 7, NULL)"},
    {"LeaseByAnOlderNode",
     "SELECT * FROM hapax._lease(ARRAY[DESTINATION], ARRAY[10], ARRAY[1000], ARRAY[0],"
     " ARRAY[1], ARRAY[0], ARRAY[0], ARRAY[0], ARRAY[0], 64, 16000000, NULL)"},
    {"Settle",
     "SELECT hapax._settle(ARRAY[EVENT], ARRAY[DELIVERY], ARRAY[FENCE], ARRAY[0], ARRAY[0],"
     " ARRAY[0], ARRAY[0], ARRAY[0], ARRAY[0], ARRAY[0], ARRAY['']::bytea[],"
     " ARRAY['']::bytea[], 64, NULL)"},
    {"StaleSettle",
     "SELECT hapax._settle(ARRAY[EVENT], ARRAY[DELIVERY], ARRAY[1], ARRAY[0], ARRAY[0],"
     " ARRAY[0], ARRAY[0], ARRAY[0], ARRAY[0], ARRAY[0], ARRAY['']::bytea[],"
     " ARRAY['']::bytea[], 64, NULL)"},
    {"NoteDuplicates",
     "SELECT hapax._note_duplicates(ARRAY[EVENT], ARRAY[1], ARRAY[1], ARRAY['y']::bytea[],"
     " ARRAY[0], ARRAY['']::bytea[], 16)"},
    {"Status", "SELECT hapax._status(EVENT, now())"},
    {"MayGo", "SELECT hapax._may_go(ARRAY[EVENT], ARRAY[1], ARRAY[1000], ARRAY[1000], now())"},
    {"Cancel", "SELECT hapax._cancel(EVENT, DELIVERY, 64, NULL)"},
    {"Replay", "SELECT * FROM hapax._replay(EVENT, NULL, true, NULL, true, 0, 64, NULL)"},
};

void PrintTo(const Call& call, std::ostream* out) {
  *out << call.name;
}

class TouchedDaysTest : public testing::TestWithParam<Call> {
 protected:
  TouchedDaysTest() {
    for (const char* id : {"a", "b", "c"}) node_.admit(std::vector<Post>{{id}});
    leased_ = node_.lease(1);
    witness_.text("SELECT hapax._need_days(ARRAY(SELECT (" +
                  number(leased_.front().event.no.value()) +
                  " >> 22) / 86400000 - d FROM generate_series(0, " + number(kDays) + ") AS d))");
  }

  static std::string number(std::int64_t value) { return std::to_string(value); }

  std::string filled(std::string sql) const {
    const Leased& lease = leased_.front();
    const std::string event = number(lease.event.no.value()) + "::bigint";
    const std::map<std::string, std::string> values{
        {"EVENT", event},
        {"KEY", "'" + witness_.text("SELECT key FROM hapax.claim WHERE event = " + event) + "'"},
        {"DELIVERY", number(lease.delivery.value()) + "::bigint"},
        {"FENCE", number(lease.fence.value()) + "::bigint"},
        {"NEW", event + " + 1000"},
        {"DESTINATION", number(node_.destination().value()) + "::bigint"}};
    for (const auto& [name, value] : values) {
      for (std::size_t at = sql.find(name); at != std::string::npos; at = sql.find(name)) {
        sql.replace(at, name.size(), value);
      }
    }
    return sql;
  }

  // Returns the number of partitions that a call locks once its plans are cached.
  int touched(const std::string& sql) const {
    for (int i = 0; i < kCalls; ++i) {
      witness_.text("BEGIN");
      witness_.text(sql);
      witness_.text("ROLLBACK");
    }
    witness_.text("BEGIN");
    witness_.text(sql);
    const int partitions = witness_.number(
        "SELECT count(*) FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation"
        " WHERE l.pid = pg_backend_pid() AND c.relispartition AND c.relkind = 'r'");
    witness_.text("ROLLBACK");
    return partitions;
  }

  PostgresDatabase database_;
  InboxNode node_{database_.url(), 1};
  Witness witness_{database_.connect()};
  std::vector<Leased> leased_;
};

// One day of events, and one of attempts.
TEST_P(TouchedDaysTest, AreOnlyTheDaysOfTheEvents) {
  EXPECT_LE(touched(filled(GetParam().sql)), 2);
}

INSTANTIATE_TEST_SUITE_P(By, TouchedDaysTest, testing::ValuesIn(kCallsOfTheInbox),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hapax::test
