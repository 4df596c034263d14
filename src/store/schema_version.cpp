// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/schema_version.hpp"

#include "base/try.hpp"

#include <string>

namespace hapax::store {

Result<void> refuse_newer(int version, int known) {
  if (version <= known) return {};
  return Error(Code::store_newer, "the schema has version " + std::to_string(version) +
                                      ", and this hapax supports only up to " +
                                      std::to_string(known) + "; use a newer hapax");
}

Result<void> require_current(int version, int known) {
  HAPAX_TRY(refuse_newer(version, known));
  if (version == known) return {};
  return Error(Code::misconfigured, "the schema has version " + std::to_string(version) +
                                        " and this hapax needs " + std::to_string(known) +
                                        "; run hapax migrate, or open with migrate = true");
}

}  // namespace hapax::store
