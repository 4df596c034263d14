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

// What becomes of a statement whose answer was lost.
enum class Lost : std::uint8_t {
  repeat,  // it goes out again; it finds what the first one did
  report,  // that is the answer
};

// Where the lock_timeout of a statement comes from.
enum class Patience : std::uint8_t {
  in_statement,    // it does itself
  in_transaction,  // the transaction that is begun for it
};

// Runs statements, each a transaction of its own, until it is known what became of them.
// Thread-safe.
class Runner {
 public:
  Runner(const std::string& url, const OpenOptions& options, Random& random)
      : given_clock_(options.clock),
        timeout_(options.timeout),
        random_(random),
        pool_(url, options.timeout, *io_clock_, random) {}

  // Brings the schema up to date, or only looks. Nothing to wait for when the server is not there.
  Result<void> start(const OpenOptions& options);

  // After a lost answer the same statement goes out again with the same tokens, on a new
  // connection: it waits for a transaction of the old one that is still committing, and finds what
  // that one did. `repeated`: with these values then, where the server must know how many answers
  // were lost.
  Result<QueryResult> run(const char* sql, const Parameters& parameters, std::string_view doing,
                          Form form = Form::text, Lost lost = Lost::repeat,
                          Patience patience = Patience::in_statement,
                          const std::function<Parameters(int losses)>& repeated = nullptr);

  // NULL in production: the server's clock decides.
  std::optional<std::int64_t> moment() const;
  // How long the server waits for another transaction: less than we do, so it reports that the
  // statement did not happen instead of running it unattended.
  std::int64_t patience_ms() const;
  // A statement is not repeated for longer than this.
  std::int64_t longest_ms() const;
  // For deadlines and hints, never for what the store decides.
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
