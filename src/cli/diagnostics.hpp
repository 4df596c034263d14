// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"
#include "store/inspect.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

// The checks of `hapax doctor`, one function each.
namespace hapax::cli {

struct Diagnostic {
  enum class Level : std::uint8_t { ok, warning, problem };
  Level level = Level::ok;
  std::string_view check;  // "store", "clock", ...: stable, for programs
  std::string text;
};

class Diagnostics {
 public:
  void ok(std::string_view check, std::string text);
  void warning(std::string_view check, std::string text);
  void problem(std::string_view check, std::string text);

  const std::vector<Diagnostic>& list() const { return list_; }
  bool good() const;  // no problem in the list

 private:
  std::vector<Diagnostic> list_;
};

// Permissions of the files hapax relies on: configuration, secrets, token, data.
void check_permissions(const std::string& file, const daemon::Config& config,
                       Diagnostics& diagnostics);

// Checks that the store exists, has this schema version and a correct clock. Also reports stored
// names that are not configured, and sources without recent events.
void check_store(const daemon::Config& config, Clock& clock, std::chrono::milliseconds silent,
                 Diagnostics& diagnostics);

// Reports sources in observe mode, which deliver forged and duplicate requests.
void check_observe(const daemon::Config& config, Diagnostics& diagnostics);

// Measures the duration of a sync on the disk of the data.
void check_sync(const daemon::Config& config, Clock& clock, Diagnostics& diagnostics);

// Reports unused secrets of a running server. `sources` is its response to GET /v1/sources.
void check_secrets(const boost::json::value& sources, Diagnostics& diagnostics);

// "3 d", "5 h", "40 s"
std::string about(std::chrono::microseconds span);

}  // namespace hapax::cli
