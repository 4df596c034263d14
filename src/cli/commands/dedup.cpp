// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/duration.hpp"
#include "base/hex.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/store_command.hpp"

#include <hapax/store.hpp>

#include <algorithm>

namespace hapax::cli {

namespace {

struct DedupArguments {
  std::string url;
  std::string scope;
  std::string id;
  std::string ttl = "30d";
  std::string token;
};

Result<Token> parse_token(const std::string& hex) {
  Token token;
  if (hex.empty()) return token;
  const std::optional<std::string> bytes = from_hex(hex);
  if (bytes && bytes->size() == token.bytes.size()) {
    std::copy(bytes->begin(), bytes->end(), token.bytes.begin());
  }
  if (!token.empty()) return token;
  return Error(Code::invalid_argument,
               "a token is 32 hexadecimal digits, not all zero, such as 'openssl rand -hex 16' "
               "prints");
}

Result<Dedup> claim(const DedupArguments& arguments) {
  HAPAX_TRY_ASSIGN(ttl, parse_duration(arguments.ttl));
  HAPAX_TRY_ASSIGN(token, parse_token(arguments.token));
  HAPAX_TRY_ASSIGN(store, hapax::open(arguments.url));
  return store.dedup({.scope = arguments.scope, .id = arguments.id, .ttl = ttl, .token = token});
}

Result<int> dedup(const DedupArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(answer, claim(arguments));
  if (answer.duplicate) {
    output.answer("Duplicate: this id was claimed before.", R"({"duplicate":true})");
    return kDuplicate;
  }
  output.answer("First: this id is now claimed.", R"({"duplicate":false})");
  return kDone;
}

}  // namespace

Command dedup_command() {
  auto given = std::make_shared<DedupArguments>();
  return {
      .name = "dedup",
      .help = "Claim an id; exit code 0: it was free, 3: duplicate, 1: error",
      .options = {store_option(given->url),
                  {"--scope", &given->scope, "Scope in which the id is unique", kRequired},
                  {"--id", &given->id, "The id", kRequired},
                  {"--ttl", &given->ttl, "How long the id is remembered"},
                  {"--token", &given->token,
                   "Claim token (32 hex digits). After an unknown outcome, repeat with the same "
                   "token to get the original answer"}},
      .run = run_with(given, dedup),
  };
}

}  // namespace hapax::cli
