// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/postgres.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hapax::test {

// A PostgreSQL server of the test's own, to be broken: fsync on, a unix socket, no port. Runs when
// it is made, and is stopped by its process id and removed with the object.
class PostgresServer {
 public:
  enum class Stop : std::uint8_t {
    fast,       // ends every session, then itself in order
    immediate,  // as if it had crashed: recovers when it starts
    kill,       // SIGKILL to it and to all its children
  };

  PostgresServer();
  // A copy that streams from `primary`, which is not waited for unless it is told so. It can be
  // read, and takes over when it is promoted.
  struct StandbyOf {
    const PostgresServer& primary;
  };
  explicit PostgresServer(const StandbyOf& of);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void start();         // returns when it takes connections
  void stop(Stop how);  // returns when all its processes have ended
  void restart(Stop how);
  void promote() const;  // returns when it can be written

  // As in postgresql.conf. Sessions see it from their next command on.
  void set(const std::string& name, const std::string& value) const;
  void reset(const std::string& name) const;

  const std::string& directory() const { return place_; }  // of its socket
  std::string url() const;
  PgHandle connect() const;

 private:
  void make_place();
  void make_cluster() const;
  void run_to_the_end(std::vector<std::string> words) const;
  std::string log_file() const { return place_ + "/server.log"; }

  std::string place_;
  pid_t child_ = -1;   // what was started: the server, or runuser before it
  pid_t server_ = -1;  // -1: it does not run
};

}  // namespace hapax::test
