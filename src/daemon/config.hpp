// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/access.hpp"
#include "deliver/destination.hpp"
#include "gateway/source.hpp"
#include "http/tls_files.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// hapax.toml: read, checked, and made into what the server runs with. docs/configuration.md is for
// the person who writes it.
namespace hapax::daemon {

struct Listen {
  std::string host;  // an address, not a name
  std::uint16_t port = 0;
  std::optional<http::TlsFiles> tls;

  friend bool operator==(const Listen&, const Listen&) = default;
};

// Limits for unauthenticated clients.
struct ServerLimits {
  std::size_t connections = 16'384;
  std::optional<std::size_t> per_address;  // nothing: three quarters of `connections`
  std::chrono::milliseconds idle = std::chrono::seconds(75);
  std::chrono::milliseconds header = std::chrono::seconds(10);
  std::chrono::milliseconds body = std::chrono::seconds(30);
  std::chrono::milliseconds write = std::chrono::seconds(30);

  friend bool operator==(const ServerLimits&, const ServerLimits&) = default;
};

struct Config {
  Listen listen{"127.0.0.1", 8420, {}};
  Listen admin{"127.0.0.1", 8421, {}};
  std::string data_dir = ".";
  std::string public_url;  // without a '/' at its end; empty: not given
  std::size_t max_body = 1024 * 1024;
  ServerLimits limits;
  std::optional<std::string> admin_token;  // nothing: data_dir/admin.token
  std::vector<std::string> admin_names;    // Host names of the admin listener besides localhost
  std::string store_url = "sqlite:hapax.db";
  // How long a request waits for the store; nothing: 3 s in the queue, 5 s for an answer.
  std::optional<std::chrono::milliseconds> store_timeout;
  std::vector<std::string> secret_files;  // that { file = ... } named
  std::vector<gateway::Source> sources;   // those with declared tenants once for each
  std::vector<deliver::Destination> destinations;
  std::vector<admin::ScopedToken> tokens;
};

// What is wrong, and where. `line` is 0 where the file itself is (not there, not readable).
struct Problem {
  std::string file;
  std::size_t line = 0;
  std::string field;  // "source[2].secrets[1].env", counted from 1, or empty
  std::string text;   // what is wrong and what to write instead; never a secret

  std::string to_string() const;  // "hapax.toml:12: source[2].preset: ..."
};

struct Loaded {
  std::optional<Config> config;   // when there are no problems
  std::vector<Problem> problems;  // every one that was found, by line
  std::vector<Problem> warnings;
};

// Reads the environment through `variable`, so that tests need not change their own. Relative paths
// (data_dir, secrets, certificates, the SQLite file) are relative to the file's directory.
using Variable = std::function<std::optional<std::string>(const std::string& name)>;
Loaded load_config(const std::string& path, const Variable& variable);

}  // namespace hapax::daemon
