// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/captured_request.hpp"
#include "cli/command.hpp"
#include "cli/random_id.hpp"
#include "cli/signing.hpp"

#include <hapax/verify.hpp>

#include <fstream>

namespace hapax::cli {

namespace {

struct SignArguments {
  SchemeArguments scheme;
  std::string body = "-";
  std::string id;
  std::string method = "POST";
  std::string body_out;
};

Result<Signed> sign_with(const SignArguments& arguments) {
  HAPAX_TRY_ASSIGN(choice, choose(arguments.scheme));
  if (choice.secrets.size() != 1) {
    return Error(Code::invalid_argument, "give one secret to sign with");
  }
  HAPAX_TRY_ASSIGN(body, read_input(arguments.body));
  const std::vector<Header> parameters = choice.parameter_views();
  const Request request{arguments.method, arguments.scheme.url, {}, body, 0};
  const std::string id = arguments.id.empty() ? "msg_" + random_id() : arguments.id;
  HAPAX_TRY_ASSIGN(made, sign(choice.preset->verify, choice.secrets.front(), request, id,
                              choice.now, Context{choice.key_id, parameters}));
  if (made.body != body && arguments.body_out.empty()) {
    return Error(Code::invalid_argument,
                 "this scheme puts the signature into the body; say with --body-out where to "
                 "write it");
  }
  if (!arguments.body_out.empty()) {
    std::ofstream out(arguments.body_out, std::ios::binary | std::ios::trunc);
    out << made.body;
    if (!out.flush()) {
      return Error(Code::misconfigured, "cannot write the file '" + arguments.body_out + "'");
    }
  }
  return made;
}

std::string lines_of(const Signed& made, const std::string& url) {
  std::string text;
  for (const OwnedHeader& header : made.headers) {
    text += (text.empty() ? "" : "\n") + header.name + ": " + header.value;
  }
  if (made.url != url) text += "\nURL: " + made.url;
  return text;
}

std::string json_of(const Signed& made) {
  std::string text = "{\"headers\":[";
  for (const OwnedHeader& header : made.headers) {
    if (&header != &made.headers.front()) text += ',';
    text += "[" + json_string(header.name) + "," + json_string(header.value) + "]";
  }
  return text + "],\"url\":" + json_string(made.url) + "}";
}

Result<int> print_signed(const SignArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(made, sign_with(arguments));
  output.answer_word(lines_of(made, arguments.scheme.url), json_of(made));
  return kDone;
}

}  // namespace

Command sign_command() {
  auto given = std::make_shared<SignArguments>();
  return {
      .name = "sign",
      .help = "Print the headers that sign a body as a provider would",
      .shared = {given->scheme.options()},
      .options = {{"--body", &given->body, "A file, or - for standard input"},
                  {"--id", &given->id, "The event id, where it is a header; else made up"},
                  {"--method", &given->method, "For schemes that sign it"},
                  {"--body-out", &given->body_out,
                   "Where to write the body, for schemes that sign inside it"}},
      .run = run_with(given, print_signed),
  };
}

}  // namespace hapax::cli
