// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include "base/json.hpp"
#include "http/url.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hapax::deliver {

// Where the current state of an object is fetched, made from what an event says about it:
// "https://api.example.com/v1/orders/{json:/data/object/id}".
class Refetch {
 public:
  // invalid_argument says what is wrong and what to write. Placeholders are behind the host, so
  // that an event cannot choose the host.
  static Result<Refetch> parse(std::string_view text);

  // The URL for an event with this body. Each value is percent-encoded, so that it stays within its
  // path segment. invalid_argument: the body lacks one, or one is not a string or number of 1 to
  // 1024 bytes, or is "." or "..", which would be a step in the path.
  Result<http::Url> url_for(std::string_view body) const;

 private:
  struct Piece {
    std::string text;     // as it is
    std::string pointer;  // of the value behind it; empty: none, at the end
  };

  http::Url to_;
  std::vector<Piece> target_;
};

}  // namespace hapax::deliver
