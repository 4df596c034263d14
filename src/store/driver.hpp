// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/catalog.hpp"
#include "store/claims.hpp"
#include "store/node.hpp"
#include "store/queue.hpp"
#include "store/rejects.hpp"

#include <memory>

namespace hapax::store {

// An open store, as the contracts that it implements: all of them, or `claims` alone, or none.
// Copies share the store, which closes with the last of them.
struct Driver {
  std::shared_ptr<void> owner;
  Claims* claims = nullptr;
  Queue* queue = nullptr;
  Catalog* catalog = nullptr;
  Rejects* rejects = nullptr;
  Node* node = nullptr;

  Capabilities capabilities() const {
    if (queue == nullptr)
      return claims == nullptr ? Capabilities() : Capabilities{Capability::dedup};
    return {Capability::dedup, Capability::inbox, Capability::outbox};
  }
};

}  // namespace hapax::store
