// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/json.hpp"

#include "base/ascii.hpp"
#include "base/json_pointer.hpp"

#include <hapax/verify.hpp>

#define SIMDJSON_EXCEPTIONS 0  // errors are codes
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace hapax {

namespace {

namespace ondemand = simdjson::ondemand;

static_assert(kBodyPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::size_t kLeastCapacity = 4UL << 10;
constexpr std::size_t kKeptCapacity = 1UL << 20;  // larger buffers are not kept
constexpr std::size_t kLargestDocument = 1UL << 30;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kSpace = " \t\r\n";

bool is_ascii(char letter) {
  return static_cast<unsigned char>(letter) < 0x80;
}

std::string_view without_space_after(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

std::size_t skip_digits(std::string_view text, std::size_t from) {
  while (from < text.size() && is_digit(text[from])) ++from;
  return from;
}

// Checks the grammar of RFC 8259, not the range: a number is kept as text.
bool is_number(std::string_view text) {
  std::size_t at = !text.empty() && text.front() == '-' ? 1 : 0;
  const std::size_t whole = at;
  at = skip_digits(text, whole);
  if (at == whole || (text[whole] == '0' && at > whole + 1)) return false;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = at + 1;
    at = skip_digits(text, fraction);
    if (at == fraction) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    at = skip_digits(text, exponent);
    if (at == exponent) return false;
  }
  return at == text.size();
}

// The kind of a scalar token; nullopt if it is not JSON. Escapes are not checked.
std::optional<JsonKind> kind_of(std::string_view token) {
  if (token == "null") return JsonKind::null;
  if (token == "true" || token == "false") return JsonKind::boolean;
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') return JsonKind::string;
  if (is_number(token)) return JsonKind::number;
  return std::nullopt;
}

// One document and its parse buffers.
class Source {
 public:
  bool open(std::string_view document, std::size_t padding) {
    given_ = document;
    readable_ = false;
    // Whether simdjson skips a byte order mark depends on its version.
    if (document.empty() || document.starts_with(kByteOrderMark)) return false;
    if (!fit(document.size())) return false;
    read_ = can_stay(padding) ? document.data() : padded_copy();
    masked_ = false;
    simdjson::error_code failure = iterate();
    if (failure == simdjson::UTF8_ERROR) {
      mask();
      failure = iterate();
    }
    readable_ = failure == simdjson::SUCCESS;
    return readable_;
  }

  bool readable() const { return readable_; }
  // The document is not UTF-8; it is parsed with a '?' in place of each non-ASCII byte.
  bool masked() const { return masked_; }
  // simdjson cannot continue after an error, and a document with one invalid part is not JSON.
  void give_up() { readable_ = false; }

  // Must be called once before each walk.
  ondemand::document& rewound() {
    document_.rewind();
    return document_;
  }

  // After a walk over the outermost object or array: true if nothing follows it.
  bool at_end() { return document_.current_location().error() == simdjson::OUT_OF_BOUNDS; }

  // In an unclosed array simdjson takes a comma in the padding for an element separator.
  bool holds(std::string_view token) const {
    const std::size_t begin = static_cast<std::size_t>(token.data() - read_);
    return begin < given_.size() && token.size() <= given_.size() - begin;
  }

  bool is_last(std::string_view token) const {
    return token.data() + token.size() == read_ + given_.size();
  }

  // The same bytes in the caller's document.
  std::string_view given(std::string_view slice) const {
    return given_.substr(static_cast<std::size_t>(slice.data() - read_), slice.size());
  }

  // `inside`: a string of this document without its quotes.
  bool unescape(std::string_view inside, std::string& out) const {
    out.resize(inside.size() + simdjson::SIMDJSON_PADDING);  // simdjson writes in blocks
    auto* end = reinterpret_cast<std::uint8_t*>(out.data());
    const ondemand::raw_json_string text(reinterpret_cast<const std::uint8_t*>(inside.data()));
    std::string_view unescaped;
    if (parser_.unescape(text, end).get(unescaped) != simdjson::SUCCESS) return false;
    out.resize(unescaped.size());
    return true;
  }

 private:
  simdjson::error_code iterate() {
    const std::size_t size = given_.size();
    return parser_.iterate(read_, size, size + kBodyPadding).get(document_);
  }

  // A signed body may contain invalid UTF-8 in a field that is never read. JSON structure is ASCII
  // and the masked copy has the same length, so slices map to the given document.
  void mask() {
    read_ = padded_copy();
    std::replace_if(
        copy_.begin(), copy_.end(), [](char letter) { return !is_ascii(letter); }, '?');
    masked_ = true;
  }

  bool fit(std::size_t size) {
    if (size > kLargestDocument) return false;
    const bool large = parser_.capacity() > kKeptCapacity;
    if (large && size <= kKeptCapacity) {
      parser_ = ondemand::parser();
      std::string().swap(copy_);
    }
    if (size <= parser_.capacity()) return true;
    const std::size_t wanted =
        size > kKeptCapacity ? size : std::max(kLeastCapacity, std::bit_ceil(size));
    return parser_.allocate(wanted) == simdjson::SUCCESS;
  }

  // simdjson reads the byte after a document and is stricter if it is a bracket. The result must
  // not depend on where the document lies.
  bool can_stay(std::size_t padding) const {
    if (padding < kBodyPadding) return false;
    const char next = *(given_.data() + given_.size());
    return next != '}' && next != ']';
  }

  const char* padded_copy() {
    copy_.reserve(given_.size() + kBodyPadding);
    copy_.assign(given_);
    copy_.append(kBodyPadding, ' ');
    return copy_.data();
  }

  ondemand::parser parser_;
  ondemand::document document_;
  std::string copy_;
  std::string_view given_;
  const char* read_ = nullptr;  // the parsed bytes, followed by padding
  bool readable_ = false;
  bool masked_ = false;
};

// Resolves a pointer and passes each match to `take(kind, slice)`, which returns whether to
// continue. Every object on the path is read to its end, because a repeated member is ambiguous.
// Recursion is at most one level per step of the pointer; values off the path are skipped by
// counting brackets, at any depth.
template <class Take>
class Walk {
 public:
  Walk(Source& source, bool stars, Take take) : source_(source), take_(take), stars_(stars) {}

  JsonStatus along(std::string_view pointer) {
    const JsonStatus status = source_.readable() ? from_root(pointer) : JsonStatus::unreadable;
    if (status == JsonStatus::unreadable) source_.give_up();
    return status;
  }

 private:
  JsonStatus from_root(std::string_view pointer) {
    ondemand::document& document = source_.rewound();
    std::string_view token;
    if (document.raw_json_token().get(token)) return JsonStatus::unreadable;
    if (token.front() != '{' && token.front() != '[') return root_scalar(token, pointer);
    const JsonStatus status = container(document, token.front() == '{', pointer);
    const bool whole = status == JsonStatus::found || status == JsonStatus::absent;
    return whole && !stopped_ && !source_.at_end() ? JsonStatus::unreadable : status;
  }

  JsonStatus root_scalar(std::string_view token, std::string_view pointer) {
    if (!source_.is_last(token)) return JsonStatus::unreadable;
    const JsonStatus status = scalar(token);
    return status == JsonStatus::found && !pointer.empty() ? JsonStatus::absent : status;
  }

  // `From` is the document or a value in it.
  template <class From>
  JsonStatus container(From& from, bool is_object, std::string_view pointer) {
    if (is_object) {
      ondemand::object object;
      if (from.get_object().get(object)) return JsonStatus::unreadable;
      return pointer.empty() ? whole(object, JsonKind::object) : members(object, pointer);
    }
    ondemand::array array;
    if (from.get_array().get(array)) return JsonStatus::unreadable;
    return pointer.empty() ? whole(array, JsonKind::array) : elements(array, pointer);
  }

  JsonStatus value(ondemand::value value, std::string_view pointer) {
    const std::string_view token = value.raw_json_token();
    if (!source_.holds(token)) return JsonStatus::unreadable;
    if (token.front() == '{' || token.front() == '[') {
      return container(value, token.front() == '{', pointer);
    }
    return pointer.empty() ? scalar(token) : JsonStatus::absent;
  }

  JsonStatus members(ondemand::object& object, std::string_view pointer) {
    const PointerStep step(pointer);
    JsonStatus status = JsonStatus::absent;
    bool seen = false;
    for (auto next : object) {
      ondemand::field field;
      if (std::move(next).get(field)) return JsonStatus::unreadable;
      const std::optional<bool> same = is_called(field.key().raw(), step.name());
      if (!same) return JsonStatus::unreadable;
      if (!*same) continue;
      if (seen) return JsonStatus::ambiguous;
      seen = true;
      status = value(field.value(), step.rest());
      if (is_final(status)) return status;
    }
    return status;
  }

  // With a star, one element without the rest of the path makes the result absent.
  JsonStatus elements(ondemand::array& array, std::string_view pointer) {
    const PointerStep step(pointer);
    const bool every = stars_ && step.is_star();
    const std::optional<std::size_t> wanted = step.index();
    JsonStatus status = every ? JsonStatus::found : JsonStatus::absent;
    std::size_t index = 0;
    for (auto next : array) {
      ondemand::value element;
      if (next.get(element)) return JsonStatus::unreadable;
      const bool this_one = every ? status == JsonStatus::found : wanted == index;
      ++index;
      if (!this_one) continue;
      status = value(element, step.rest());
      if (is_final(status)) return status;
    }
    return status;
  }

  bool is_final(JsonStatus status) const {
    return stopped_ || status == JsonStatus::ambiguous || status == JsonStatus::unreadable;
  }

  template <class Container>
  JsonStatus whole(Container& container, JsonKind kind) {
    std::string_view slice;
    if (container.raw_json().get(slice)) return JsonStatus::unreadable;
    return take(kind, without_space_after(slice));
  }

  JsonStatus scalar(std::string_view token) {
    token = without_space_after(token);
    const std::optional<JsonKind> kind = kind_of(token);
    return kind ? take(*kind, token) : JsonStatus::unreadable;
  }

  JsonStatus take(JsonKind kind, std::string_view slice) {
    stopped_ = !take_(kind, slice);
    return JsonStatus::found;
  }

  // `key` begins after the quote. Raw bytes are compared up to the first escape; most keys differ
  // before it. Returns nullopt if an escape is invalid.
  std::optional<bool> is_called(const char* key, std::string_view name) {
    for (std::size_t i = 0;; ++i) {
      if (key[i] == '\\') return is_called_unescaped(key, i, name);
      if (key[i] == '"') return i == name.size();
      if (i == name.size() || key[i] != name[i]) return false;
    }
  }

  std::optional<bool> is_called_unescaped(const char* key, std::size_t escape,
                                          std::string_view name) {
    std::size_t end = escape;
    while (key[end] != '"') end += key[end] == '\\' ? 2 : 1;
    if (!source_.unescape({key, end}, unescaped_key_)) return std::nullopt;
    return unescaped_key_ == name;
  }

  Source& source_;
  Take take_;
  bool stars_;  // whether a `*` step means every element
  bool stopped_ = false;
  std::string unescaped_key_;
};

template <class Take>
JsonStatus walk(Source& source, std::string_view pointer, bool stars, Take take) {
  if (!is_json_pointer(pointer)) return JsonStatus::absent;
  // After masking, other names may look like this one.
  const bool plain = pointer.find('?') == std::string_view::npos &&
                     std::all_of(pointer.begin(), pointer.end(), is_ascii);
  if (source.masked() && !plain) return JsonStatus::unreadable;
  return Walk<Take>(source, stars, take).along(pointer);
}

// Returns false if the text cannot be decoded.
bool read_text(const Source& source, JsonKind kind, std::string_view slice, std::string& text) {
  if (kind != JsonKind::string) {
    text = source.given(slice);
    return true;
  }
  const std::string_view inside = slice.substr(1, slice.size() - 2);
  const std::string_view given = source.given(inside);
  if (inside.find('\\') == std::string_view::npos) {
    text = given;  // may contain any bytes
    return true;
  }
  const bool hidden = source.masked() && !std::all_of(given.begin(), given.end(), is_ascii);
  return !hidden && source.unescape(inside, text);
}

}  // namespace

struct JsonReader::State {
  Source source;
};

JsonReader::JsonReader() : state_(std::make_unique<State>()) {}
JsonReader::~JsonReader() = default;
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;

bool JsonReader::open(std::string_view document, std::size_t padding) {
  return state_->source.open(document, padding);
}

JsonValue JsonReader::at(std::string_view pointer) {
  Source& source = state_->source;
  JsonValue value;
  std::string_view slice;
  value.status = walk(source, pointer, false, [&](JsonKind kind, std::string_view found) {
    value.kind = kind;
    slice = found;
    return true;
  });
  if (value.status != JsonStatus::found) return value;
  value.raw = source.given(slice);
  if (!read_text(source, value.kind, slice, value.text)) {
    source.give_up();
    value.status = JsonStatus::unreadable;
  }
  return value;
}

JsonElements JsonReader::each(std::string_view pointer, std::size_t limit) {
  const Source& source = state_->source;
  JsonElements elements;
  elements.status = walk(state_->source, pointer, true, [&](JsonKind, std::string_view slice) {
    elements.too_many = elements.raw.size() == limit;
    if (!elements.too_many) elements.raw.push_back(source.given(slice));
    return !elements.too_many;
  });
  if (elements.status != JsonStatus::found || elements.too_many) elements.raw.clear();
  return elements;
}

}  // namespace hapax
