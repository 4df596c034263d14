// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/message.hpp"

#include "model/field.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hapax::http {

namespace {

constexpr std::array<std::pair<int, std::string_view>, 24> kStatusTexts{{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
}};

}  // namespace

const Header* Head::find(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const Header& each) {
    return equal_ignoring_case(each.name, name);
  });
  return found == headers.end() ? nullptr : &*found;
}

std::string_view status_text(int status) {
  const auto* const row = std::find_if(kStatusTexts.begin(), kStatusTexts.end(),
                                       [&](const auto& each) { return each.first == status; });
  return row == kStatusTexts.end() ? std::string_view() : row->second;
}

}  // namespace hapax::http
