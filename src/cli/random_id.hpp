// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include "base/hex.hpp"

#include <string>

namespace hapax::cli {

// Random bytes as hex: a unique id or key.
inline std::string random_id(std::size_t bytes = sizeof(Token::bytes)) {
  const Token token = make_token();
  return to_hex({reinterpret_cast<const char*>(token.bytes.data()), bytes});
}

}  // namespace hapax::cli
