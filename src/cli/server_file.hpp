// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"

#include <string>

namespace hapax::cli {

// Reads the configuration of the server. misconfigured: the error contains the first problem of the
// file and the arguments to use instead (`instead`).
Result<daemon::Config> read_server_file(const std::string& path, const std::string& instead);

// The URL of a listener as seen from this machine: "http://127.0.0.1:8420". misconfigured: the
// configured port is 0, so the file does not contain the actual port.
Result<std::string> url_of(const daemon::Listen& listen, const std::string& instead);

}  // namespace hapax::cli
