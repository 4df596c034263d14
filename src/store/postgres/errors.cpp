// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/errors.hpp"

#include <array>

namespace hapax::store::postgres {

namespace {

struct Meaning {
  std::string_view state;  // a SQLSTATE, or a prefix
  Code code;
  std::string_view remedy;
};

constexpr int kOldestServer = 140000;

constexpr std::string_view kRunAgain = "run the transaction again";
constexpr std::string_view kRunMigrate =
    "run hapax migrate with a user that may create the schema hapax";

constexpr std::string_view kCancelled =
    "the server's statement_timeout is too short, or the statement was cancelled; raise it "
    "and run the transaction again";

// The first matching row decides.
constexpr std::array kMeanings{
    Meaning{"40001", Code::store_busy, kRunAgain},
    Meaning{"40P01", Code::store_busy, kRunAgain},
    Meaning{"55P03", Code::store_busy,
            "another transaction holds the id and has not ended; run the transaction again"},
    Meaning{"57014", Code::store_busy, kCancelled},
    Meaning{"25006", Code::store_read_only,
            "this server is a standby or read-only; name the primary, or several hosts with "
            "target_session_attrs=read-write"},
    Meaning{"25P", Code::not_in_transaction,
            "the transaction has failed before; roll it back and begin a new one"},
    Meaning{"28", Code::misconfigured, "check the user, the password and pg_hba.conf"},
    Meaning{"3D000", Code::misconfigured, "create the database first, or correct its name"},
    Meaning{"3F000", Code::misconfigured, kRunMigrate},
    Meaning{"42501", Code::misconfigured,
            "grant this user the right to it, or run hapax migrate as the owner"},
    Meaning{"42P01", Code::misconfigured, kRunMigrate},
    Meaning{"42883", Code::misconfigured, kRunMigrate},
    Meaning{"53300", Code::store_unavailable,
            "the server has no connection left; raise max_connections, lower the pool, or put "
            "pgbouncer in front of it"},
    Meaning{"53100", Code::store_full, "free some disk space on the server"},
    Meaning{"53", Code::store_unavailable, "the server is short of resources; see its log"},
    Meaning{"22", Code::invalid_argument, "names are UTF-8 text without NUL"},
    Meaning{"HX003", Code::not_in_transaction, "begin a new one"},
    Meaning{"HX005", Code::key_reused, "use another key for another message"},
    Meaning{"HX006", Code::invalid_argument, "see the limits in hapax/store.hpp"},
    Meaning{"XX001", Code::store_corrupt, "see the server's log; restore from a backup"},
    Meaning{"XX002", Code::store_corrupt,
            "see the server's log; REINDEX, or restore from a backup"},
    Meaning{"23", Code::work_failed, "a constraint of the database was violated"},
    Meaning{"P0", Code::work_failed, "a function or trigger of the database refused it"},
    Meaning{"42", Code::misconfigured, "the schema hapax is damaged, or not hapax's own"},
};

constexpr Meaning kSilent{"", Code::store_unavailable,
                          "check that the server is running and reachable"};
constexpr Meaning kOther{"", Code::store_unavailable, "see the server's log"};

const Meaning& meaning_of(std::string_view state) {
  for (const Meaning& each : kMeanings) {
    if (state.starts_with(each.state)) return each;
  }
  return state.empty() || state.starts_with("08") ? kSilent : kOther;
}

}  // namespace

std::string one_line(std::string_view message) {
  std::string line;
  for (const char each : message) line += each == '\n' || each == '\t' ? ' ' : each;
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

Error error_of(std::string_view state, std::string_view message, std::string_view doing) {
  const Meaning& meaning = meaning_of(state);
  std::string detail = "PostgreSQL: cannot ";
  detail += doing;
  detail += ": " + one_line(message) + "; ";
  detail += meaning.remedy;
  return Error(meaning.code, std::move(detail));
}

Result<void> refuse_old_server(int version) {
  if (version >= kOldestServer) return {};
  return Error(Code::misconfigured, "the PostgreSQL server has version " +
                                        std::to_string(version / 10000) +
                                        "; hapax needs 14 or newer");
}

Error answer_lost(std::string_view why) {
  return Error(Code::outcome_unknown,
               "PostgreSQL received the statement but its answer was lost: " + one_line(why) +
                   "; the outcome is unknown, repeat the request with the same token");
}

bool is_passing(const Error& error) {
  return error.outcome() == Outcome::unknown || error.code() == Code::store_busy ||
         error.code() == Code::store_unavailable || error.code() == Code::store_read_only;
}

bool is_cancelled(const Error& error) {
  return error.code() == Code::store_busy && error.detail().ends_with(kCancelled);
}

bool is_refused(const Error& error) {
  return error.code() == Code::work_failed;
}

}  // namespace hapax::store::postgres
