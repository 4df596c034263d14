// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/server_file.hpp"

#include "env/environment.hpp"

namespace hapax::cli {

Result<daemon::Config> read_server_file(const std::string& path, const std::string& instead) {
  daemon::Loaded loaded = daemon::load_config(path, environment_variable);
  if (loaded.config) return std::move(*loaded.config);
  const std::string problem =
      loaded.problems.empty() ? path + " cannot be used" : loaded.problems.front().to_string();
  return Error(Code::misconfigured, problem + "; without that file, " + instead);
}

Result<std::string> url_of(const daemon::Listen& listen, const std::string& instead) {
  if (listen.port == 0) {
    return Error(Code::misconfigured, "the file lets the server choose any free port; " + instead +
                                          " with the one it printed when it started");
  }
  std::string host = listen.host;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return (listen.tls ? "https://" : "http://") + host + ":" + std::to_string(listen.port);
}

}  // namespace hapax::cli
