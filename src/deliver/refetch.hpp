// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include "base/json.hpp"
#include "http/url.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hapax::deliver {

// The URL of the current state of an object, with placeholders for values of the event:
// "https://api.example.com/v1/orders/{json:/data/object/id}".
class Refetch {
 public:
  // invalid_argument: the message names the error and shows a valid URL. Placeholders are allowed
  // only after the host, so that an event cannot choose the host.
  static Result<Refetch> parse(std::string_view text);

  // The URL for an event with this body. Each value is percent-encoded, so that it stays within its
  // path segment. invalid_argument: a value is missing, is not a string or number of 1 to 1024
  // bytes, or is "." or "..", which would change the path.
  Result<http::Url> url_for(std::string_view body) const;

 private:
  struct Piece {
    std::string text;     // literal
    std::string pointer;  // of the value after it; empty: none (the last piece)
  };

  http::Url to_;
  std::vector<Piece> target_;
};

}  // namespace hapax::deliver
