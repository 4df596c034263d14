// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The stored form of headers: each name and value is preceded by its length as a varint (seven bits
// per byte, lowest first, the eighth bit set if another byte follows). Order and repeated names are
// kept. Any bytes round-trip.
namespace hapax {

void append_header(std::string& out, std::string_view name, std::string_view value);
std::string encode_headers(std::span<const Header> headers);

// The headers, as views of `encoded`. Returns nullopt if encode_headers() cannot produce `encoded`.
std::optional<std::vector<Header>> decode_headers(std::string_view encoded);

}  // namespace hapax
