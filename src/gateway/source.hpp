// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/handshake.hpp>
#include <hapax/identify.hpp>
#include <hapax/verify.hpp>

#include "gateway/secret_use.hpp"
#include "store/inbox_queue.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hapax::gateway {

// What an accepted arrival is answered with in place of hapax's own JSON.
struct Ack {
  int status = 200;
  std::string body;
  std::string content_type;  // empty: no Content-Type
};

// One [[source]] of the configuration, checked and made ready. Immutable while it serves.
struct Source {
  std::string name;
  const Preset* preset = nullptr;  // null: the file says how it is signed. For handshakes
  std::vector<std::string> secrets;
  std::shared_ptr<SecretUse> secret_use = std::make_shared<SecretUse>();
  std::string key_id;
  std::vector<OwnedHeader> parameters;  // {param:NAME}
  Verifier verifier;
  Identifier identifier;
  bool splits = false;  // answered with a list
  // Headers whose value is the secret itself (token and basic schemes): stored as "<redacted>".
  std::vector<std::string> secret_headers;
  std::chrono::milliseconds remember = kDefaultTtl;
  std::chrono::milliseconds keep = kDefaultTtl;
  std::chrono::milliseconds keep_dead = kDefaultTtl;
  std::size_t max_body = 0;
  std::optional<Ack> ack;
  std::vector<std::string> deliver_to;

  // What the store calls them; filled in when the store is open.
  SourceNo no{};
  std::vector<store::Target> targets;
};

}  // namespace hapax::gateway
