// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/store_command.hpp"

#include <hapax/store.hpp>

namespace hapax::cli {

namespace {

Result<int> migrate_store(const store::StoreUrl& url, const Output& output) {
  if (url.kind == store::StoreUrl::Kind::memory) {
    return Error(Code::misconfigured, "a store in memory has no schema to upgrade");
  }
  HAPAX_TRY_ASSIGN(version, hapax::migrate(url.text));
  const std::string number = std::to_string(version);
  output.answer("The schema has version " + number + ".", "{\"schema\":" + number + "}");
  return kDone;
}

}  // namespace

Command migrate_command() {
  return store_command("migrate", "Create or upgrade the schema of a store", migrate_store);
}

}  // namespace hapax::cli
