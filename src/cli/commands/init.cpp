// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/first_config.hpp"
#include "cli/signing.hpp"
#include "daemon/config_source.hpp"
#include "env/environment.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace hapax::cli {

namespace {

constexpr std::string_view kDefaultPath = "hapax.toml";

struct InitArguments {
  std::string path{kDefaultPath};
  std::string preset;
  std::string to;
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

// Creates a new file, readable only by its owner. Removes it again if it cannot be written whole.
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
    return Error(Code::misconfigured, arguments.path + " already exists; use --force to overwrite");
  }
  if (!there) return write_new(arguments.path, text);
  // The old file stays until the new one is complete.
  const std::string beside = arguments.path + ".new." + std::to_string(getpid());
  HAPAX_TRY(write_new(beside, text));
  if (std::rename(beside.c_str(), arguments.path.c_str()) == 0) return {};
  const Error error = cannot("replace", arguments.path);
  unlink(beside.c_str());
  return error;
}

using Problems = std::vector<daemon::Problem>;

// Reports a URL given with --to that the configuration would reject.
Result<void> check_to(const Problems& problems) {
  for (const daemon::Problem& each : problems) {
    if (each.field == "destination[1].url") {
      return Error(Code::invalid_argument, "--to: " + each.text);
    }
  }
  return {};
}

std::string local_url(const FirstConfig& wanted) {
  return "http://127.0.0.1:8420/in/" + wanted.source();
}

std::string in_json(const std::string& path, const FirstConfig& wanted, const Problems& missing) {
  const std::string variable = wanted.variable();
  std::string list;
  for (const daemon::Problem& each : missing) {
    list += (list.empty() ? "{\"field\":" : ",{\"field\":") + json_string(each.field) +
            ",\"text\":" + json_string(each.text) + "}";
  }
  return "{\"config\":" + json_string(path) + ",\"source\":" + json_string(wanted.source()) +
         ",\"destination\":" + json_string(wanted.destination()) +
         ",\"url\":" + json_string(local_url(wanted)) +
         ",\"variable\":" + (variable.empty() ? "null" : json_string(variable)) + ",\"missing\":[" +
         list + "]}";
}

std::string step(std::string command, const std::string& why) {
  constexpr std::size_t kColumn = 38;
  command.resize(std::max(command.size() + 2, kColumn), ' ');
  return "  " + command + why + "\n";
}

// 'hapax send' signs with the configured secret. It cannot sign with a public key, nor before a
// handshake has provisioned the secret. Braintree signs a form field, and send generates no forms.
bool can_be_sent(const Preset* preset) {
  return preset == nullptr ||
         (preset->verify.secret.form != SecretForm::public_key &&
          preset->handshake != Handshake::braintree && !daemon::provisions_secret(*preset));
}

std::string steps(const std::string& path, const FirstConfig& wanted) {
  const std::string config = path == kDefaultPath ? "" : " -c " + path;
  const std::string provider(wanted.preset == nullptr ? "" : wanted.preset->provider);
  const std::string variable = wanted.variable();
  std::string text;
  if (!variable.empty()) {
    const bool is_public = wanted.preset->verify.secret.form == SecretForm::public_key;
    text += step("export " + variable + "=...",
                 std::string("the ") + (is_public ? "public key" : "secret") + " of " + provider);
  }
  text += step("hapax check" + config, "reports what is missing or wrong");
  text += step("hapax serve" + config, "accepts events at " + local_url(wanted));
  if (wanted.preset != nullptr && daemon::provisions_secret(*wanted.preset)) {
    text += step("hapax handshake " + wanted.source() + " --for 10m" + config,
                 "in another shell, before " + provider + " sends its secret");
  }
  if (can_be_sent(wanted.preset)) {
    text += step("hapax send" + config, std::string("in another shell") +
                                            (variable.empty() ? "" : " with the variable set") +
                                            ": sends a test event");
  }
  return text;
}

std::string in_sentences(const std::string& path, const FirstConfig& wanted,
                         const Problems& missing) {
  std::string text = "Wrote " + path + ": source '" + wanted.source() + "', destination '" +
                     wanted.destination() + "' (" +
                     (wanted.to.empty() ? "workers pull" : wanted.to) + ").\n";
  if (!missing.empty()) text += "Not complete yet; the file has a comment to complete for each:\n";
  for (const daemon::Problem& each : missing) text += "  " + each.field + ": " + each.text + "\n";
  text += "Next:\n" + steps(path, wanted);
  if (wanted.preset == nullptr) {
    return text +
           "'hapax init --preset NAME' writes the source of a provider; 'hapax presets' "
           "lists them.";
  }
  if (!wanted.preset->note.empty()) text += "Note: " + std::string(wanted.preset->note) + "\n";
  return text + "URL for " + std::string(wanted.preset->provider) + ": https://YOUR.HOST/in/" +
         wanted.source() + ", which has to lead to " + local_url(wanted);
}

Result<int> init(const InitArguments& arguments, const Output& output) {
  FirstConfig wanted{nullptr, arguments.to};
  if (!arguments.preset.empty()) {
    HAPAX_TRY_TO(wanted.preset, find_preset(arguments.preset));
  }
  const std::unique_ptr<Random> random = make_system_random();
  const std::string text = first_config(wanted, *random);
  const Problems missing = missing_in(text, arguments.path, wanted, environment_variable);
  HAPAX_TRY(check_to(missing));
  HAPAX_TRY(write_config(arguments, text));
  output.answer(in_sentences(arguments.path, wanted, missing),
                in_json(arguments.path, wanted, missing));
  return kDone;
}

}  // namespace

Command init_command() {
  auto given = std::make_shared<InitArguments>();
  return {
      .name = "init",
      .help = "Write a first configuration",
      .options = {{"-c,--config", &given->path, "The file"},
                  {"--preset", &given->preset,
                   "The provider that sends, see 'hapax presets'; without it a source 'demo'"},
                  {"--to", &given->to,
                   "The URL of the handler that gets the events; without it workers pull them"},
                  {"--force", &given->force, "Write over a file that is there"}},
      .run = run_with(given, init),
  };
}

}  // namespace hapax::cli
