// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/hapax.hpp>

#include <cstdio>
#include <string>

// Links SQLite, and OpenSSL too: an id of this length is hashed.
int main() {
  std::remove("consumer.db");
  auto store = hapax::open("sqlite:consumer.db");
  if (!store) {
    std::puts(store.error().to_string().c_str());
    return 1;
  }
  const std::string id(300, 'x');
  const auto first = store->dedup({.scope = "consumer", .id = id});
  const auto second = store->dedup({.scope = "consumer", .id = id});
  const bool once = first && second && !first->duplicate && second->duplicate;
  return once && hapax::version() == HAPAX_EXPECTED_VERSION ? 0 : 1;
}
