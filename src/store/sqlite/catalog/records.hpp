// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/node.hpp"
#include "store/sqlite/file/connection.hpp"

namespace hapax::store::sqlite {

// The records of store/node.hpp, on one connection. Changes inside a write transaction.
class Records {
 public:
  explicit Records(sqlite3* db);

  Result<std::optional<Record>> read(std::string_view name);
  Result<std::vector<Record>> all(std::string_view prefix);
  // nullopt: no room.
  Result<std::optional<bool>> put(const Record& record, std::int64_t before);
  Result<bool> remove(std::string_view name, std::int64_t version);

 private:
  Lazy read_;
  Lazy all_;
  Lazy count_;
  Lazy write_;
  Lazy remove_;
};

}  // namespace hapax::store::sqlite
