// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/store_command.hpp"
#include "store/inspect.hpp"

#include <hapax/store.hpp>

namespace hapax::cli {

namespace {

constexpr std::size_t kStep = 1000;  // short transactions do not delay other writers

Result<int> purge_store(const store::StoreUrl& url, const Output& output) {
  HAPAX_TRY_ASSIGN(found, store::inspect(url, {}));  // open() would create a misspelled store
  if (!found) {
    return Error(
        Code::misconfigured,
        "no store at this URL; check --store (relative paths depend on the working directory)");
  }
  HAPAX_TRY_ASSIGN(store, hapax::open(url.text));
  std::size_t removed = 0;
  // The first pass may start in the middle of the store; the second covers the rest.
  for (int passes = 0; passes < 2;) {
    HAPAX_TRY_ASSIGN(step, store.purge(kStep));
    removed += step.removed;
    passes += step.done ? 1 : 0;
    output.progress(std::to_string(removed) + " ids removed");
  }
  output.progress("");
  const std::string number = std::to_string(removed);
  output.answer("Removed " + number + " expired ids.", "{\"removed\":" + number + "}");
  return kDone;
}

}  // namespace

Command purge_command() {
  return store_command("purge", "Remove expired ids", purge_store);
}

}  // namespace hapax::cli
