// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include "store/postgres/executor.hpp"
#include "store/postgres/pool.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace hapax::store::postgres {

// What to do about a statement whose answer was lost.
enum class Lost : std::uint8_t {
  repeat,  // repeat it; the repeat finds the effects of the first
  report,  // report the unknown outcome
};

// Where the lock_timeout of a statement comes from.
enum class Patience : std::uint8_t {
  in_statement,    // the statement sets it
  in_transaction,  // a transaction is begun that sets it
};

// Runs statements, each a transaction of its own, until their outcome is known. Thread-safe.
class Runner {
 public:
  Runner(const std::string& url, const OpenOptions& options, Random& random)
      : given_clock_(options.clock),
        timeout_(options.timeout),
        random_(random),
        pool_(url, options.timeout, *io_clock_, random) {}

  // Upgrades the schema, or only checks it. Does not wait for an unreachable server.
  Result<void> start(const OpenOptions& options);

  // After a lost answer the statement is repeated with the same tokens on a new connection: it
  // waits for a transaction of the old one that is still committing, and finds its effects.
  // `repeated`: the parameters of a repeat, for statements that take the number of lost answers.
  Result<QueryResult> run(const char* sql, const Parameters& parameters, std::string_view doing,
                          Form form = Form::text, Lost lost = Lost::repeat,
                          Patience patience = Patience::in_statement,
                          const std::function<Parameters(int losses)>& repeated = nullptr);

  // run() with a binary result.
  Result<QueryResult> run_query(const char* sql, const Parameters& parameters,
                                std::string_view doing, Lost lost = Lost::repeat) {
    return run(sql, parameters, doing, Form::binary, lost);
  }
  // As run_query(), for a statement that does not set its lock_timeout itself.
  Result<QueryResult> transact(const char* sql, const Parameters& parameters,
                               std::string_view doing, Lost lost = Lost::repeat) {
    return run(sql, parameters, doing, Form::binary, lost, Patience::in_transaction);
  }

  // NULL in production: the server's clock is used.
  std::optional<std::int64_t> moment() const;
  // The server's lock_timeout: shorter than our deadline, so that the server reports that the
  // statement did not happen instead of running it unattended.
  std::int64_t patience_ms() const;
  // A statement is repeated for at most this long.
  std::int64_t longest_ms() const;
  // For deadlines and hints, never for decisions of the store.
  BootTime since_boot() const { return io_clock_->since_boot(); }

 private:
  Result<QueryResult> try_once(const char* sql, const Parameters& parameters,
                               std::string_view doing, Form form, Patience patience,
                               Pool::Wait wait);

  void step_back(int conflicts);

  const std::unique_ptr<Clock> io_clock_ = make_system_clock();
  const Clock* given_clock_;
  const BootTime timeout_;
  Random& random_;
  Pool pool_;
};

}  // namespace hapax::store::postgres
