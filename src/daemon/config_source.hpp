// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_values.hpp"

#include <deque>

// The [[source]]s of a configuration.
namespace hapax::daemon {

// What the rest of the file says that a source depends on.
struct Surroundings {
  std::size_t max_body = 0;
  bool has_public_url = false;
  std::vector<std::string> destinations;
};

// Nothing when a problem was reported.
std::optional<gateway::Source> read_source(const Node& table, const Surroundings& around,
                                           Loading& loading);

// How requests of a source are verified.
struct Way {
  const Preset* preset = nullptr;
  Scheme scheme{};
  const Node* at = nullptr;  // what says so
};

// One secret of the file: nothing where it could not be read.
struct SecretEntry {
  const Node* at = nullptr;
  std::optional<std::string> text;
};

// The parts of a source that its verifier is made of.
struct Signing {
  std::vector<SecretEntry> secrets;
  std::string key_id;
  std::vector<OwnedHeader> parameters;
  std::optional<Verifier> verifier;
};

// Nothing when a problem was reported. The scheme's texts are in the tree or in `kept`.
std::optional<Way> read_way(const Node& table, std::deque<std::string>& kept, Report& report);

// Secrets, key id and parameters; the verifier where there is a way and all of it is good.
Signing read_signing(const Node& table, const std::optional<Way>& way, Loading& loading);

// verify = { scheme = ... }. The scheme's texts are in the tree or in `kept`, which must outlive
// it.
std::optional<Scheme> read_verify(const Node& table, std::deque<std::string>& kept, Report& report);

}  // namespace hapax::daemon
