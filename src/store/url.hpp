// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hapax::store {

// The URL of a store: "sqlite:PATH", "postgres://..." or "postgresql://...", or "memory:".
struct StoreUrl {
  enum class Kind : std::uint8_t { memory, sqlite, postgres };

  // misconfigured: not such a URL. What follows "postgres://" is checked when the store is opened.
  static Result<StoreUrl> parse(std::string_view text);
  static StoreUrl of_file(const std::string& path);

  // For messages: without a password.
  std::string shown() const;

  friend bool operator==(const StoreUrl&, const StoreUrl&) = default;

  Kind kind = Kind::memory;
  std::string text;
  std::string path = {};  // of the file; sqlite only
};

// misconfigured: says why, and what to write, but shows no password, wherever it is in a misspelled
// URL.
Error unusable_url(std::string_view text, std::string_view why);

}  // namespace hapax::store
