// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "verify/hmac.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// Canonical forms of request parts that some providers sign. Pure functions.
namespace hapax::verify_detail {

// Concatenates the names and values of all form fields, ordered by name. `unique`: the values of a
// repeated name are sorted and deduplicated. nullopt if there are too many fields.
std::optional<std::string> sorted_form(std::string_view body, bool unique);

// The query, ordered by name: "a=1&b=2". Fields keep their encoding.
std::string sorted_query(std::string_view url);

// The URL with an explicit port (the scheme's default if it has none), and without a port. Text
// that is not a URL is returned unchanged.
std::string url_with_port(std::string_view url);
std::string url_without_port(std::string_view url);

// The path and query: "/a?b=c". "/" if both are empty.
std::string_view path_of(std::string_view url);

std::string hubspot_url(std::string_view url);

// Plivo V3: the URL with its query ordered by name, then the form fields.
std::optional<std::string> plivo_url(std::string_view method, std::string_view url,
                                     std::string_view body);

// JSON with non-ASCII characters as lower-case \uXXXX and '/' as \/. nullopt if it is not UTF-8.
std::optional<std::string> ascii_json(std::string_view body);

// Decompresses gzip into `sink`, in pieces. Returns false if the body is not gzip or decompresses
// to more than `limit` bytes; the content of the sink must then be discarded.
bool inflate_gzip(std::string_view body, std::size_t limit, Sink& sink);

std::string crc32_decimal(std::string_view body);

}  // namespace hapax::verify_detail
