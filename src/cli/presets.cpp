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
      "# Providers\n\n"
      "Made by `hapax presets --markdown` from the table that hapax itself uses. Write "
      "`preset = \"NAME\"` in a\n"
      "source; `hapax presets NAME` shows all of it.\n\n"
      "*id signed*: a captured request cannot be sent again under another id. *time signed*: nor "
      "after the window.\n"
      "Where one is \"no\", whoever captures a request can do so until the id is forgotten: keep "
      "the endpoint on TLS, and\n"
      "`remember` long. A window says how old a signature may be; ahead of our clock it may be 5 "
      "minutes.\n\n"
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
      "\n## Left out\n\n"
      "- **Moralis**: signs with Keccak-256, which OpenSSL 3.0 does not have. Use a shared token "
      "in "
      "the path's place, or a\n  proxy that checks it.\n"
      "- **Mollie's classic webhooks**: unsigned by design; they carry an id to fetch. Use "
      "`verify = \"none\"` and `refetch`.\n\n"
      "## Choices\n\n"
      "Where a provider's own library is looser than the bytes, hapax is strict: a timestamp is "
      "digits alone, base64 has\n"
      "exactly its alphabet and padding, two timestamps in a header are refused, and a time more "
      "than 5 minutes in the future\n"
      "is refused even where the library takes any (Box: 60 seconds instead of none). Hexadecimal "
      "is taken in both cases,\nsince it stands for the same bytes.\n\n"
      "Where one signed text could be cut in two ways, which would give a captured request another "
      "id or time, hapax takes\n"
      "less: of Adyen's values only the merchant's reference may hold a colon, Contentful's list "
      "of "
      "signed headers must have\n"
      "the timestamp in it, a timestamp that is not read (Discord, SendGrid) has at most 64 "
      "letters, "
      "digits and `:.+-`, and of\n"
      "SNS's fields only message and subject may have several lines. An id in front of a time "
      "(Standard Webhooks, Svix, Twitch)\n"
      "has no quotes and no brackets, and a body may not begin with "
      "what could be "
      "the end of an id or of a time:\n"
      "with digits and a dot, for example. A body beside a URL (Square, HubSpot, Trello) may not "
      "begin or end with letters of\n"
      "the URL, and Plivo's nonce has letters, digits, `-` and `_`. Twilio, Mandrill and Plivo "
      "sign form fields as names and\n"
      "values one after the other, so whoever captures a request can move bytes between them: "
      "never take an id from one.\n\n"
      "A plain hash (Recharge, HubSpot v1 and v2) can be continued by anyone, but only behind the "
      "bytes 80 00 00 00, which no text\n"
      "has: such bodies are refused. So is what a handshake signs for anyone: a Braintree payload "
      "of 20 to 32 "
      "lower-case hexadecimal digits, and a\n"
      "body for X of base64 letters alone.\n";
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
                   "there is no preset '" + arguments.name + "'; 'hapax presets' lists them");
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
      .help = "List the providers that hapax knows, and what each of them signs",
      .options = {{"name", &given->name, "Show one of them whole"},
                  {"--markdown", &given->markdown, "Print docs/providers.md"}},
      .run = run_with(given, show_presets),
  };
}

}  // namespace hapax::cli
