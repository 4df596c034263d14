// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/postgres.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hapax::test {

// A PostgreSQL server owned by the test, for fault injection: fsync on, a Unix socket, no port. The
// constructor starts it; the destructor stops it by its process id and deletes its files.
class PostgresServer {
 public:
  enum class Stop : std::uint8_t {
    fast,       // ends every session, then shuts down cleanly
    immediate,  // like a crash: the next start runs recovery
    kill,       // SIGKILL to the postmaster and all its children
  };

  PostgresServer();
  // A hot standby that streams from `primary`, asynchronously by default. It can be read, and
  // promoted.
  struct StandbyOf {
    const PostgresServer& primary;
  };
  explicit PostgresServer(const StandbyOf& of);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void start();         // returns when the server accepts connections
  void stop(Stop how);  // returns when all its processes have ended
  void restart(Stop how);
  void promote() const;  // returns when the server is writable

  // ALTER SYSTEM SET. Sessions see it from their next command on.
  void set(const std::string& name, const std::string& value) const;
  void reset(const std::string& name) const;

  const std::string& directory() const { return place_; }  // contains its socket
  std::string url() const;
  PgHandle connect() const;

 private:
  void make_place();
  void make_cluster() const;
  void run_to_the_end(std::vector<std::string> words) const;
  std::string log_file() const { return place_ + "/server.log"; }

  std::string place_;
  pid_t child_ = -1;   // the started process: the server, or runuser
  pid_t server_ = -1;  // -1: not running
};

}  // namespace hapax::test
