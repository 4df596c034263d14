// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/export.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace hapax {

struct Header {
  std::string_view name = {};  // compared without regard to case
  std::string_view value = {};
};

// One request exactly as it was received. Views only; the viewed bytes must outlive the call.
// Nothing is decoded, trimmed or reordered, because signatures cover these bytes.
struct Request {
  std::string_view method = "POST";
  // The complete URL as the sender called it; behind a proxy, the public one
  // ("https://hooks.example.com/in/twilio?x=1"). Only some schemes sign it.
  std::string_view url = {};
  std::span<const Header> headers = {};
  std::string_view body = {};
  // The number of readable bytes after the body (their values do not matter). With kBodyPadding or
  // more a JSON body is parsed in place; with fewer it is copied first.
  std::size_t body_padding = 0;
};

inline constexpr std::size_t kBodyPadding = 64;

class JsonReader;

// Reusable buffers for reading requests. One per thread.
class HAPAX_API Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(Scratch&&) noexcept;
  Scratch& operator=(Scratch&&) noexcept;

  JsonReader& json() { return *json_; }

 private:
  std::unique_ptr<JsonReader> json_;
};

}  // namespace hapax
