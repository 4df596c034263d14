// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/driver.hpp"

#include "base/try.hpp"
#include "store/grouped_claims.hpp"
#include "store/sqlite/contracts.hpp"
#include "store/sqlite/file/schema.hpp"

namespace hapax::store::sqlite {

namespace {

// One file with its contracts.
struct Contracts {
  explicit Contracts(Writer writer) : database(std::move(writer)) {}

  Database database;
  std::unique_ptr<Claims> claims = make_claims(database);
  GroupedClaims grouped{*claims, 1};
  std::unique_ptr<Queue> queue = make_queue(database);
  std::unique_ptr<Catalog> catalog = make_catalog(database);
  std::unique_ptr<Rejects> rejects = make_rejects(database);
  std::unique_ptr<Node> node = make_node(database);
};

}  // namespace

Result<Driver> open_driver(const std::string& path, const OpenOptions& options, Clock& clock) {
  {
    HAPAX_TRY_ASSIGN(db, open_file(path, options.busy_timeout));
    if (options.migrate) {
      HAPAX_TRY(migrate(db.get()));
    } else {
      HAPAX_TRY(check_schema(db.get()));
    }
  }
  HAPAX_TRY_ASSIGN(writer, Writer::open({path, options.busy_timeout}, clock));
  const auto made = std::make_shared<Contracts>(std::move(writer));
  return Driver{made,
                &made->grouped,
                made->queue.get(),
                made->catalog.get(),
                made->rejects.get(),
                made->node.get()};
}

Result<int> migrate_file(const std::string& path, const OpenOptions& options) {
  HAPAX_TRY_ASSIGN(db, open_file(path, options.busy_timeout));
  return migrate(db.get());
}

}  // namespace hapax::store::sqlite
