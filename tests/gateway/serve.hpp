// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include "store/open.hpp"
#include "support/http.hpp"
#include "support/world.hpp"

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hapax::test {

// The secret of the source "demo" in demo_config().
inline const std::string kDemoSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

// Lines of [server] and [store] with timeouts long enough for any machine: a timeout that is not
// under test never expires.
inline const std::string kGenerousServer =
    "idle_timeout = \"10m\"\nheader_timeout = \"10m\"\nbody_timeout = \"10m\"\n"
    "write_timeout = \"10m\"\n";
inline const std::string kGenerousStore = "timeout = \"10m\"\n";

// A configuration with Standard Webhooks at /in/demo, delivered to the pull destination "work", on
// free ports. `server` and `store` are further lines of [server] and [store].
std::string demo_config(const std::string& store_url, const std::string& server = kGenerousServer,
                        const std::string& store = kGenerousStore);

// A real `hapax serve` in its own directory.
class Serve {
 public:
  // Starts the server and waits until it is ready. `variables` ("NAME=value") are added to its
  // environment.
  explicit Serve(std::string config, std::vector<std::string> variables = {});
  ~Serve();  // kills it; an earlier exit or a sanitizer report fails the test
  Serve(const Serve&) = delete;
  Serve& operator=(const Serve&) = delete;

  int port() const { return port_; }
  int admin_port() const { return admin_port_; }
  pid_t pid() const { return pid_; }
  std::string file(const std::string& name) const { return directory_.file(name); }
  std::string log() const;
  const std::filesystem::path& directory() const { return directory_.path(); }
  // Its resident memory, in bytes.
  std::size_t resident() const;
  // GET of the admin API, on a new connection.
  HttpAnswer ask(std::string_view target) const;
  void write_config(const std::string& config) const;
  // Writes the configuration, reloads it, and waits until the server has logged the result.
  void reload(const std::string& config) const;

  void start();    // restarts after stop() or kill_it(), with the same files
  int stop();      // sends SIGTERM; returns the exit code
  bool kill_it();  // sends SIGKILL; returns whether the server was still running
  void signal(int number) const;

  // Posts `body` to /in/demo, signed.
  HttpAnswer post(RawClient& client, const std::string& id, std::string_view body) const;

 private:
  TempDir directory_;
  const std::vector<std::string> variables_;
  pid_t pid_ = -1;
  int port_ = 0;
  int admin_port_ = 0;
};

// The contents of a store, read through a separate handle.
class StoreView {
 public:
  explicit StoreView(const std::string& url);
  const store::Driver& driver() { return opened_->driver; }
  // The bodies of all events, by sender's id. A repeated id fails the test.
  std::map<std::string, std::string> bodies();

 private:
  std::unique_ptr<store::Opened> opened_;
};

}  // namespace hapax::test
