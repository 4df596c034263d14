// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/field.hpp"
#include "verify/hmac.hpp"

#include <hapax/verify.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::verify_detail {

struct Failure {
  Reason reason;
  std::string detail;
};
using MaybeFailure = std::optional<Failure>;

// Finds headers by name, or by the scheme's alias of the name.
class Headers {
 public:
  Headers(const Request& request, const std::array<std::string, 2>& alias)
      : request_(request), alias_(alias) {}
  HeaderValue find(std::string_view name) const;

 private:
  const Request& request_;
  const std::array<std::string, 2>& alias_;
};

// The decompressed body. Decompression precedes authentication, so anyone can cause it: it runs
// once per request and stops at the limit.
struct Inflated {
  std::size_t limit = kMaxInflated;
  std::optional<std::string> body = {};  // nullopt: not yet decompressed, or invalid
  std::size_t times = 0;
  std::size_t bytes = 0;  // decompressed bytes, those of rejected bodies included
};

// The inputs for rendering a message.
struct Ingredients {
  const Request& request;
  const Headers& headers;
  FieldReader& fields;
  std::string_view time;  // verbatim
  std::string_view secret;
  std::string_view key_id;
  const std::vector<OwnedHeader>& parameters;
  JsonReader* item = nullptr;         // set if the scheme signs each item: JSON is read from it
  std::string_view time_header = {};  // must be in a list of signed headers
  Inflated* inflated = nullptr;       // null: decompressed for this message only
};

// A parsed message with {placeholders}, which hapax/verify.hpp lists.
class Message {
  enum class Kind : std::uint8_t {
    text,
    body,
    body_sha256,
    body_sha256_hex,
    body_crc32,
    body_inflated,
    body_ascii,
    body_item,
    method,
    url,
    url_port,
    url_no_port,
    url_hubspot,
    url_plivo,
    path,
    time,
    secret,
    key_id,
    parameter,
    header,
    headers,
    query,
    query_sorted,
    json,
    json_optional,
    json_free,
    form,
    form_base64,
    form_sorted,
    form_sorted_unique,
  };

 public:
  // misconfigured: an unknown placeholder or an unclosed brace.
  static Result<Message> parse(std::string_view text);

  // Writes the message to `sink`, in pieces. A failure describes the missing or invalid value.
  MaybeFailure render(const Ingredients& from, Sink& sink) const;

  // Rejects values that could be moved from one part of the message to the next, so that the
  // signature would be valid for another id or body. Defined in joints.cpp.
  MaybeFailure check_joints(const Ingredients& from, const TimePlace& time) const;
  bool has_joints() const { return !joints_.empty(); }

  // Whether the rendered message should be cached: rendering costs more than copying, and the
  // result is the same for all secrets.
  bool is_worth_keeping() const { return worth_keeping_; }

  // Whether the message ends with the secret. If not, a plain hash allows length extension.
  bool ends_with_secret() const;

  bool uses(std::string_view placeholder) const;  // "key_id", "time", ...
  // The names of the {header:NAME}s.
  std::vector<std::string> headers() const { return names(Kind::header); }
  std::vector<std::string> listed_headers() const { return names(Kind::headers); }
  std::vector<std::string> parameters() const { return names(Kind::parameter); }

 private:
  struct Part {
    Kind kind;
    std::string name;        // for text: the text itself
    std::string fence = {};  // for JSON: the adjacent text, which the value must not contain
  };
  struct Word;
  // Two adjacent values, one of which is not self-delimiting.
  struct Joint {
    enum class Kind : std::uint8_t { id_time, time_body, body_time, url_body, body_url, last };
    Kind kind;
    std::string header = {};             // for id_time and last: the header with the value
    std::string between = {};            // the text between the values
    std::optional<std::string> after{};  // for id_time: the text between the time and the body
  };

  void find_joints();
  void find_worth();
  static std::optional<Joint> joint_of(const Part& left, const std::string& between,
                                       const Part& right);
  static MaybeFailure check(const Joint& joint, const Ingredients& from, const TimePlace& time);

  std::vector<std::string> names(Kind kind) const;
  void fence_json();
  static const Word* find_word(std::string_view placeholder);
  static MaybeFailure render(const Part& part, const Ingredients& from, Sink& sink);
  static MaybeFailure render_named(const Part& part, const Ingredients& from, Sink& sink);
  static MaybeFailure render_body(const Part& part, const Ingredients& from, Sink& sink);

  std::vector<Part> parts_;
  std::vector<Joint> joints_;
  bool worth_keeping_ = false;
};

}  // namespace hapax::verify_detail
