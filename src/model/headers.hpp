// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/request.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Headers as they are stored: name and value, each behind its length (seven bits to a byte, the
// lowest first, the eighth bit set where another byte follows), in their order, repeated names
// included. Any bytes round-trip.
namespace hapax {

void append_header(std::string& out, std::string_view name, std::string_view value);
std::string encode_headers(std::span<const Header> headers);

// The headers, as views into `encoded`. Nothing when it is not what encode_headers() makes.
std::optional<std::vector<Header>> decode_headers(std::string_view encoded);

}  // namespace hapax
