// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/refetch.hpp"

#include "base/json_pointer.hpp"
#include "base/percent.hpp"
#include "base/try.hpp"

#include <algorithm>

namespace hapax::deliver {

namespace {

constexpr std::size_t kMaxValue = 1024;
constexpr std::string_view kUnreserved = "-._~";  // RFC 3986, besides letters and digits
constexpr std::string_view kOpen = "{json:";
constexpr std::string_view kWrite =
    "; write \"https://api.example.com/things/{json:/data/id}\", with placeholders in the path or "
    "the query";

Error bad(std::string_view why) {
  return Error(Code::invalid_argument, std::string(why) + std::string(kWrite));
}

Error no_value(std::string_view pointer, std::string_view why) {
  return Error(Code::invalid_argument, "json:" + std::string(pointer) + " " + std::string(why));
}

// Offset of the path or query.
std::size_t end_of_host(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return text.size();
  return std::min(text.find_first_of("/?#", scheme + 3), text.size());
}

}  // namespace

Result<Refetch> Refetch::parse(std::string_view text) {
  Refetch made;
  const std::size_t start = end_of_host(text);
  if (text.substr(0, start).find('{') != std::string_view::npos) {
    return bad("the host cannot come from an event");
  }
  std::string sample(text.substr(0, start));
  if (start == text.size() || text[start] != '/') sample += '/';
  if (start < text.size() && text[start] != '/') made.target_.push_back({"/", {}});
  for (std::string_view rest = text.substr(start); !rest.empty();) {
    const std::size_t open = std::min(rest.find('{'), rest.size());
    Piece piece{std::string(rest.substr(0, open)), {}};
    sample += piece.text;
    rest.remove_prefix(open);
    if (!rest.empty()) {
      const std::size_t close = rest.find('}');
      if (!rest.starts_with(kOpen) || close == std::string_view::npos) {
        return bad("a '{' begins something other than {json:/pointer}");
      }
      piece.pointer = rest.substr(kOpen.size(), close - kOpen.size());
      if (piece.pointer.empty() || !is_json_pointer(piece.pointer)) {
        return bad("'" + piece.pointer + "' is not a JSON pointer to a value");
      }
      sample += 'x';
      rest.remove_prefix(close + 1);
    }
    made.target_.push_back(std::move(piece));
  }
  if (sample.find_first_of("}#") != std::string::npos) return bad("it contains a '}' or '#'");
  if (sample.find('@') < start) return bad("user info in the URL is not supported");
  Result<http::Url> url = http::parse_url(sample);
  if (!url) return bad("it is not an http or https URL");
  made.to_ = *std::move(url);
  return made;
}

Result<http::Url> Refetch::url_for(std::string_view body) const {
  http::Url url = to_;
  url.target.clear();
  JsonReader json;
  bool open = false;
  for (const Piece& piece : target_) {
    url.target += piece.text;
    if (piece.pointer.empty()) continue;
    if (!open && !json.open(body, 0))
      return no_value(piece.pointer, "is missing: the body is not JSON");
    open = true;
    const JsonValue value = json.at(piece.pointer);
    if (value.status != JsonStatus::found) return no_value(piece.pointer, "is missing");
    const bool usable = value.kind == JsonKind::string || value.kind == JsonKind::number;
    if (!usable || value.text.empty() || value.text.size() > kMaxValue || value.text == "." ||
        value.text == "..") {
      return no_value(piece.pointer, "cannot be part of a path");
    }
    url.target += percent_encoded_but(kUnreserved, value.text);
  }
  if (url.target.empty()) url.target = "/";
  return url;
}

}  // namespace hapax::deliver
