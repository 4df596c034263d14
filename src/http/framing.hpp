// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/message.hpp"
#include "http/problem.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

// Request framing. Disagreement between two parsers enables request smuggling, so ambiguous framing
// is rejected even where a parser would guess.
namespace hapax::http {

struct HeadLimits {
  std::size_t bytes = 32 * 1024;  // request line and headers
  std::size_t target = 8 * 1024;
  std::size_t headers = 128;
};

// Parses `bytes`, which end with the first empty line, into `head`. Returns nullopt, or why it is
// rejected: framing or headers_too_large.
std::optional<Refusal> parse_head(std::string_view bytes, const HeadLimits& limits, Head& head);

// True if the rest of a chunked body may be an incomplete last chunk (at least "0\r\n\r\n").
// Passing it to Beast's parser twice trips an assertion in builds with assertions.
inline bool is_short_last_chunk(std::string_view rest) {
  constexpr std::size_t kShortest = 5;
  return rest.size() < kShortest && rest.substr(0, 1) == "0";
}

// Decodes a chunked body. Trailers are ignored.
class ChunkReader {
 public:
  explicit ChunkReader(std::size_t limit);  // bytes of the body
  ~ChunkReader();
  ChunkReader(ChunkReader&&) noexcept;
  ChunkReader& operator=(ChunkReader&&) noexcept;

  enum class State : std::uint8_t { needs_more, done, bad, too_large };
  // Consumes complete parts from the front of `bytes`, sets `taken` to their size and appends the
  // decoded bytes to `body`. The remaining bytes must be passed again, followed by more input.
  State read(std::string_view bytes, std::size_t& taken, std::string& body);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace hapax::http
