// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hapax {

enum class JsonKind : std::uint8_t { string, number, boolean, null, object, array };

enum class JsonStatus : std::uint8_t {
  found,
  absent,      // no such member or element
  ambiguous,   // a member on the path occurs twice: two readers would see two values
  unreadable,  // not JSON, or a string that has both escapes and bytes that are not UTF-8
};

struct JsonValue {
  JsonStatus status = JsonStatus::absent;  // the rest means something only when found
  JsonKind kind = JsonKind::null;
  std::string text;      // a string without quotes and escapes; anything else as it is written
  std::string_view raw;  // the exact bytes in the document, quotes included
};

struct JsonElements {
  JsonStatus status = JsonStatus::absent;
  bool too_many = false;              // there were more than the limit; `raw` holds none
  std::vector<std::string_view> raw;  // exact slices, in document order
};

// Reads parts of one JSON document, without building a tree. Keeps its buffers from one document to
// the next. Not thread-safe.
class JsonReader {
 public:
  JsonReader();
  ~JsonReader();
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;

  // Starts on `document`, which must stay as it is until the next open(). `padding`: how many bytes
  // after it may be read; with fewer than kBodyPadding it is copied. False: not JSON (empty, a byte
  // order mark, unclosed). Unread values are not validated. Bytes that are not UTF-8 are no reason:
  // senders sign what they send, and the id beside a broken text is still the id.
  bool open(std::string_view document, std::size_t padding);

  // The value at a JSON pointer (RFC 6901): "" is the whole document, "/a/0/b~1c" a part.
  JsonValue at(std::string_view pointer);

  // The values that a pointer with `*` steps names ("/items/*/item"), at most `limit`. A `*` step
  // on something that is no array, or an element that lacks the rest of the path: absent.
  JsonElements each(std::string_view pointer, std::size_t limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hapax
