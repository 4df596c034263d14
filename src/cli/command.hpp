// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/arguments.hpp"
#include "cli/output.hpp"

namespace hapax::cli {

// Each command is defined in a file of its own.
Command check_command();
Command dedup_command();
Command destinations_command();
Command doctor_command();
Command events_command();
Command handshake_command();
Command init_command();
Command listen_command();
Command migrate_command();
Command presets_command();
Command purge_command();
Command replay_command();
Command rejects_command();
Command send_command();
Command serve_command();
Command show_command();
Command sign_command();
Command verify_command();
Command version_command();

}  // namespace hapax::cli
