// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"

#include <string>

namespace hapax::cli {

// The configuration of the server that a command is for. misconfigured: with the first of its
// problems, and what to give in its place (`instead`).
Result<daemon::Config> read_server_file(const std::string& path, const std::string& instead);

// "http://127.0.0.1:8420": where this machine reaches the listener. misconfigured: on port 0 only
// the server knows where it listens.
Result<std::string> url_of(const daemon::Listen& listen, const std::string& instead);

}  // namespace hapax::cli
