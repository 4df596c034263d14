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

// Reads `bytes`, which end with the first empty line, into `head`. Nothing, or why it is refused:
// framing, header_malformed, headers_too_large.
std::optional<Refusal> parse_head(std::string_view bytes, const HeadLimits& limits, Head& head);

// What is left of a chunked body may be a last chunk ("0\r\n\r\n" or longer) of which too little is
// there: given to Beast's parser twice, it would trip an assertion of builds that have them.
inline bool is_short_last_chunk(std::string_view rest) {
  constexpr std::size_t kShortest = 5;
  return rest.size() < kShortest && rest.substr(0, 1) == "0";
}

// Puts a chunked body together. Trailers are read over.
class ChunkReader {
 public:
  explicit ChunkReader(std::size_t limit);  // bytes of the body
  ~ChunkReader();
  ChunkReader(ChunkReader&&) noexcept;
  ChunkReader& operator=(ChunkReader&&) noexcept;

  enum class State : std::uint8_t { needs_more, done, bad, too_large };
  // Takes a part of `bytes` from the front, as much as is whole, and says how much in `taken`. What
  // is left must be given again, with more behind it.
  State read(std::string_view bytes, std::size_t& taken, std::string& body);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace hapax::http
