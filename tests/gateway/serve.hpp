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

// Lines of [server] and [store]: longer than any machine needs, so that a time-out that is not the
// subject of a test never expires in it.
inline const std::string kGenerousServer =
    "idle_timeout = \"10m\"\nheader_timeout = \"10m\"\nbody_timeout = \"10m\"\n"
    "write_timeout = \"10m\"\n";
inline const std::string kGenerousStore = "timeout = \"10m\"\n";

// Standard Webhooks at /in/demo, for workers of "work", on ports that are free. `server` and
// `store` are more lines of [server] and [store].
std::string demo_config(const std::string& store_url, const std::string& server = kGenerousServer,
                        const std::string& store = kGenerousStore);

// A real `hapax serve` in a directory of its own.
class Serve {
 public:
  // Starts it and waits until it is ready. `variables` ("NAME=value") are added to its environment.
  explicit Serve(std::string config, std::vector<std::string> variables = {});
  ~Serve();  // kills it; a failure when it had ended by itself, or a sanitizer reported anything
  Serve(const Serve&) = delete;
  Serve& operator=(const Serve&) = delete;

  int port() const { return port_; }
  int admin_port() const { return admin_port_; }
  pid_t pid() const { return pid_; }
  std::string file(const std::string& name) const { return directory_.file(name); }
  std::string log() const;
  const std::filesystem::path& directory() const { return directory_.path(); }
  // Its memory now, in bytes.
  std::size_t resident() const;
  // The admin API, asked on a connection of its own.
  HttpAnswer ask(std::string_view target) const;
  void write_config(const std::string& config) const;
  // Writes it, and waits until it is in force.
  void reload(const std::string& config) const;

  void start();    // again, after stop() or kill_it(), with the same files
  int stop();      // by SIGTERM; the exit code
  bool kill_it();  // by SIGKILL; whether it was alive
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

// What a store holds, read through a handle of the test's own.
class StoreView {
 public:
  explicit StoreView(const std::string& url);
  const store::Driver& driver() { return opened_->driver; }
  // Body by sender's id, of all events. An id twice is a failure.
  std::map<std::string, std::string> bodies();

 private:
  std::unique_ptr<store::Opened> opened_;
};

}  // namespace hapax::test
