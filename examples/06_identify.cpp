// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// One request may carry several events, each with its own id. The request arrives twice; an event
// is handled only the first time. (Verify the signature first: see 05_verify.cpp.)
#include <hapax/identify.hpp>
#include <hapax/store.hpp>
#include <hapax/verify.hpp>

#include <iostream>

int failed(const hapax::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

int main() {
  auto store = hapax::open("memory:");
  if (!store) return failed(store.error());
  auto identifier = hapax::Identifier::make({.id = {"json:/id"}, .split = "json:/*"});
  if (!identifier) return failed(identifier.error());

  const hapax::Request request{.body = R"([{"id": "evt_1"}, {"id": 2}, {"name": "no id"}])"};
  hapax::Scratch scratch;
  for (int delivery : {1, 2}) {
    const hapax::Identified found = identifier->identify(request, scratch);
    if (found.reason != hapax::Reason::none) return 1;
    for (const hapax::Item& item : found.items) {
      std::cout << delivery << ": " << item.bytes;
      if (item.reason != hapax::Reason::none) {
        std::cout << " is rejected: " << name(item.reason) << ", " << item.detail << '\n';
        continue;
      }
      auto seen = store->dedup({.scope = "example", .id = item.identity.key});
      if (!seen) return failed(seen.error());
      std::cout << (seen->duplicate ? " is a duplicate\n" : " is new\n");
    }
  }
}
