// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/try.hpp"
#include "store/node.hpp"
#include "store/retry.hpp"

namespace hapax::deliver {

// Checks and writes a record. Repeats the write after an unknown outcome: the record's version
// makes that safe.
inline Result<bool> put(store::Node& node, const store::Record& record, std::int64_t before) {
  HAPAX_TRY(check(record));
  return store::retry_if_unknown([&] { return node.put_record(record, before); });
}

}  // namespace hapax::deliver
