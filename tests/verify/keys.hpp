// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace hapax::test {

// A newly generated key pair, in PEM.
struct KeyPair {
  std::string private_pem;
  std::string public_pem;
};

KeyPair make_ed25519();
KeyPair make_p256();
KeyPair make_rsa(unsigned bits = 2048);

}  // namespace hapax::test
