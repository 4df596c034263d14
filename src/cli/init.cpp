// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/command.hpp"
#include "daemon/config.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace hapax::cli {

namespace {

struct InitArguments {
  std::string path = "hapax.toml";
  bool force = false;
};

Error cannot(const std::string& what, const std::string& path) {
  return Error(Code::misconfigured, "cannot " + what + " " + path + ": " + std::strerror(errno));
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(file, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return fsync(file) == 0;
}

// A file that was not there before, readable by its owner alone, whole or not at all.
Result<void> write_new(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return cannot("write", path);
  const bool written = write_all(file, text);
  const int error = errno;
  close(file);
  if (written) return {};
  unlink(path.c_str());
  errno = error;
  return cannot("write", path);
}

Result<void> write_config(const InitArguments& arguments, std::string_view text) {
  struct stat status {};
  const bool there = lstat(arguments.path.c_str(), &status) == 0;
  if (there && !arguments.force) {
    return Error(Code::misconfigured, arguments.path + " is there already; --force writes over it");
  }
  if (!there) return write_new(arguments.path, text);
  // The old one stays until the new one is whole.
  const std::string beside = arguments.path + ".new." + std::to_string(getpid());
  HAPAX_TRY(write_new(beside, text));
  if (std::rename(beside.c_str(), arguments.path.c_str()) == 0) return {};
  const Error error = cannot("replace", arguments.path);
  unlink(beside.c_str());
  return error;
}

Result<int> init(const InitArguments& arguments, const Output& output) {
  const std::unique_ptr<Random> random = make_system_random();
  HAPAX_TRY(write_config(arguments, daemon::first_config(*random)));
  output.answer("Wrote " + arguments.path +
                    ": a source 'demo' with a fresh secret, and a pull destination 'work'.\n"
                    "Next: put your own sources into it ('hapax presets' lists the providers), "
                    "then run\n"
                    "  hapax check -c " +
                    arguments.path +
                    "\n"
                    "  hapax serve -c " +
                    arguments.path,
                "{\"config\":" + json_string(arguments.path) + "}");
  return kDone;
}

}  // namespace

Command init_command() {
  auto given = std::make_shared<InitArguments>();
  return {
      .name = "init",
      .help = "Write a first configuration",
      .options = {{"-c,--config", &given->path, "The file"},
                  {"--force", &given->force, "Write over a file that is there"}},
      .run = run_with(given, init),
  };
}

}  // namespace hapax::cli
