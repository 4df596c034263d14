// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/url.hpp"

namespace hapax::store {

namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr std::string_view kMemory = "memory:";

// Of a URL that is not a path only the scheme is shown.
std::string without_password(std::string_view url) {
  if (url.starts_with(kSqlite) || url == kMemory) return std::string(url);
  const std::size_t colon = url.find(':');
  const bool has_scheme = colon != std::string_view::npos && colon <= 16 &&
                          url.substr(0, colon).find_first_of("=@/ ") == std::string_view::npos;
  return has_scheme ? std::string(url.substr(0, colon + 1)) + "..." : "...";
}

}  // namespace

Error unusable_url(std::string_view text, std::string_view why) {
  return Error(Code::misconfigured,
               "cannot use the store URL '" + without_password(text) + "': " + std::string(why) +
                   "; write sqlite:PATH, postgres://USER@HOST/DATABASE or memory:");
}

Result<StoreUrl> StoreUrl::parse(std::string_view text) {
  if (text == kMemory) return StoreUrl{Kind::memory, std::string(text)};
  if (text.starts_with("postgres://") || text.starts_with("postgresql://")) {
    return StoreUrl{Kind::postgres, std::string(text)};
  }
  if (!text.starts_with(kSqlite)) return unusable_url(text, "unknown kind of store");
  const std::string path(text.substr(kSqlite.size()));
  if (path.find('\0') != std::string::npos) return unusable_url(text, "it has a NUL byte");
  if (path.empty() || path == ":memory:") return unusable_url(text, "it names no file");
  return of_file(path);
}

StoreUrl StoreUrl::of_file(const std::string& path) {
  return {Kind::sqlite, std::string(kSqlite) + path, path};
}

std::string StoreUrl::shown() const {
  return without_password(text);
}

}  // namespace hapax::store
