// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/field.hpp"
#include "verify/hmac.hpp"

#include <hapax/reason.hpp>
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

// Finds a header, under its alias too where the scheme has one.
class Headers {
 public:
  Headers(const Request& request, const std::array<std::string, 2>& alias)
      : request_(request), alias_(alias) {}
  HeaderValue find(std::string_view name) const;

 private:
  const Request& request_;
  const std::array<std::string, 2>& alias_;
};

// The body without its Content-Encoding. Anyone can make us decompress one before anything is known
// to be authentic: once for a request, and no further than the limit.
struct Inflated {
  std::size_t limit = kMaxInflated;
  std::optional<std::string> body = {};  // nothing: not yet, or it cannot be unpacked
  std::size_t times = 0;
  std::size_t bytes = 0;  // that came out, also of what was refused
};

// What a message is made of, at one verification.
struct Ingredients {
  const Request& request;
  const Headers& headers;
  FieldReader& fields;
  std::string_view time;  // as it is written
  std::string_view secret;
  std::string_view key_id;
  const std::vector<OwnedHeader>& parameters;
  JsonReader* item = nullptr;         // of a scheme that signs each item: JSON is read here
  std::string_view time_header = {};  // where the time is; a list of signed headers must have it
  Inflated* inflated = nullptr;       // null: unpacked for this message alone
};

// A message with {placeholders}, parsed. The vocabulary is in hapax/verify.hpp.
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
  // misconfigured: an unknown placeholder, or an open brace.
  static Result<Message> parse(std::string_view text);

  // Hands the message to `sink`, piece by piece. A failure says what the request lacks.
  MaybeFailure render(const Ingredients& from, Sink& sink) const;

  // Refuses values that could be moved from one part of the message to the next: the same signature
  // would then be good for another id or another body. In joints.cpp.
  MaybeFailure check_joints(const Ingredients& from, const TimePlace& time) const;
  bool has_joints() const { return !joints_.empty(); }

  // Whether putting it together costs more than a copy of it, and it is the same for all secrets.
  bool is_worth_keeping() const { return worth_keeping_; }

  // Whether the message ends with the secret. Otherwise a plain hash of it can be continued.
  bool ends_with_secret() const;

  bool uses(std::string_view placeholder) const;  // "key_id", "time", ...
  // The names of the {header:NAME}s.
  std::vector<std::string> headers() const { return names(Kind::header); }
  std::vector<std::string> listed_headers() const { return names(Kind::headers); }
  std::vector<std::string> parameters() const { return names(Kind::parameter); }

 private:
  struct Part {
    Kind kind;
    std::string name;        // of a text: the text
    std::string fence = {};  // of a JSON value: the text beside it, which must not be in it
  };
  struct Word;
  // Two values side by side, where one of them does not say by itself how long it is.
  struct Joint {
    enum class Kind : std::uint8_t { id_time, time_body, body_time, url_body, body_url, last };
    Kind kind;
    std::string header = {};             // of id_time and last: the header whose value it is
    std::string between = {};            // the text between the two
    std::optional<std::string> after{};  // of id_time: the text before the body that follows
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
