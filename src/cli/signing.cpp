// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/signing.hpp"

#include "base/calendar.hpp"
#include "base/try.hpp"
#include "env/environment.hpp"

#include <charconv>

namespace hapax::cli {

namespace {

Error unknown_preset(const std::string& wanted) {
  std::string near;
  for (const Preset& each : presets()) {
    const bool alike = each.name.starts_with(wanted.substr(0, 3)) ||
                       each.name.find(wanted) != std::string_view::npos;
    if (!alike || near.size() > 200) continue;
    near += (near.empty() ? "; is it one of: " : ", ") + std::string(each.name);
  }
  return Error(Code::invalid_argument,
               "unknown preset '" + wanted + "'" + near + "; 'hapax presets' lists them all");
}

Result<std::vector<std::string>> all_secrets(const SchemeArguments& arguments) {
  std::vector<std::string> secrets = arguments.secrets;
  for (const std::string& name : arguments.secret_env) {
    const std::optional<std::string> value = environment_variable(name);
    if (!value) {
      return Error(Code::invalid_argument, "the environment variable '" + name + "' is not set");
    }
    secrets.push_back(*value);
  }
  return secrets;
}

Result<WallTime> time_of(const std::string& text) {
  if (text.empty()) return make_system_clock()->wall();
  std::int64_t seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, seconds);
  constexpr std::int64_t kMaxSeconds = 1LL << 40;
  if (failure == std::errc() && stopped == end && seconds >= 0 && seconds < kMaxSeconds) {
    return WallTime(std::chrono::seconds(seconds));
  }
  if (const std::optional<WallTime> time = parse_rfc3339(text)) return *time;
  return Error(Code::invalid_argument,
               "'" + text + "' is not a time; use Unix seconds or 2025-10-09T08:53:20Z");
}

}  // namespace

std::vector<Option> SchemeArguments::options() {
  return {{"--preset", &preset, "Preset; see 'hapax presets'"},
          {"--secret", &secrets,
           "Secret or public key; several: any may match. Arguments are visible to other users: "
           "prefer --secret-env"},
          {"--secret-env", &secret_env, "Names of environment variables with secrets"},
          {"--key-id", &key_id, "The provider's name for the secret, if any"},
          {"--param", &parameters, "name=value, for schemes that need one (PayPal)"},
          {"--url", &url, "The URL that the sender calls, for schemes that sign it"},
          {"--now", &now, "The time to check against: Unix seconds or RFC 3339"}};
}

std::vector<Header> SchemeChoice::parameter_views() const {
  std::vector<Header> views;
  for (const OwnedHeader& each : parameters) views.push_back({each.name, each.value});
  return views;
}

Result<const Preset*> find_preset(const std::string& name) {
  const Preset* found = preset(name);
  if (found == nullptr) return unknown_preset(name);
  return found;
}

Result<SchemeChoice> choose(const SchemeArguments& arguments) {
  SchemeChoice choice;
  if (arguments.preset.empty()) {
    return Error(Code::invalid_argument, "--preset is missing; 'hapax presets' lists them");
  }
  HAPAX_TRY_TO(choice.preset, find_preset(arguments.preset));
  HAPAX_TRY_TO(choice.secrets, all_secrets(arguments));
  HAPAX_TRY_TO(choice.now, time_of(arguments.now));
  choice.key_id = arguments.key_id;
  for (const std::string& each : arguments.parameters) {
    const std::size_t equals = each.find('=');
    if (equals == each.npos) {
      return Error(Code::invalid_argument, "--param is written name=value");
    }
    choice.parameters.push_back({each.substr(0, equals), each.substr(equals + 1)});
  }
  return choice;
}

}  // namespace hapax::cli
