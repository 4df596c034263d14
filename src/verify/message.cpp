// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/message.hpp"

#include "base/ascii.hpp"
#include "base/form.hpp"
#include "base/hex.hpp"
#include "verify/canonical.hpp"

#include <algorithm>
#include <array>

namespace hapax::verify_detail {

namespace {

constexpr std::size_t kSmall = 64UL << 10;    // decompressed size that is allowed at any ratio
constexpr std::size_t kMaxHeaderList = 4096;  // bytes
constexpr std::size_t kMaxListedHeaders = 64;

std::string in_quotes(std::string_view word) {
  return "'" + std::string(word) + "'";
}

Failure missing(std::string_view what, std::string_view name) {
  return {Reason::signature_missing,
          std::string(what) + " " + in_quotes(name) + ", which the signature covers, is missing"};
}

Failure unreadable(std::string detail) {
  return {Reason::payload_unreadable, std::move(detail)};
}

Failure too_long(std::string_view list_name) {
  return {Reason::header_malformed,
          "the header " + in_quotes(list_name) + " lists too many headers"};
}

MaybeFailure add_if(const std::optional<std::string>& text, std::string_view why_not, Sink& sink) {
  if (!text) return unreadable(std::string(why_not));
  sink.add(*text);
  return std::nullopt;
}

// "name:value" of the headers that the header `list_name` lists, in the order of the list.
MaybeFailure add_listed_headers(std::string_view list_name, const Ingredients& from, Sink& sink) {
  const HeaderValue list = from.headers.find(list_name);
  if (list.status != FieldStatus::found) return missing("the header", list_name);
  if (list.text.size() > kMaxHeaderList) return too_long(list_name);
  std::string_view rest = list.text;
  std::size_t count = 0;
  // Otherwise a captured request could be replayed with another time.
  bool time_is_signed = from.time_header.empty();
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const HeaderValue value = from.headers.find(name);
    if (value.status != FieldStatus::found) {
      return Failure{Reason::signature_missing, "a header that " + in_quotes(list_name) +
                                                    " lists does not occur exactly once"};
    }
    if (++count > kMaxListedHeaders) return too_long(list_name);
    if (count > 1) sink.add(";");
    time_is_signed = time_is_signed || equal_ignoring_case(name, from.time_header);
    sink.add(to_lower(std::string(name)));
    sink.add(":");
    sink.add(value.text);
  }
  if (time_is_signed) return std::nullopt;
  return Failure{Reason::signature_invalid,
                 in_quotes(list_name) + " does not list the header with the time"};
}

struct JsonPart {
  std::string_view pointer;
  std::string_view fence;
  bool optional;
};

MaybeFailure add_json(const JsonPart& part, const Ingredients& from, Sink& sink) {
  const std::string_view pointer = part.pointer;
  JsonReader* json = from.item != nullptr ? from.item : from.fields.json();
  if (json == nullptr) return unreadable("the body is not JSON");
  const JsonValue value = json->at(pointer);
  if (value.status == JsonStatus::unreadable) return unreadable("the body is not JSON");
  const bool there = value.status == JsonStatus::found && value.kind != JsonKind::null;
  if (value.status == JsonStatus::ambiguous) {
    return unreadable("the body has " + in_quotes(pointer) + " twice");
  }
  if (there && (value.kind == JsonKind::object || value.kind == JsonKind::array)) {
    return unreadable(in_quotes(pointer) + " in the body is not a plain value");
  }
  if (there && !part.fence.empty() && value.text.find(part.fence) != std::string::npos) {
    return unreadable(in_quotes(pointer) +
                      " in the body contains the separator of the signed values");
  }
  if (there) {
    sink.add(value.text);
  } else if (!part.optional) {
    return missing("the body's", pointer);
  }
  return std::nullopt;
}

MaybeFailure add_field(Field::From place, const std::string& name, const Ingredients& from,
                       Sink& sink) {
  const FieldValue value = from.fields.read({place, name});
  if (value.status == FieldStatus::found) {
    sink.add(value.text);
    return std::nullopt;
  }
  if (value.status == FieldStatus::ambiguous) {
    return Failure{Reason::header_malformed, in_quotes(name) + " occurs more than once"};
  }
  return missing("the field", name);
}

MaybeFailure add_base64_field(const std::string& name, const Ingredients& from, Sink& sink) {
  const FieldValue value = from.fields.read({Field::From::form, name});
  if (value.status != FieldStatus::found || value.text.empty()) return missing("the field", name);
  const auto allowed = [](char c) { return is_alphanumeric_or("+/=\n", c); };
  if (!std::all_of(value.text.begin(), value.text.end(), allowed)) {
    return unreadable("the field " + in_quotes(name) + " is not base64");
  }
  sink.add(value.text);
  return std::nullopt;
}

MaybeFailure inflate(std::string_view body, Inflated& inflated) {
  const std::size_t limit =
      std::min({inflated.limit, kMaxInflated, std::max(kSmall, body.size() * kMaxInflatedRatio)});
  StringSink text;
  const bool whole = inflate_gzip(body, limit, text);
  ++inflated.times;
  inflated.bytes += text.text.size();
  if (text.text.size() > limit) {
    return Failure{Reason::body_too_large,
                   "the decompressed body exceeds " + std::to_string(limit) + " bytes"};
  }
  if (whole) inflated.body = std::move(text.text);
  return std::nullopt;
}

MaybeFailure add_inflated(const Ingredients& from, Sink& sink) {
  const HeaderValue encoding = from.headers.find("content-encoding");
  if (encoding.status != FieldStatus::found || !equal_ignoring_case(encoding.text, "gzip")) {
    sink.add(from.request.body);
    return std::nullopt;
  }
  Inflated own;
  Inflated& inflated = from.inflated != nullptr ? *from.inflated : own;
  if (inflated.times == 0) {
    if (MaybeFailure failure = inflate(from.request.body, inflated)) return failure;
  }
  return add_if(inflated.body, "the body is not valid gzip", sink);
}

// find_header() for a name given in two pieces.
HeaderValue find_header_in_two(const Request& request, std::string_view start,
                               std::string_view end) {
  HeaderValue value;
  for (const Header& header : request.headers) {
    const bool is = header.name.size() == start.size() + end.size() &&
                    equal_ignoring_case(header.name.substr(0, start.size()), start) &&
                    equal_ignoring_case(header.name.substr(start.size()), end);
    if (!is) continue;
    if (value.status == FieldStatus::found) return {FieldStatus::ambiguous, {}};
    value = {FieldStatus::found, header.value};
  }
  return value;
}

}  // namespace

HeaderValue Headers::find(std::string_view name) const {
  const HeaderValue value = find_header(request_, name);
  const std::string_view from = alias_[0];
  if (value.status != FieldStatus::absent || from.empty() || name.size() < from.size() ||
      !equal_ignoring_case(name.substr(0, from.size()), from)) {
    return value;
  }
  return find_header_in_two(request_, alias_[1], name.substr(from.size()));
}

// A placeholder: the word, and whether ":NAME" follows it.
struct Message::Word {
  std::string_view word;
  bool named;
  Kind kind;
};

const Message::Word* Message::find_word(std::string_view placeholder) {
  // Specific words first: {query:sorted} would also match {query:NAME}.
  static constexpr std::array kWords = {
      Word{"body:item", true, Kind::body_item},
      Word{"body:sha256_hex", false, Kind::body_sha256_hex},
      Word{"body:sha256", false, Kind::body_sha256},
      Word{"body:crc32", false, Kind::body_crc32},
      Word{"body:inflated", false, Kind::body_inflated},
      Word{"body:ascii", false, Kind::body_ascii},
      Word{"body", false, Kind::body},
      Word{"method", false, Kind::method},
      Word{"url:port", false, Kind::url_port},
      Word{"url:no_port", false, Kind::url_no_port},
      Word{"url:hubspot", false, Kind::url_hubspot},
      Word{"url:plivo", false, Kind::url_plivo},
      Word{"url", false, Kind::url},
      Word{"path", false, Kind::path},
      Word{"time", false, Kind::time},
      Word{"secret", false, Kind::secret},
      Word{"key_id", false, Kind::key_id},
      Word{"param", true, Kind::parameter},
      Word{"headers", true, Kind::headers},
      Word{"header", true, Kind::header},
      Word{"query:sorted", false, Kind::query_sorted},
      Word{"query", true, Kind::query},
      Word{"json?", true, Kind::json_optional},
      Word{"json*", true, Kind::json_free},
      Word{"json", true, Kind::json},
      Word{"form:base64", true, Kind::form_base64},
      Word{"form:sorted_unique", false, Kind::form_sorted_unique},
      Word{"form:sorted", false, Kind::form_sorted},
      Word{"form", true, Kind::form},
  };
  const auto matches = [placeholder](const Word& word) {
    if (!word.named) return placeholder == word.word;
    return placeholder.starts_with(word.word) && placeholder.size() > word.word.size() + 1 &&
           placeholder[word.word.size()] == ':';
  };
  const auto* found = std::find_if(kWords.begin(), kWords.end(), matches);
  return found == kWords.end() ? nullptr : found;
}

Result<Message> Message::parse(std::string_view text) {
  Message message;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    if (open > 0) message.parts_.push_back({Kind::text, std::string(text.substr(0, open))});
    text.remove_prefix(open);
    if (text.empty()) break;
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) {
      return Error(Code::misconfigured, "in the signed text, a '{' has no '}'");
    }
    const std::string_view placeholder = text.substr(1, close - 1);
    const Word* word = find_word(placeholder);
    if (word == nullptr) {
      return Error(Code::misconfigured,
                   "in the signed text, {" + std::string(placeholder) +
                       "} is unknown; use {body}, {time}, {header:NAME}, {url}, {method}, "
                       "{path}, {json:/pointer}, {form:NAME} or {query:NAME}");
    }
    std::string name;
    if (word->named) name = placeholder.substr(word->word.size() + 1);
    message.parts_.push_back({word->kind, std::move(name)});
    text.remove_prefix(close + 1);
  }
  message.fence_json();
  message.find_joints();
  message.find_worth();
  return message;
}

// A value that contains the adjacent text makes the split of the message ambiguous: the same
// signature would be valid for another id.
void Message::fence_json() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kind != Kind::json && parts_[i].kind != Kind::json_optional) continue;
    const bool before = i > 0 && parts_[i - 1].kind == Kind::text;
    const bool after = i + 1 < parts_.size() && parts_[i + 1].kind == Kind::text;
    if (after || before) parts_[i].fence = parts_[after ? i + 1 : i - 1].name;
  }
}

MaybeFailure Message::render(const Ingredients& from, Sink& sink) const {
  for (const Part& part : parts_) {
    if (MaybeFailure failure = render(part, from, sink)) return failure;
  }
  return std::nullopt;
}

MaybeFailure Message::render(const Part& part, const Ingredients& from, Sink& sink) {
  switch (part.kind) {
    case Kind::text:
      sink.add(part.name);
      return std::nullopt;
    case Kind::body:
      sink.add(from.request.body);
      return std::nullopt;
    case Kind::time:
      sink.add(from.time);
      return std::nullopt;
    case Kind::secret:
      sink.add(from.secret);
      return std::nullopt;
    case Kind::key_id:
      sink.add(from.key_id);
      return std::nullopt;
    case Kind::method:
      sink.add(from.request.method);
      return std::nullopt;
    case Kind::url:
      sink.add(from.request.url);
      return std::nullopt;
    case Kind::path:
      sink.add(path_of(from.request.url));
      return std::nullopt;
    case Kind::url_port:
      sink.add(url_with_port(from.request.url));
      return std::nullopt;
    case Kind::url_no_port:
      sink.add(url_without_port(from.request.url));
      return std::nullopt;
    case Kind::url_hubspot:
      sink.add(hubspot_url(from.request.url));
      return std::nullopt;
    case Kind::query_sorted:
      sink.add(sorted_query(from.request.url));
      return std::nullopt;
    case Kind::url_plivo:
      return add_if(plivo_url(from.request.method, from.request.url, from.request.body),
                    "the body has too many form fields", sink);
    default:
      return render_named(part, from, sink);
  }
}

MaybeFailure Message::render_named(const Part& part, const Ingredients& from, Sink& sink) {
  switch (part.kind) {
    case Kind::header: {
      const HeaderValue value = from.headers.find(part.name);
      if (value.status == FieldStatus::ambiguous) {
        return Failure{Reason::header_malformed,
                       "the header " + in_quotes(part.name) + " occurs more than once"};
      }
      if (value.status != FieldStatus::found) return missing("the header", part.name);
      sink.add(value.text);
      return std::nullopt;
    }
    case Kind::parameter:
      for (const OwnedHeader& parameter : from.parameters) {
        if (parameter.name == part.name) sink.add(parameter.value);
      }
      return std::nullopt;
    case Kind::headers:
      return add_listed_headers(part.name, from, sink);
    case Kind::query:
      return add_field(Field::From::query, part.name, from, sink);
    case Kind::form:
      return add_field(Field::From::form, part.name, from, sink);
    case Kind::form_base64:
      return add_base64_field(part.name, from, sink);
    case Kind::json:
      return add_json({part.name, part.fence, false}, from, sink);
    case Kind::json_optional:
      return add_json({part.name, part.fence, true}, from, sink);
    case Kind::json_free:
      return add_json({part.name, "", true}, from, sink);
    case Kind::form_sorted:
    case Kind::form_sorted_unique:
      return add_if(sorted_form(from.request.body, part.kind == Kind::form_sorted_unique),
                    "the body has too many form fields", sink);
    default:
      return render_body(part, from, sink);
  }
}

MaybeFailure Message::render_body(const Part& part, const Ingredients& from, Sink& sink) {
  const std::string_view body = from.request.body;
  switch (part.kind) {
    case Kind::body_sha256:
      sink.add(hash_of(Hash::sha256, body).view());
      return std::nullopt;
    case Kind::body_sha256_hex:
      sink.add(to_hex(hash_of(Hash::sha256, body).view()));
      return std::nullopt;
    case Kind::body_crc32:
      sink.add(crc32_decimal(body));
      return std::nullopt;
    case Kind::body_ascii:
      return add_if(ascii_json(body), "the body is not UTF-8", sink);
    case Kind::body_inflated:
      return add_inflated(from, sink);
    case Kind::body_item: {
      JsonReader* json = from.fields.json();
      if (json == nullptr) return unreadable("the body is not JSON");
      const JsonValue value = json->at(part.name);
      if (value.status == JsonStatus::absent) return missing("the body's", part.name);
      if (value.status != JsonStatus::found)
        return unreadable("the body is not JSON, or ambiguous");
      sink.add(value.raw);
      return std::nullopt;
    }
    default:
      return std::nullopt;  // other kinds are handled by the callers
  }
}

void Message::find_worth() {
  const auto is_plain = [](const Part& part) {
    switch (part.kind) {
      case Kind::text:
      case Kind::body:
      case Kind::method:
      case Kind::url:
      case Kind::path:
      case Kind::time:
      case Kind::key_id:
      case Kind::parameter:
      case Kind::header:
        return true;
      default:
        return false;
    }
  };
  worth_keeping_ = !uses("secret") && !std::all_of(parts_.begin(), parts_.end(), is_plain);
}

bool Message::ends_with_secret() const {
  return !parts_.empty() && parts_.back().kind == Kind::secret;
}

bool Message::uses(std::string_view placeholder) const {
  const Word* word = find_word(placeholder);
  return word != nullptr && std::any_of(parts_.begin(), parts_.end(), [word](const Part& part) {
           return part.kind == word->kind;
         });
}

std::vector<std::string> Message::names(Kind kind) const {
  std::vector<std::string> names;
  for (const Part& part : parts_) {
    if (part.kind == kind) names.push_back(part.name);
  }
  return names;
}

}  // namespace hapax::verify_detail
