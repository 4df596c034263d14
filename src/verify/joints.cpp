// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/message.hpp"
#include "verify/signature.hpp"

#include <array>

// Some providers sign a concatenation of values, "ID.TIME.BODY", without escaping. If a value may
// contain the separator, the signed text can be split in several ways, and one captured signature
// is valid for several ids. These checks accept at most one split.
namespace hapax::verify_detail {

namespace {

constexpr std::size_t kLongestId = 1024;  // the maximum size of an event id
constexpr std::size_t kLongestTime = 64;
constexpr WallTime kEarliest{std::chrono::seconds(1'000'000'000)};  // earliest time in a body

// A set of characters, as a lookup table: it is queried for every byte of an id or URL.
class Letters {
 public:
  enum class Others : bool { ascii, all };

  // Letters, digits and `others`; with Others::all also all non-ASCII bytes.
  constexpr explicit Letters(std::string_view others, Others beyond = Others::ascii) {
    for (std::size_t each = 128; each < has_.size(); ++each) has_[each] = beyond == Others::all;
    for (const std::string_view all :
         {std::string_view("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
          others}) {
      for (const char each : all) has_[static_cast<unsigned char>(each)] = true;
    }
  }
  constexpr bool has(char c) const { return has_[static_cast<unsigned char>(c)]; }
  // The length of the prefix of `text` that consists of these characters.
  std::size_t at_start_of(std::string_view text) const {
    std::size_t size = 0;
    while (size < text.size() && has(text[size])) ++size;
    return size;
  }
  bool are_all_of(std::string_view text) const { return at_start_of(text) == text.size(); }

 private:
  std::array<bool, 256> has_{};
};

// An id without separators around the time: visible ASCII except '"' and the brackets that start
// JSON or markup.
constexpr Letters kStrictIdLetters("!#$%&'()*+,-./:;=?@\\^_`|~");
// A separated id: everything a header may contain, with the same exceptions.
constexpr Letters kIdLetters(" !#$%&'()*+,-./:;=?@\\^_`|~", Letters::Others::all);
constexpr Letters kNonceLetters("-_");
// The characters of RFC 3986 except the brackets of IPv6 hosts.
constexpr Letters kUrlLetters("-._~:/?#@!$&'()*+,;=%");

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Failure moved(std::string_view detail) {
  return {Reason::payload_unreadable,
          std::string(detail) + ", so its signature would also be valid for another request"};
}

// Whether `text` starts with a time that is followed by `after`.
bool starts_with_time(std::string_view text, std::string_view after, TimeFormat format,
                      WallTime earliest) {
  text = text.substr(0, kLongestTime + after.size());
  for (std::size_t end = text.find(after); end != text.npos; end = text.find(after, end + 1)) {
    const std::optional<WallTime> time = read_time(text.substr(0, end), format);
    if (time && *time >= earliest) return true;
  }
  return false;
}

// Whether the start of the body could be the end of an id, followed by another time.
bool continues_id(std::string_view body, std::string_view between, std::string_view after,
                  TimeFormat format) {
  if (body.empty()) return false;
  if (between.empty() || after.empty()) return kStrictIdLetters.has(body.front());
  if (!kIdLetters.has(body.front())) return false;
  if (starts_with_time(body, after, format, WallTime())) return true;
  const std::string_view letters =
      body.substr(0, kIdLetters.at_start_of(body.substr(0, kLongestId)));
  for (std::size_t at = letters.find(between); at != letters.npos;
       at = letters.find(between, at + 1)) {
    if (starts_with_time(body.substr(at + between.size()), after, format, kEarliest)) return true;
  }
  return false;
}

// A digit more or less changes a time by a factor of ten, which only an open window accepts.
bool digits_may_move(const TimePlace& time) {
  const bool number =
      time.format == TimeFormat::unix_seconds || time.format == TimeFormat::unix_milliseconds;
  return number && (time.past == kNoLimit || time.past > std::chrono::hours(24 * 3650));
}

MaybeFailure check_after_time(std::string_view body, const TimePlace& time) {
  if (body.empty()) return std::nullopt;
  const bool moves = time.format == TimeFormat::opaque
                         ? is_time_like(body.substr(0, 1))
                         : digits_may_move(time) && is_digit(body.front());
  if (!moves) return std::nullopt;
  return moved("the body begins with what could be the end of the time");
}

MaybeFailure check_before_time(std::string_view body, const TimePlace& time) {
  if (body.empty() || !digits_may_move(time) || !is_digit(body.back())) return std::nullopt;
  return moved("the body ends with a digit, which could be the time's");
}

bool has_query(std::string_view url) {
  return url.find('?') != url.npos;
}

// A URL without a query is fixed by the source's configuration, so only URLs with a query are
// checked.
MaybeFailure check_query(std::string_view url) {
  if (!has_query(url) || kUrlLetters.are_all_of(url)) return std::nullopt;
  return Failure{Reason::header_malformed, "the URL contains invalid characters"};
}

MaybeFailure check_after_url(std::string_view body, std::string_view url) {
  if (MaybeFailure failure = check_query(url)) return failure;
  if (body.empty()) return std::nullopt;
  const bool moves = body.front() == '?' || (has_query(url) && kUrlLetters.has(body.front()));
  if (!moves) return std::nullopt;
  return moved("the body begins with what could be the end of the URL");
}

MaybeFailure check_before_url(std::string_view body, std::string_view url) {
  if (MaybeFailure failure = check_query(url)) return failure;
  std::size_t begin = body.size();
  while (begin > 0 && kUrlLetters.has(body[begin - 1])) --begin;
  const std::string_view tail = body.substr(begin);
  const bool moves = (has_query(url) && !tail.empty()) || tail.find("://") != tail.npos;
  if (!moves) return std::nullopt;
  return moved("the body ends with what could be the start of the URL");
}

}  // namespace

std::optional<Message::Joint> Message::joint_of(const Part& left, const std::string& between,
                                                const Part& right) {
  const auto is_body = [](const Part& part) {
    return part.kind == Kind::body || part.kind == Kind::body_ascii;
  };
  const auto is_url = [](const Part& part) {
    return part.kind == Kind::url || part.kind == Kind::url_port ||
           part.kind == Kind::url_no_port || part.kind == Kind::url_hubspot ||
           part.kind == Kind::path;
  };
  // Header values contain no line breaks, so a value that ends at one cannot extend past it.
  const bool ends = between.find_first_of("\r\n") != between.npos;
  if (left.kind == Kind::header && right.kind == Kind::time && !ends) {
    return Joint{.kind = Joint::Kind::id_time, .header = left.name, .between = between};
  }
  if (!between.empty()) return std::nullopt;
  if (left.kind == Kind::time && is_body(right)) return Joint{.kind = Joint::Kind::time_body};
  if (is_body(left) && right.kind == Kind::time) return Joint{.kind = Joint::Kind::body_time};
  if (is_url(left) && is_body(right)) return Joint{.kind = Joint::Kind::url_body};
  if (is_body(left) && is_url(right)) return Joint{.kind = Joint::Kind::body_url};
  return std::nullopt;
}

void Message::find_joints() {
  const Part* left = nullptr;
  std::string between;
  for (const Part& part : parts_) {
    if (part.kind == Kind::text) {
      between += part.name;
      continue;
    }
    const bool after_id = !joints_.empty() && joints_.back().kind == Joint::Kind::id_time &&
                          left != nullptr && left->kind == Kind::time;
    if (after_id && part.kind == Kind::body) joints_.back().after = between;
    std::optional<Joint> joint = left == nullptr ? std::nullopt : joint_of(*left, between, part);
    if (joint) joints_.push_back(std::move(*joint));
    // Plivo: the values before the nonce may contain any character, so the split is unique only if
    // the nonce at the end cannot contain the separator.
    const bool last = left != nullptr && left->kind == Kind::url_plivo && !between.empty() &&
                      part.kind == Kind::header && &part == &parts_.back();
    if (last) joints_.push_back({.kind = Joint::Kind::last, .header = part.name});
    left = &part;
    between.clear();
  }
}

MaybeFailure Message::check(const Joint& joint, const Ingredients& from, const TimePlace& time) {
  const std::string_view body = from.request.body;
  const std::string_view url = from.request.url;
  switch (joint.kind) {
    case Joint::Kind::id_time: {
      const std::string_view id = from.headers.find(joint.header).text;
      const bool is_separated = !joint.between.empty() && joint.after && !joint.after->empty();
      const Letters& letters = is_separated ? kIdLetters : kStrictIdLetters;
      if (id.size() > kLongestId || !letters.are_all_of(id)) {
        return Failure{
            Reason::header_malformed,
            "the header '" + joint.header +
                "' is too long, or contains characters not allowed in an id before a time"};
      }
      if (!joint.after || !continues_id(body, joint.between, *joint.after, time.format)) {
        return std::nullopt;
      }
      return moved("the body begins with what could be the end of an id and a time");
    }
    case Joint::Kind::time_body:
      return check_after_time(body, time);
    case Joint::Kind::body_time:
      return check_before_time(body, time);
    case Joint::Kind::url_body:
      return check_after_url(body, url);
    case Joint::Kind::body_url:
      return check_before_url(body, url);
    case Joint::Kind::last:
      if (kNonceLetters.are_all_of(from.headers.find(joint.header).text)) return std::nullopt;
      return Failure{
          Reason::header_malformed,
          "the header '" + joint.header + "' may contain only letters, digits, '-' and '_'"};
  }
  return std::nullopt;
}

MaybeFailure Message::check_joints(const Ingredients& from, const TimePlace& time) const {
  for (const Joint& joint : joints_) {
    if (MaybeFailure failure = check(joint, from, time)) return failure;
  }
  return std::nullopt;
}

}  // namespace hapax::verify_detail
