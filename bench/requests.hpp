// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hapax::bench {

enum class Ids : std::uint8_t {
  random,
  ordered,  // by time, like Stripe's ids and ULIDs
  same,     // one id for all: all but the first are duplicates
};

struct Requests {
  std::string path;      // concatenated requests of `size` bytes each
  std::size_t size = 0;  // of one request, head and body
  std::size_t count = 0;
};

// Signs `count` requests of Standard Webhooks with bodies of 1 KiB for POST /in/demo and writes
// them to `path`. No two files share an id. Throws on failure.
Requests write_requests(const std::string& path, const std::string& secret, Ids ids,
                        std::size_t count);

}  // namespace hapax::bench
