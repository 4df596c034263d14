// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

#include <hapax/verify.hpp>

#include <algorithm>

namespace hapax::cli {

namespace {

struct PresetsArguments {
  std::string name;
  bool markdown = false;
};

std::string_view words_for(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::none:
      return "none";
    case Algorithm::hmac_md5:
      return "HMAC-MD5";
    case Algorithm::hmac_sha1:
      return "HMAC-SHA1";
    case Algorithm::hmac_sha256:
      return "HMAC-SHA256";
    case Algorithm::hmac_sha384:
      return "HMAC-SHA384";
    case Algorithm::hmac_sha512:
      return "HMAC-SHA512";
    case Algorithm::sha256:
      return "SHA256 with the secret";
    case Algorithm::ed25519:
      return "Ed25519";
    case Algorithm::ecdsa_p256:
      return "ECDSA P-256";
    case Algorithm::rsa_sha256:
      return "RSA-SHA256";
    case Algorithm::token:
      return "token";
    case Algorithm::basic:
      return "Basic";
    case Algorithm::jwt:
      return "JWT";
    case Algorithm::aws_sns:
      return "RSA over fields";
  }
  return "";
}

std::string id_of(const Preset& preset) {
  std::string text;
  for (const std::string_view part : preset.identity.id) {
    if (!part.empty()) text += (text.empty() ? "" : " + ") + std::string(part);
  }
  return text;
}

std::string in_words(std::chrono::seconds span) {
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(span).count();
  if (hours >= 48 && hours % 24 == 0) return std::to_string(hours / 24) + "d";
  if (hours >= 1) return std::to_string(hours) + "h";
  return std::to_string(span.count() / 60) + "m";
}

std::string window_of(const Preset& preset) {
  const std::chrono::milliseconds past = preset.verify.time.past;
  if (preset.verify.jwt.max_age.count() > 0) {
    return std::to_string(preset.verify.jwt.max_age.count()) + "s";
  }
  if (preset.verify.time.at.empty() || past == kNoLimit) return "";
  return std::to_string((past.count() + 999) / 1000) + "s";
}

std::string in_json(const Preset& preset) {
  const auto text = [](std::string_view name, std::string_view value) {
    return "\"" + std::string(name) + "\":" + json_string(value);
  };
  const auto flag = [](std::string_view name, bool value) {
    return "\"" + std::string(name) + "\":" + (value ? "true" : "false");
  };
  return "{" + text("name", preset.name) + "," + text("provider", preset.provider) + "," +
         text("scheme", preset.scheme) + "," +
         text("algorithm", words_for(preset.verify.algorithm)) + "," +
         text("signature", preset.verify.signatures[0].at) + "," +
         text("signed", preset.verify.messages[0]) + "," + text("window", window_of(preset)) + "," +
         text("id", id_of(preset)) + "," + text("type", preset.identity.type) + "," +
         text("order_key", preset.identity.order_key) + "," +
         text("version", preset.identity.version) + "," + text("split", preset.identity.split) +
         "," + flag("id_signed", preset.id_signed) + "," + flag("time_signed", preset.time_signed) +
         "," + text("sender_retries", in_words(preset.sender_retries)) + "," +
         text("remember", in_words(preset.remember)) + "," +
         flag("handshake", preset.handshake != Handshake::none) + "," + text("note", preset.note) +
         "}";
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.resize(std::max(width, out.size() + 1), ' ');
  return out;
}

std::string in_line(const Preset& preset) {
  return padded(preset.name, 22) + padded(words_for(preset.verify.algorithm), 23) +
         padded(preset.id_signed ? "id" : "-", 4) + padded(preset.time_signed ? "time" : "-", 6) +
         id_of(preset);
}

std::string in_sentences(const Preset& preset) {
  const auto line = [](std::string_view name, std::string_view value) {
    return value.empty() ? std::string() : "\n" + padded(name, 16) + std::string(value);
  };
  return std::string(preset.name) + line("provider", preset.provider) +
         line("scheme", preset.scheme) + line("algorithm", words_for(preset.verify.algorithm)) +
         line("signature", preset.verify.signatures[0].at) +
         line("signed", preset.verify.messages[0]) + line("window", window_of(preset)) +
         line("id", id_of(preset)) + line("type", preset.identity.type) +
         line("order key", preset.identity.order_key) + line("version", preset.identity.version) +
         line("split", preset.identity.split) + line("id signed", preset.id_signed ? "yes" : "no") +
         line("time signed", preset.time_signed ? "yes" : "no") +
         line("sender retries", in_words(preset.sender_retries)) +
         line("remember", in_words(preset.remember)) + line("note", preset.note);
}

std::string code(std::string_view text) {
  return text.empty() ? std::string() : "`" + std::string(text) + "`";
}

// docs/providers.md, whole.
std::string in_markdown() {
  std::string text =
      "# Providers\n"
      "\n"
      "Generated by `hapax presets --markdown` from the table that hapax uses. Set `preset = "
      "\"NAME\"` in a\n"
      "[source](configuration.md#source); `hapax presets NAME` shows the details.\n"
      "\n"
      "*id signed*: a captured request cannot be replayed under another id. *time signed*: nor "
      "after the time window.\n"
      "If one is \"no\", anyone who captures a request can do so until the id expires: use TLS and "
      "a long `remember`.\n"
      "The window is the maximum age of a signature; up to 5 minutes in the future are accepted.\n"
      "\n"
      "| preset | scheme | algorithm | signature in | window | id | id signed | time signed | "
      "note |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const Preset& preset : presets()) {
    text += "| " + code(preset.name) + " | " + std::string(preset.scheme) + " | " +
            std::string(words_for(preset.verify.algorithm)) + " | " +
            code(preset.verify.signatures[0].at) + " | " + window_of(preset) + " | " +
            code(id_of(preset)) + " | " + (preset.id_signed ? "yes" : "no") + " | " +
            (preset.time_signed ? "yes" : "no") + " | " + std::string(preset.note) + " |\n";
  }
  text +=
      "\n"
      "## Unsupported\n"
      "\n"
      "- **Moralis**: signs with Keccak-256, which OpenSSL 3.0 lacks. Use a shared token instead, "
      "or a proxy that\n"
      "  verifies the signature.\n"
      "- **Mollie's classic webhooks**: unsigned by design; they carry an id to fetch. Use `verify "
      "= \"none\"` and\n"
      "  `refetch`.\n"
      "\n"
      "## Strictness\n"
      "\n"
      "Where a provider's own library accepts ambiguous encodings, hapax is strict: timestamps are "
      "digits only, base64\n"
      "must match its alphabet and padding exactly, two timestamps in a header are rejected, and "
      "so are times more\n"
      "than 5 minutes in the future even if the library accepts any (Box: 60 seconds instead of "
      "no limit). Hexadecimal is\n"
      "accepted in upper and lower case, because both stand for the same bytes.\n"
      "\n"
      "Where a signed text can be split in two ways, which would give a captured request another "
      "id or time, hapax\n"
      "accepts fewer forms:\n"
      "\n"
      "- Adyen: of the signed values only the merchant reference may contain a colon.\n"
      "- Contentful: the list of signed headers must include the timestamp.\n"
      "- Discord, SendGrid: the timestamp, which is not parsed, has at most 64 letters, digits and "
      "`:.+-`.\n"
      "- Amazon SNS: only message and subject may span several lines.\n"
      "- Standard Webhooks, Svix, Twitch: the id before the time contains no quotes and no "
      "brackets, and a body may not\n"
      "  begin with what could be the end of an id or time, such as digits and a dot.\n"
      "- Square, HubSpot, Trello: a body next to a URL may not begin or end with characters of the "
      "URL.\n"
      "- Plivo: the nonce consists of letters, digits, `-` and `_`.\n"
      "\n"
      "Twilio, Mandrill and Plivo sign form fields as concatenated names and values, so anyone who "
      "captures a request\n"
      "can move bytes between them: never read an id from a form field.\n"
      "\n"
      "A plain hash (Recharge, HubSpot v1 and v2) is open to length extension, but only after the "
      "bytes 80 00 00 00,\n"
      "which text never contains: such bodies are rejected. Messages that a handshake signs for "
      "anyone are rejected\n"
      "too: a Braintree payload of 20 to 32 lower-case hexadecimal digits, and a body for X of "
      "base64 characters only.\n";
  return text;
}

Result<int> show_presets(const PresetsArguments& arguments, const Output& output) {
  if (arguments.markdown) {
    output.print(in_markdown());
    return kDone;
  }
  if (!arguments.name.empty()) {
    const Preset* found = preset(arguments.name);
    if (found == nullptr) {
      return Error(Code::invalid_argument,
                   "unknown preset '" + arguments.name + "'; run 'hapax presets'");
    }
    output.answer(in_sentences(*found), in_json(*found));
    return kDone;
  }
  for (const Preset& preset : presets()) output.answer(in_line(preset), in_json(preset));
  return kDone;
}

}  // namespace

Command presets_command() {
  auto given = std::make_shared<PresetsArguments>();
  return {
      .name = "presets",
      .help = "List supported providers and what they sign",
      .options = {{"name", &given->name, "Show one preset in detail"},
                  {"--markdown", &given->markdown, "Print docs/providers.md"}},
      .run = run_with(given, show_presets),
  };
}

}  // namespace hapax::cli
