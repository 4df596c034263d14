// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/identify.hpp>
#include <hapax/verify.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::cli {

// Common properties of the events that `send` generates.
struct EventShape {
  const Preset* preset = nullptr;
  std::string secret;
  std::string key_id;
  std::vector<OwnedHeader> parameters;
  std::string signed_url;  // the URL that the sender would sign
  std::string target;      // the request target
  std::string type;
  std::optional<std::string> body;  // from a file; nullopt: generated
  bool own_id = true;               // replace the id in a body from a file
  std::size_t size = 0;             // minimum size of a generated body; 0: small
};

// A signed event, ready to send.
struct ReadyEvent {
  std::vector<OwnedHeader> headers;
  std::string body;
  std::string target;
};

// Generates an event with this shape and id, signed at `now`. misconfigured: the scheme cannot be
// used to sign. Events with the same id differ only in time and signature.
Result<ReadyEvent> make_event(const EventShape& shape, const std::string& id, WallTime now);

// The id that `identifier` finds in the event, or an error with a remedy.
Result<std::string> id_of(const ReadyEvent& event, const Identifier& identifier);

}  // namespace hapax::cli
