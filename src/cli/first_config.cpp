// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/first_config.hpp"

#include "base/base64.hpp"
#include "base/json_text.hpp"
#include "daemon/config_source.hpp"
#include "daemon/config_text.hpp"
#include "verify/schemes.hpp"

#include <algorithm>
#include <array>

namespace hapax::cli {

namespace {

std::string fresh_secret(Random& random) {
  std::array<unsigned char, 24> bytes{};
  random.fill(bytes);
  return "whsec_" + to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// A line of the file with a trailing comment.
std::string commented(std::string setting, std::string_view comment) {
  constexpr std::size_t kColumn = 30;
  setting.resize(std::max(setting.size() + 1, kColumn), ' ');
  return setting + "# " + std::string(comment) + "\n";
}

// A TOML basic string. JSON string escapes are valid in TOML.
std::string toml_text(std::string_view text) {
  return json_string(text);
}

// The names in {param:NAME} placeholders, as TOML entries to complete.
std::string parameters_of(const Scheme& scheme) {
  constexpr std::string_view kStart = "{param:";
  std::string list;
  for (const std::string_view message : scheme.messages) {
    for (std::size_t at = message.find(kStart); at != message.npos;
         at = message.find(kStart, at + 1)) {
      const std::size_t name = at + kStart.size();
      list += (list.empty() ? "" : ", ") +
              std::string(message.substr(name, message.find('}', name) - name)) + " = \"...\"";
    }
  }
  return list;
}

std::string secrets_line(const FirstConfig& wanted, Random& random) {
  if (wanted.preset == nullptr) return "secrets = [" + toml_text(fresh_secret(random)) + "]\n";
  const std::string provider(wanted.preset->provider);
  if (daemon::provisions_secret(*wanted.preset)) {
    return "# No secrets: " + provider + " sends its own in a handshake. See 'hapax handshake'.\n";
  }
  if (wanted.preset->verify.algorithm == Algorithm::none) {
    return commented("# verify = \"none\"", "to complete: " + provider +
                                                " signs nothing, so that whoever knows the URL can "
                                                "send events");
  }
  return "secrets = [{ env = \"" + wanted.variable() + "\" }]\n";
}

// Lines for the keys that the preset needs besides a secret.
std::string keys_to_complete(const Preset& preset) {
  std::string text;
  if (verify_detail::needs_key_id(preset.verify)) {
    text += commented("# key_id = \"...\"", "to complete: the provider's name for the secret");
  }
  if (const std::string names = parameters_of(preset.verify); !names.empty()) {
    text += commented("# parameters = { " + names + " }", "to complete");
  }
  if (preset.handshake == Handshake::meta) {
    text += commented("# parameters = { verify_token = \"...\" }",
                      "to complete: the token that you type into the provider's form");
  }
  if (preset.verify.algorithm == Algorithm::aws_sns) {
    text += commented("# topics = [\"arn:aws:sns:REGION:ACCOUNT:NAME\"]",
                      "to complete: whose messages are accepted");
  }
  return text;
}

std::string server_table(const FirstConfig& wanted) {
  std::string text =
      "[server]\n" +
      commented("listen = \"127.0.0.1:8420\"", "public: POST /in/" + wanted.source()) +
      commented("admin = \"127.0.0.1:8421\"", "private: admin API, metrics") + "data_dir = \".\"\n";
  if (wanted.preset != nullptr && verify_detail::needs_url(wanted.preset->verify)) {
    text += commented("# public_url = \"https://YOUR.HOST\"",
                      "to complete: the signature covers the URL that the provider calls");
  }
  return text;
}

std::string source_table(const FirstConfig& wanted, Random& random) {
  const std::string preset(wanted.preset == nullptr ? "standard-webhooks" : wanted.preset->name);
  std::string text = "[[source]]\nname = " + toml_text(wanted.source()) + "\n" +
                     commented("preset = " + toml_text(preset), "'hapax presets' lists them") +
                     secrets_line(wanted, random);
  if (wanted.preset != nullptr) text += keys_to_complete(*wanted.preset);
  return text + "deliver_to = [" + toml_text(wanted.destination()) + "]\n";
}

std::string destination_table(const FirstConfig& wanted) {
  std::string text = "[[destination]]\nname = " + toml_text(wanted.destination()) + "\n";
  if (wanted.to.empty()) {
    return text + commented("kind = \"pull\"", "workers lease its deliveries and settle them");
  }
  return text + "url = " + toml_text(wanted.to) + "\n";
}

}  // namespace

std::string FirstConfig::variable() const {
  if (preset == nullptr || daemon::provisions_secret(*preset) ||
      preset->verify.algorithm == Algorithm::none) {
    return {};
  }
  std::string name(preset->provider);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    if (c >= 'a' && c <= 'z') return static_cast<char>(c - 'a' + 'A');
    return c >= '0' && c <= '9' ? c : '_';
  });
  return name + "_WEBHOOK_SECRET";
}

std::string first_config(const FirstConfig& wanted, Random& random) {
  return "# hapax.toml: see docs/configuration.md; validate with 'hapax check'\n"
         "\n" +
         server_table(wanted) +
         "\n"
         "[store]\n"
         "url = \"sqlite:hapax.db\"\n"
         "\n" +
         source_table(wanted, random) + "\n" + destination_table(wanted);
}

std::vector<daemon::Problem> missing_in(const std::string& text, const std::string& path,
                                        const FirstConfig& wanted,
                                        const daemon::Variable& variable) {
  constexpr unsigned kOwnerOnly = 0600;
  const bool is_set = !variable(wanted.variable()).value_or("").empty();
  std::vector<daemon::Problem> missing;
  daemon::Loaded loaded = daemon::load_config_text(text, path, kOwnerOnly, variable);
  for (daemon::Problem& each : loaded.problems) {
    if (is_set || each.field != "source[1].secrets[1].env") missing.push_back(std::move(each));
  }
  if (wanted.preset != nullptr && wanted.preset->handshake == Handshake::meta) {
    missing.push_back({path, 0, "source[1].parameters",
                       "this is missing, and the provider's handshake is answered 403 without it; "
                       "write parameters = { verify_token = \"...\" }"});
  }
  return missing;
}

}  // namespace hapax::cli
