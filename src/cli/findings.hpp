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

// What `hapax doctor` looks at, one function each.
namespace hapax::cli {

struct Finding {
  enum class Level : std::uint8_t { ok, warning, problem };
  Level level = Level::ok;
  std::string_view check;  // "store", "clock", ...: stable, for programs
  std::string text;
};

class Findings {
 public:
  void ok(std::string_view check, std::string text);
  void warning(std::string_view check, std::string text);
  void problem(std::string_view check, std::string text);

  const std::vector<Finding>& list() const { return list_; }
  bool good() const;  // no problem among them

 private:
  std::vector<Finding> list_;
};

// Who may read and change what hapax relies on: the file, its secrets, the token, the data.
void look_at_permissions(const std::string& file, const daemon::Config& config, Findings& findings);

// The store: there, of this version, in time; names that the file lacks; sources gone silent.
void look_at_store(const daemon::Config& config, Clock& clock, std::chrono::milliseconds silent,
                   Findings& findings);

// Sources in observe mode: what they should refuse is taken.
void look_at_observe(const daemon::Config& config, Findings& findings);

// How long the disk under the data takes for a sync.
void look_at_sync(const daemon::Config& config, Clock& clock, Findings& findings);

// What a running server knows: `sources` is its answer to GET /v1/sources.
void look_at_secrets(const boost::json::value& sources, Findings& findings);

// "3 d", "5 h", "40 s"
std::string about(std::chrono::microseconds span);

}  // namespace hapax::cli
