// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/source.hpp"

#include <string>

namespace hapax::test {

// A source without verification. `number` is its number in the store.
inline gateway::Source source_of(const std::string& name, std::int64_t number) {
  Result<Verifier> verifier = Verifier::make({.algorithm = Algorithm::none}, {});
  Result<Identifier> identifier = Identifier::make({.id = {"none"}});
  gateway::Source source{.name = name,
                         .secrets = {},
                         .key_id = {},
                         .parameters = {},
                         .verifier = std::move(*verifier),
                         .identifier = std::move(*identifier),
                         .secret_headers = {},
                         .ack = {},
                         .deliver_to = {}};
  source.no = SourceNo(number);
  return source;
}

}  // namespace hapax::test
