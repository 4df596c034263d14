// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/runner.hpp"

#include "base/try.hpp"
#include "env/pause.hpp"
#include "store/postgres/errors.hpp"
#include "store/postgres/schema.hpp"
#include "store/postgres/statements.hpp"

#include <algorithm>
#include <array>

namespace hapax::store::postgres {

namespace {

constexpr int kTriesMax = 16;
constexpr int kTimeoutsMax = 3;
// A conflict ends when one of the transactions is alone for a moment. If every transaction is
// serializable, two that read the same pages of an index are already in conflict.
constexpr int kConflictsMax = 200;

}  // namespace

Result<void> Runner::start(const OpenOptions& options) {
  HAPAX_TRY_ASSIGN(connection, pool_.take(io_clock_->since_boot(), Pool::Wait::briefly));
  ConnectionExecutor executor(connection, *io_clock_, timeout_);
  if (options.migrate) {
    HAPAX_TRY(migrate(executor));
  } else {
    HAPAX_TRY(check_schema(executor));
  }
  if (options.needs.has(Capability::inbox)) HAPAX_TRY(check_owner(executor));
  // A conflict with another node is harmless: functions that draw a fence check the epoch again.
  const Result<QueryResult> compared = executor.run(kCheckEpoch, "compare the epoch of fences");
  if (!compared && !is_passing(compared.error())) return compared.error();
  pool_.first_run(kCheckEpoch);
  pool_.release(std::move(connection));
  return {};
}

Result<QueryResult> Runner::run(const char* sql, const Parameters& parameters,
                                std::string_view doing, Form form, Lost lost, Patience patience,
                                const std::function<Parameters(int losses)>& repeated) {
  const BootTime began = io_clock_->since_boot();
  std::optional<Error> unknown;
  std::optional<Parameters> others;
  int losses = 0;
  int conflicts = 0;
  for (int tries = 1;;) {
    // An unknown outcome is worth a wait; a statement that did not happen is reported at once.
    const Pool::Wait wait = unknown ? Pool::Wait::patiently : Pool::Wait::briefly;
    Result<QueryResult> answer =
        try_once(sql, others ? *others : parameters, doing, form, patience, wait);
    if (answer) return answer;
    if (answer.error().outcome() == Outcome::unknown) {
      if (lost == Lost::report) return answer;
      unknown = answer.error();
      if (repeated) others = repeated(++losses);
    }
    const bool conflict = answer.error().code() == Code::store_busy;
    // A server that is away will not resolve the outcome soon.
    const BootTime last = began + (pool_.is_away() ? 1 : kTimeoutsMax) * timeout_;
    const bool in_time = tries < kTriesMax && conflicts < kConflictsMax && since_boot() < last;
    const bool hopeless = !unknown && pool_.is_away();
    if (in_time && !hopeless && is_passing(answer.error())) {
      ++(conflict ? conflicts : tries);
      if (conflict) step_back(conflicts);
      continue;
    }
    if (!unknown) return answer;
    if (is_passing(answer.error())) return std::move(*unknown);
    // The error says nothing about the lost statement, so the outcome stays unknown.
    return Error(answer.error().code(), Outcome::unknown, answer.error().detail());
  }
}

// No pause after the first conflict; then a random one, with a limit that doubles up to 64 ms.
void Runner::step_back(int conflicts) {
  if (conflicts < 2) return;
  std::array<unsigned char, 1> chance{};
  random_.fill(chance);
  pause(std::chrono::milliseconds(chance[0] % (1 << std::min(conflicts, 6))));
}

Result<QueryResult> Runner::try_once(const char* sql, const Parameters& parameters,
                                     std::string_view doing, Form form, Patience patience,
                                     Pool::Wait wait) {
  HAPAX_TRY_ASSIGN(connection, pool_.take(io_clock_->since_boot() + timeout_, wait));
  // The deadline starts here: a statement that is sent must get its full time.
  const BootTime deadline = io_clock_->since_boot() + timeout_;
  Result<QueryResult> answer =
      patience == Patience::in_statement
          ? connection.run(sql, parameters, deadline, doing, form)
          : connection.transact(sql, parameters, deadline, patience_ms(), doing, form);
  // The connection to a server that became read-only is dropped, so that the next one may find the
  // primary.
  const bool keep = answer || answer.error().code() != Code::store_read_only;
  if (keep) pool_.release(std::move(connection));
  return answer;
}

std::optional<std::int64_t> Runner::moment() const {
  if (given_clock_ == nullptr) return std::nullopt;
  return given_clock_->wall().time_since_epoch().count();
}

std::int64_t Runner::patience_ms() const {
  return std::max<std::int64_t>(1, timeout_.count() * 8 / 10'000);
}

// The last repeat starts within kTimeoutsMax timeouts, then gets a connection and an answer within
// one each.
std::int64_t Runner::longest_ms() const {
  return timeout_.count() / 1000 * (kTimeoutsMax + 2);
}

}  // namespace hapax::store::postgres
