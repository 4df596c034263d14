// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/access.hpp"
#include "deliver/destination.hpp"
#include "gateway/source.hpp"
#include "http/tls_files.hpp"
#include "store/url.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// Reads and validates hapax.toml, which docs/configuration.md describes.
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
  std::optional<std::size_t> per_address;  // nullopt: three quarters of `connections`
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
  std::string public_url;  // without a trailing '/'; empty: not set
  std::size_t max_body = 1024 * 1024;
  ServerLimits limits;
  std::optional<std::string> admin_token;  // nullopt: data_dir/admin.token
  std::vector<std::string> admin_names;    // Host names of the admin listener besides localhost
  store::StoreUrl store_url = store::StoreUrl::of_file("hapax.db");
  // How long a request waits for the store; nullopt: 3 s in the queue, 5 s for a response.
  std::optional<std::chrono::milliseconds> store_timeout;
  std::vector<std::string> secret_files;  // from { file = ... }
  std::vector<gateway::Source> sources;   // also one per declared tenant
  std::vector<deliver::Destination> destinations;
  std::vector<admin::ScopedToken> tokens;
};

// A problem and its position. `line` is 0 if it concerns the whole file (missing, unreadable).
struct Problem {
  std::string file;
  std::size_t line = 0;
  std::string field;  // "source[2].secrets[1].env", counted from 1, or empty
  std::string text;   // the problem and its remedy; never contains a secret

  std::string to_string() const;  // "hapax.toml:12: source[2].preset: ..."
};

struct Loaded {
  std::optional<Config> config;   // if there are no problems
  std::vector<Problem> problems;  // all of them, by line
  std::vector<Problem> warnings;
};

// Reads the environment through `variable`, which tests replace. Relative paths (data_dir, secrets,
// certificates, the SQLite file) are relative to the file's directory.
using Variable = std::function<std::optional<std::string>(const std::string& name)>;
Loaded load_config(const std::string& path, const Variable& variable);

}  // namespace hapax::daemon
