// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/store_names.hpp"
#include "daemon/config.hpp"
#include "env/environment.hpp"

namespace hapax::cli {

namespace {

constexpr std::chrono::seconds kPatience{2};

std::string in_json(const std::vector<daemon::Problem>& list) {
  std::string text;
  for (const daemon::Problem& each : list) {
    text += (text.empty() ? "{\"file\":" : ",{\"file\":") + json_string(each.file) +
            ",\"line\":" + std::to_string(each.line) + ",\"field\":" + json_string(each.field) +
            ",\"text\":" + json_string(each.text) + "}";
  }
  return "[" + text + "]";
}

// Counts and lists names. A source with declared tenants occurs once per tenant.
template <class List>
std::string counted(const List& list, const std::string& word) {
  std::vector<std::string> names;
  for (const auto& each : list) {
    if (names.empty() || names.back() != each.name) names.push_back(each.name);
  }
  std::string text = std::to_string(names.size()) + " " + word + (names.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < names.size() && i < 10; ++i) {
    text += (i == 0 ? " (" : ", ") + names[i];
  }
  if (names.size() > 10) text += ", ...";
  return text + (names.empty() ? "" : ")");
}

std::string in_sentences(const std::string& path, const daemon::Loaded& loaded) {
  std::string text;
  for (const daemon::Problem& each : loaded.problems) text += each.to_string() + "\n";
  for (const daemon::Problem& each : loaded.warnings) text += "warning: " + each.to_string() + "\n";
  if (!loaded.config) {
    const std::size_t count = loaded.problems.size();
    return text + path + ": " + std::to_string(count) + (count == 1 ? " problem" : " problems");
  }
  const daemon::Config& config = *loaded.config;
  const store::StoreUrl& url = config.store_url;
  // The URL of another store may contain a password, so only its scheme is shown.
  return text + path + " is valid: " + counted(config.sources, "source") + ", " +
         counted(config.destinations, "destination") + ", store " +
         (url.path.empty() ? url.text.substr(0, url.text.find(':')) : url.text);
}

// Warns about names in the store that are not configured. Skipped if the store cannot be inspected:
// the file may be meant for another machine.
void look_at_names(const std::string& path, daemon::Loaded& loaded) {
  OpenOptions options;
  options.timeout = kPatience;
  options.busy_timeout = kPatience;
  const Result<std::optional<store::StoreSummary>> summary =
      store::inspect(loaded.config->store_url, options);
  if (!summary || !*summary) return;
  for (std::string& each : names_without_file(**summary, *loaded.config)) {
    loaded.warnings.push_back({path, 0, "", std::move(each)});
  }
}

Result<int> check_file(const std::string& path, const Output& output) {
  daemon::Loaded loaded = daemon::load_config(path, environment_variable);
  if (loaded.config) look_at_names(path, loaded);
  const bool ok = loaded.config.has_value();
  output.answer(in_sentences(path, loaded), std::string("{\"ok\":") + (ok ? "true" : "false") +
                                                ",\"problems\":" + in_json(loaded.problems) +
                                                ",\"warnings\":" + in_json(loaded.warnings) + "}");
  return ok ? kDone : kFailed;
}

}  // namespace

Command check_command() {
  auto path = std::make_shared<std::string>("hapax.toml");
  return {
      .name = "check",
      .help = "Validate a configuration without starting",
      .options = {{"-c,--config", path.get(), "Configuration file"}},
      .run = run_with(path, check_file),
  };
}

}  // namespace hapax::cli
