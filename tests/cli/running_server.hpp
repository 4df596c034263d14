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

// Runs the real binary in `directory`. A shell interprets `arguments`.
Ran run_hapax(const TempDir& directory, const std::string& arguments);

// A real `hapax serve` on free ports, with its own directory.
class RunningServer {
 public:
  // `sources` follows [server] and [store] in its hapax.toml.
  explicit RunningServer(const std::string& sources);
  ~RunningServer();  // calls stop()
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  const TempDir& directory() const { return directory_; }
  std::string url(const std::string& source) const;  // http://127.0.0.1:PORT/in/SOURCE
  std::string admin() const { return "http://" + admin_; }
  int port() const;
  // Replaces the sources and waits until the server has reloaded the file.
  void reload(const std::string& sources);
  void stop();  // a non-zero exit status fails the test

 private:
  TempDir directory_;
  pid_t process_ = -1;
  std::string address_;
  std::string admin_;
};

}  // namespace hapax::test
