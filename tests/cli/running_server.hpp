// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/world.hpp"

#include <sys/types.h>
#include <string>

namespace hapax::test {

struct Ran {
  int exit_code = 0;
  std::string out;     // standard output
  std::string errors;  // standard error
};

// Runs the real binary in `directory`. `arguments` are for a shell.
Ran run_hapax(const TempDir& directory, const std::string& arguments);

// A real `hapax serve` on free ports, with a directory of its own.
class RunningServer {
 public:
  // `sources` is put behind [server] and [store] in its hapax.toml.
  explicit RunningServer(const std::string& sources);
  ~RunningServer();  // as stop()
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  const TempDir& directory() const { return directory_; }
  std::string url(const std::string& source) const;  // http://127.0.0.1:PORT/in/SOURCE
  std::string admin() const { return "http://" + admin_; }
  int port() const;
  // Other sources from now on: waits until they are in force.
  void reload(const std::string& sources);
  void stop();  // a failure when it does not end well

 private:
  TempDir directory_;
  pid_t process_ = -1;
  std::string address_;
  std::string admin_;
};

}  // namespace hapax::test
