// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/check.hpp"
#include "http/framing.hpp"

#include <cstdint>
#include <string>

// A request head and chunks of arbitrary bytes. An accepted head refers only to its own bytes and
// has one framing; chunks decode to the same body however the input is split.
namespace {

using namespace hapax::http;

struct Read {
  ChunkReader::State state = ChunkReader::State::needs_more;
  std::size_t taken = 0;
  std::string body;
};

Read read_chunks(std::string_view bytes, std::size_t cut) {
  constexpr std::size_t kLimit = 4096;
  ChunkReader reader(kLimit);
  Read read;
  read.state = reader.read(bytes.substr(0, cut), read.taken, read.body);
  if (read.state == ChunkReader::State::needs_more && cut < bytes.size()) {
    std::size_t more = 0;
    read.state = reader.read(bytes.substr(read.taken), more, read.body);
    read.taken += more;
  }
  HAPAX_CHECK(read.taken <= bytes.size());
  HAPAX_CHECK(read.body.size() <= kLimit);
  return read;
}

void check_head(std::string_view bytes) {
  Head head;
  if (parse_head(bytes, {}, head)) return;
  const auto within = [&](std::string_view part) {
    return part.empty() || (part.data() >= bytes.data() &&
                            part.data() + part.size() <= bytes.data() + bytes.size());
  };
  HAPAX_CHECK(within(head.method) && within(head.target));
  HAPAX_CHECK(head.target.front() == '/');
  HAPAX_CHECK(!head.chunked || head.length == 0);
  for (const hapax::Header& each : head.headers) {
    HAPAX_CHECK(within(each.name) && within(each.value));
    HAPAX_CHECK(each.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find("\r\n\r\n");
  check_head(end == std::string_view::npos ? bytes : bytes.substr(0, end + 4));
  if (size == 0) return 0;
  const std::string_view chunks = bytes.substr(1);
  const Read whole = read_chunks(chunks, chunks.size());
  const Read cut = read_chunks(chunks, data[0] % (chunks.size() + 1));
  HAPAX_CHECK(whole.state == cut.state);
  if (whole.state == ChunkReader::State::done) {
    HAPAX_CHECK(whole.taken == cut.taken && whole.body == cut.body);
  }
  return 0;
}
