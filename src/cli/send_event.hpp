// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::cli {

// What the events that `send` makes have in common.
struct EventShape {
  const Preset* preset = nullptr;
  std::string secret;
  std::string key_id;
  std::vector<OwnedHeader> parameters;
  std::string signed_url;  // what the sender believes to call
  std::string target;      // what is asked for in the request
  std::string type;
  std::optional<std::string> body;  // of a file; nothing: made up
  bool own_id = true;               // an id that the body of a file has is replaced
  std::size_t size = 0;             // of a body that is made up, at least; 0: small
};

// An event as it goes out.
struct ReadyEvent {
  std::vector<OwnedHeader> headers;
  std::string body;
  std::string target;
};

// An event of this shape with this id, where the provider has it, signed at `now`. misconfigured:
// the scheme cannot be signed for. The same id gives the same event, but for the time.
Result<ReadyEvent> make_event(const EventShape& shape, const std::string& id, WallTime now);

// The id that `identifier` finds in it; why there is none, with what to do.
Result<std::string> id_of(const ReadyEvent& event, const Identifier& identifier);

}  // namespace hapax::cli
