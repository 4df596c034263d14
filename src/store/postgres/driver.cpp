// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/driver.hpp"

#include "base/try.hpp"
#include "store/group_commit.hpp"
#include "store/postgres/errors.hpp"
#include "store/postgres/pool.hpp"
#include "store/postgres/schema.hpp"
#include "store/postgres/statements.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>

namespace hapax::store::postgres {

namespace {

constexpr int kTriesMax = 16;

// What one statement for a whole group takes and gives.
struct Wishes {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> tokens;
  std::vector<std::int64_t> ttls_ms;
};

Wishes collect(const std::vector<Job*>& group) {
  Wishes wishes;
  for (const Job* job : group) {
    for (const DedupItem& item : job->batch->dedup) {
      wishes.keys.push_back(item.key);
      wishes.tokens.push_back(view(item.token));
      wishes.ttls_ms.push_back(item.ttl.count());
    }
  }
  return wishes;
}

// A digit for each wish, in their order; see hapax._claim.
void spread(std::string_view digits, const std::vector<Job*>& group) {
  std::size_t place = 0;
  for (Job* job : group) {
    std::vector<Dedup>& answers = *job->answers.dedup;
    for (std::size_t i = 0; i < job->batch->dedup.size(); ++i) {
      answers.push_back(Dedup{.duplicate = digits[place++] != '1'});
    }
  }
}

class PostgresDriver final : public Driver {
 public:
  PostgresDriver(const std::string& url, const OpenOptions& options, Random& random)
      : given_clock_(options.clock),
        timeout_(options.timeout),
        group_(options.connections),
        pool_(url, options.timeout, *io_clock_, random) {}

  Result<void> start(bool may_migrate) {
    // Nothing to wait for when it is not there at the start: say so at once.
    HAPAX_TRY_ASSIGN(connection, pool_.take(io_clock_->since_boot()));
    ConnectionExecutor executor(connection, io_clock_->since_boot() + timeout_);
    if (may_migrate) {
      HAPAX_TRY(migrate(executor));
    } else {
      HAPAX_TRY(check_schema(executor));
    }
    pool_.give_back(std::move(connection));
    return {};
  }

  Capabilities capabilities() const override { return {Capability::dedup}; }

  Answers write(const Batch& batch) override {
    Job job(batch);
    group_.submit(job, [this](const std::vector<Job*>& group) { commit(group); });
    if (!job.fate) job.answers.dedup = std::move(job.fate).error();
    return std::move(job.answers);
  }

  // Not in a group: claims must not wait for it.
  Result<Purged> purge(std::size_t limit) override {
    Parameters parameters;
    parameters.add_number(static_cast<std::int64_t>(limit));
    parameters.add_time(moment());
    HAPAX_TRY_ASSIGN(answer, run(kPurge, parameters, "remove ids whose time is over"));
    Purged purged;
    const std::string_view text = answer.field(0, 0);
    std::from_chars(text.data(), text.data() + text.size(), purged.removed);
    purged.done = purged.removed < limit;
    return purged;
  }

 private:
  void commit(const std::vector<Job*>& group) {
    const Result<void> fate = claim(group);
    for (Job* each : group) each->fate = fate;
  }

  Result<void> claim(const std::vector<Job*>& group) {
    const Wishes wishes = collect(group);
    if (wishes.keys.empty()) return {};
    Parameters parameters;
    parameters.add_bytes_array(wishes.keys);
    parameters.add_bytes_array(wishes.tokens);
    parameters.add_number_array(wishes.ttls_ms);
    parameters.add_time(moment());
    parameters.add_number(std::max<std::int64_t>(1, timeout_.count() * 8 / 10'000));
    HAPAX_TRY_ASSIGN(answer, run(kClaim, parameters, "claim ids"));
    const std::string_view digits = answer.rows() == 1 ? answer.field(0, 0) : "";
    if (digits.size() != wishes.keys.size()) {
      return Error(Code::store_corrupt, "hapax._claim gave " + std::to_string(digits.size()) +
                                            " answers to " + std::to_string(wishes.keys.size()) +
                                            " requests; the schema hapax is damaged");
    }
    spread(digits, group);
    return {};
  }

  // Runs the statement until it is known what became of it. After a lost answer the same statement
  // goes out again with the same tokens, on a new connection: it waits for a transaction of the old
  // one that is still committing, and finds what that one did.
  Result<Answer> run(const char* sql, const Parameters& parameters, std::string_view doing) {
    const BootTime last = io_clock_->since_boot() + 3 * timeout_;
    std::optional<Error> unknown;
    for (int tries = 1;; ++tries) {
      Result<Answer> answer = try_once(sql, parameters, doing);
      if (answer) return answer;
      if (answer.error().outcome() == Outcome::unknown) unknown = answer.error();
      const bool in_time = tries < kTriesMax && io_clock_->since_boot() < last;
      if (in_time && is_passing(answer.error())) continue;
      return unknown ? std::move(*unknown) : std::move(answer).error();
    }
  }

  Result<Answer> try_once(const char* sql, const Parameters& parameters, std::string_view doing) {
    HAPAX_TRY_ASSIGN(connection, pool_.take(io_clock_->since_boot() + timeout_));
    // Counted from here: a statement that is sent must have its time.
    Result<Answer> answer =
        connection.run(sql, parameters, io_clock_->since_boot() + timeout_, doing);
    // A server that became read-only is left, so that the next connection may find the primary.
    const bool keep = answer || answer.error().code() != Code::store_read_only;
    if (keep) pool_.give_back(std::move(connection));
    return answer;
  }

  // NULL in production: the server's clock decides.
  std::optional<std::int64_t> moment() const {
    if (given_clock_ == nullptr) return std::nullopt;
    return given_clock_->wall().time_since_epoch().count();
  }

  const std::unique_ptr<Clock> io_clock_ = make_system_clock();  // for deadlines, never for claims
  const Clock* given_clock_;
  const BootTime timeout_;
  GroupCommit group_;
  Pool pool_;
};

Error unreadable_url() {
  return Error(Code::misconfigured,
               "cannot read the PostgreSQL URL; write postgres://user:password@host:5432/database, "
               "with a number as the port and special characters as %XX");
}

// "user:password" without an @ would be a host and a port.
bool has_port_numbers(const PQconninfoOption* options) {
  for (; options->keyword != nullptr; ++options) {
    if (std::string_view(options->keyword) != "port" || options->val == nullptr) continue;
    if (std::string_view(options->val).find_first_not_of("0123456789,") != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

// Never shows what libpq says about it: that may quote the password.
Result<void> check_url(const std::string& url) {
  // An @, / or ? in a password that is not written as %XX makes a part of it a host or a port,
  // which libpq then quotes.
  const std::size_t authority = url.find("//") + 2;
  const std::size_t end = std::min(url.find_first_of("/?", authority), url.size());
  const std::size_t at = url.find('@', authority);
  const bool ends_user =
      at == std::string::npos || (at < end && url.find('@', at + 1) == std::string::npos);
  if (!ends_user) return unreadable_url();
  char* message = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &message);
  const bool readable = options != nullptr && has_port_numbers(options);
  PQconninfoFree(options);
  PQfreemem(message);
  return readable ? Result<void>() : Result<void>(unreadable_url());
}

}  // namespace

bool is_url(std::string_view url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

Result<std::unique_ptr<Driver>> open_driver(const std::string& url, const OpenOptions& options,
                                            Random& random) {
  HAPAX_TRY(check_url(url));
  auto driver = std::make_unique<PostgresDriver>(url, options, random);
  HAPAX_TRY(driver->start(options.migrate));
  return std::unique_ptr<Driver>(std::move(driver));
}

Result<int> migrate_url(const std::string& url, const OpenOptions& options) {
  HAPAX_TRY(check_url(url));
  const std::unique_ptr<Clock> clock = make_system_clock();
  HAPAX_TRY_ASSIGN(connection, Connection::connect(url, *clock, options.timeout));
  ConnectionExecutor executor(connection, clock->since_boot() + options.timeout);
  return migrate(executor);
}

}  // namespace hapax::store::postgres
