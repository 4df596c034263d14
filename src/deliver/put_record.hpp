// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/try.hpp"
#include "store/contract.hpp"

namespace hapax::deliver {

// put_record(), and one more time when it is not known whether it was done; the same version finds
// out.
inline Result<bool> put(store::Driver& driver, const store::Record& record, std::int64_t before) {
  HAPAX_TRY(check(record));
  Result<bool> done = driver.put_record(record, before);
  if (!done && done.error().outcome() == Outcome::unknown) done = driver.put_record(record, before);
  return done;
}

}  // namespace hapax::deliver
