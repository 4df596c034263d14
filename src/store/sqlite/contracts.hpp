// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/driver.hpp"
#include "store/sqlite/file/database.hpp"

#include <memory>

// The contracts of store/, each on a database that must outlive it.
namespace hapax::store::sqlite {

std::unique_ptr<Claims> make_claims(Database& database);
std::unique_ptr<Queue> make_queue(Database& database);
std::unique_ptr<Catalog> make_catalog(Database& database);
std::unique_ptr<Rejects> make_rejects(Database& database);
std::unique_ptr<Node> make_node(Database& database);

}  // namespace hapax::store::sqlite
