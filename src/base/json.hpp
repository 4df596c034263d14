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
  ambiguous,   // a member on the path occurs twice: parsers may pick different values
  unreadable,  // not JSON, or a string that has both escapes and bytes that are not UTF-8
};

struct JsonValue {
  JsonStatus status = JsonStatus::absent;  // the other members are set only if found
  JsonKind kind = JsonKind::null;
  std::string text;      // a string without quotes and escapes; anything else as written
  std::string_view raw;  // the exact bytes in the document, quotes included
};

struct JsonElements {
  JsonStatus status = JsonStatus::absent;
  bool too_many = false;              // more than the limit; `raw` is empty
  std::vector<std::string_view> raw;  // exact slices, in document order
};

// Reads parts of a JSON document without building a tree. Buffers are reused for the next document.
// Not thread-safe.
class JsonReader {
 public:
  JsonReader();
  ~JsonReader();
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;

  // Opens `document`, which must not change until the next open(). `padding` is the number of
  // readable bytes after it; with fewer than kBodyPadding the document is copied. Returns false if
  // it is not JSON (empty, a byte order mark, unclosed). Unread values are not validated. Invalid
  // UTF-8 is accepted: senders sign what they send, and the id next to a broken string is still
  // valid.
  bool open(std::string_view document, std::size_t padding);

  // The value at a JSON pointer (RFC 6901): "" is the whole document, "/a/0/b~1c" a part.
  JsonValue at(std::string_view pointer);

  // The values selected by a pointer with `*` steps ("/items/*/item"), at most `limit`. Absent if a
  // `*` step meets a non-array or an element lacks the rest of the path.
  JsonElements each(std::string_view pointer, std::size_t limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hapax
