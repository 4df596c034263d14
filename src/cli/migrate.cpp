// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

#include <hapax/store.hpp>

#include <CLI/CLI.hpp>

namespace hapax::cli {

namespace {

int migrate_store(const std::string& url, const Output& output) {
  const Result<int> version = hapax::migrate(url);
  if (!version) return output.fail(version.error());
  const std::string number = std::to_string(*version);
  output.answer("The schema has version " + number + ".", "{\"schema\":" + number + "}");
  return kDone;
}

}  // namespace

void add_migrate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("migrate", "Create or upgrade the schema of a store");
  auto url = std::make_shared<std::string>();
  command->add_option("--store", *url, "The store, such as sqlite:app.db")->required();
  command->callback([&action, url] {
    action = [url](const Output& output) { return migrate_store(*url, output); };
  });
}

}  // namespace hapax::cli
