// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "verify/hmac.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// The named forms of a request's parts that some providers sign: pure functions of text.
namespace hapax::verify_detail {

// Name and value of each field of a form, ordered by name, one after the other. `unique`: of one
// name, the values are ordered and each is taken once. Nothing when there are too many fields.
std::optional<std::string> sorted_form(std::string_view body, bool unique);

// A query ordered by name: "a=1&b=2". The fields stay encoded as they are.
std::string sorted_query(std::string_view url);

// With the port written out where it is the default one; without any port. A URL that does not look
// like one stays as it is.
std::string url_with_port(std::string_view url);
std::string url_without_port(std::string_view url);

// From the path on, query included: "/a?b=c". "/" when there is none.
std::string_view path_of(std::string_view url);

std::string hubspot_url(std::string_view url);

// Plivo V3: the URL with its query ordered by name, then the form fields.
std::optional<std::string> plivo_url(std::string_view method, std::string_view url,
                                     std::string_view body);

// JSON with all that is not ASCII as \uXXXX in lower case, and each '/' as \/. Nothing when it is
// not UTF-8.
std::optional<std::string> ascii_json(std::string_view body);

// gzip undone, piece by piece into `sink`. False when it is not gzip or larger than `limit`: what
// the sink got until then is to be dropped.
bool inflate_gzip(std::string_view body, std::size_t limit, Sink& sink);

std::string crc32_decimal(std::string_view body);

}  // namespace hapax::verify_detail
