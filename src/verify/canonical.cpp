// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/canonical.hpp"

#include "base/form.hpp"
#include "base/utf8.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace hapax::verify_detail {

namespace {

// The position of host and port in a URL.
struct Authority {
  std::size_t begin;
  std::size_t end;   // after the port
  std::size_t port;  // start of ":8443"; `end` without a port
};

std::optional<Authority> authority_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  const std::size_t begin = scheme + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::string_view authority = url.substr(begin, end - begin);
  const std::size_t colon = authority.rfind(':');
  // The colons in "[::1]" and "user:password@" do not start a port.
  if (colon == std::string_view::npos || authority.find_first_of("]@", colon) != authority.npos) {
    return Authority{begin, end, end};
  }
  return Authority{begin, end, begin + colon};
}

struct RawField {
  std::string_view name;
  std::string_view whole;
};

std::vector<RawField> raw_fields(std::string_view query) {
  std::vector<RawField> fields;
  while (!query.empty() && fields.size() < kMaxFormFields) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view whole = query.substr(0, end);
    if (!whole.empty()) fields.push_back({whole.substr(0, whole.find('=')), whole});
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return fields;
}

void append_escape(std::string& to, std::uint32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  to += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) to += kDigits[unit >> shift & 0xf];
}

}  // namespace

std::optional<std::string> sorted_form(std::string_view body, bool unique) {
  std::optional<std::vector<FormField>> fields = parse_form(body);
  if (!fields) return std::nullopt;
  const auto by_name = [](const FormField& a, const FormField& b) { return a.name < b.name; };
  const auto by_all = [](const FormField& a, const FormField& b) {
    return a.name != b.name ? a.name < b.name : a.value < b.value;
  };
  const auto same = [](const FormField& a, const FormField& b) {
    return a.name == b.name && a.value == b.value;
  };
  if (unique) {
    std::sort(fields->begin(), fields->end(), by_all);
    fields->erase(std::unique(fields->begin(), fields->end(), same), fields->end());
  } else {
    std::stable_sort(fields->begin(), fields->end(), by_name);
  }
  std::string text;
  for (const FormField& field : *fields) text.append(field.name).append(field.value);
  return text;
}

std::string sorted_query(std::string_view url) {
  std::vector<RawField> fields = raw_fields(query_of(url));
  std::stable_sort(fields.begin(), fields.end(),
                   [](const RawField& a, const RawField& b) { return a.name < b.name; });
  std::string text;
  for (const RawField& field : fields) {
    if (!text.empty()) text += '&';
    text += field.whole;
  }
  return text;
}

std::string url_with_port(std::string_view url) {
  const std::optional<Authority> authority = authority_of(url);
  std::string text(url);
  if (!authority || authority->port != authority->end) return text;
  return text.insert(authority->end, url.starts_with("https:") ? ":443" : ":80");
}

std::string url_without_port(std::string_view url) {
  const std::optional<Authority> authority = authority_of(url);
  std::string text(url);
  if (!authority) return text;
  return text.erase(authority->port, authority->end - authority->port);
}

std::string_view path_of(std::string_view url) {
  const std::optional<Authority> authority = authority_of(url);
  const std::size_t begin = authority ? authority->end : 0;
  const std::string_view path = url.substr(begin, url.find('#', begin) - begin);
  return path.empty() ? "/" : path;
}

std::string hubspot_url(std::string_view url) {
  // The characters listed in HubSpot's documentation.
  constexpr std::string_view kDecoded = ":/?@!$'()*,;";
  std::string text;
  text.reserve(url.size());
  for (std::size_t i = 0; i < url.size(); ++i) {
    const std::string decoded = url[i] == '%' ? percent_decode(url.substr(i, 3)) : std::string();
    if (decoded.size() == 1 && kDecoded.find(decoded[0]) != std::string_view::npos) {
      text += decoded;
      i += 2;
    } else {
      text += url[i];
    }
  }
  return text;
}

std::optional<std::string> plivo_url(std::string_view method, std::string_view url,
                                     std::string_view body) {
  const std::string_view base = url.substr(0, url.find('?'));
  const std::string query = sorted_query(url);
  std::string text(base);
  const bool has_form = method == "POST" && !body.empty();
  if (!query.empty() || has_form) text += "?" + query;
  if (!has_form) return text;
  if (!query.empty()) text += '.';
  const std::optional<std::string> form = sorted_form(body, true);
  if (!form) return std::nullopt;
  return text + *form;
}

std::optional<std::string> ascii_json(std::string_view body) {
  std::string text;
  text.reserve(body.size() + body.size() / 4);
  bool escaped = false;  // the previous character was a backslash that escapes this one
  while (!body.empty()) {
    const auto [character, size] = first_character(body);
    if (size == 0) return std::nullopt;
    if (character >= 0x10000) {
      append_escape(text, 0xd800 + ((character - 0x10000) >> 10));
      append_escape(text, 0xdc00 + ((character - 0x10000) & 0x3ff));
    } else if (character >= 0x80) {
      append_escape(text, character);
    } else {
      if (character == '/' && !escaped) text += '\\';
      text += static_cast<char>(character);
    }
    escaped = character == '\\' && !escaped;
    body.remove_prefix(size);
  }
  return text;
}

bool inflate_gzip(std::string_view body, std::size_t limit, Sink& sink) {
  z_stream stream{};
  constexpr int kGzipOnly = 15 + 16;
  if (body.size() > UINT32_MAX || inflateInit2(&stream, kGzipOnly) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  std::size_t size = 0;
  std::array<char, 16384> chunk;
  int status = Z_OK;
  while (status == Z_OK && size <= limit) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = chunk.size();
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = chunk.size() - stream.avail_out;
    sink.add({chunk.data(), got});
    size += got;
  }
  const bool whole = status == Z_STREAM_END && stream.avail_in == 0 && size <= limit;
  inflateEnd(&stream);
  return whole;
}

std::string crc32_decimal(std::string_view body) {
  return std::to_string(
      crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<z_size_t>(body.size())));
}

}  // namespace hapax::verify_detail
