// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace hapax::http {

// Certificate and key of a server.
struct TlsFiles {
  std::string certificate;  // a PEM file, with the chain
  std::string key;          // a PEM file

  friend bool operator==(const TlsFiles&, const TlsFiles&) = default;
};

}  // namespace hapax::http
