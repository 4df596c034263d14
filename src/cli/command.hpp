// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/output.hpp"

#include <functional>

namespace CLI {
class App;
}

namespace hapax::cli {

// What a subcommand hands to main(): run after all arguments are parsed, it returns the exit code.
using Action = std::function<int(const Output&)>;

// Each adds its subcommand to `app` and sets `action` when that one is called. One file each.
void add_check(CLI::App& app, Action& action);
void add_dedup(CLI::App& app, Action& action);
void add_destinations(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_events(CLI::App& app, Action& action);
void add_handshake(CLI::App& app, Action& action);
void add_init(CLI::App& app, Action& action);
void add_listen(CLI::App& app, Action& action);
void add_migrate(CLI::App& app, Action& action);
void add_presets(CLI::App& app, Action& action);
void add_purge(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_rejects(CLI::App& app, Action& action);
void add_send(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_sign(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_version(CLI::App& app, Action& action);

}  // namespace hapax::cli
