// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/hapax.hpp>

#include <iostream>

int failed(const hapax::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

int main() {
  auto store = hapax::open("sqlite:dedup.db");
  if (!store) return failed(store.error());
  for (int delivery : {1, 2}) {
    auto seen = store->dedup({.scope = "stripe", .id = "evt_1", .ttl = 30 * hapax::days});
    if (!seen) return failed(seen.error());
    std::cout << delivery << ": evt_1 is " << (seen->duplicate ? "a duplicate" : "new") << '\n';
  }
}
