// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/captured_request.hpp"
#include "cli/command.hpp"
#include "cli/signing.hpp"
#include "cli/vectors.hpp"

#include <hapax/identify.hpp>
#include <hapax/verify.hpp>

#include <fstream>
#include <iostream>

namespace hapax::cli {

namespace {

struct VerifyArguments {
  SchemeArguments scheme;
  std::string vectors;
  std::string input = "-";
};

// The verification result of one request.
struct Verification {
  Verdict verdict;
  std::vector<std::string> explanation;
  std::string note;
  std::vector<Item> items;
};

std::string public_url(const SchemeArguments& arguments, const CapturedRequest& captured) {
  if (!arguments.url.empty()) return arguments.url;
  if (captured.target.find("://") < captured.target.find('?')) return std::string(captured.target);
  return "https://" + std::string(header_of(captured, "host")) + std::string(captured.target);
}

Result<Verification> verify_captured(const SchemeArguments& arguments, const std::string& text) {
  HAPAX_TRY_ASSIGN(choice, choose(arguments));
  HAPAX_TRY_ASSIGN(captured, parse_captured_request(text));
  const std::string url = public_url(arguments, captured);
  const std::vector<Header> parameters = choice.parameter_views();
  const Context context{choice.key_id, parameters};
  const Request request{captured.method, url, captured.headers, captured.body, 0};
  HAPAX_TRY_ASSIGN(verdict, verify(choice.preset, choice.secrets, request, choice.now, context));
  Verification verification{std::move(verdict), {}, captured.note, {}};
  if (!verification.verdict.authentic()) {
    verification.explanation =
        explain(choice.preset->verify, choice.secrets, request, choice.now, context);
    return verification;
  }
  HAPAX_TRY_ASSIGN(identifier, Identifier::make(choice.preset->identity));
  Scratch scratch;
  verification.items = identifier.identify(request, scratch).items;
  return verification;
}

std::string in_sentences(const Verification& verification) {
  std::string text;
  if (verification.verdict.authentic()) {
    text = "Authentic: secret " + std::to_string(verification.verdict.secret + 1) + " matches.";
    for (const Item& item : verification.items) {
      const bool has_id = !item.identity.id.empty();
      text += "\n  event " + (has_id ? item.identity.id : "without an id") +
              (item.identity.type.empty() ? "" : ", type " + item.identity.type) +
              (item.reason == Reason::none ? "" : " (" + std::string(name(item.reason)) + ")");
    }
  } else {
    text = "Not authentic: " + std::string(name(verification.verdict.reason)) + ": " +
           verification.verdict.detail + ".";
    for (const std::string& sentence : verification.explanation) text += "\n- " + sentence;
  }
  if (!verification.note.empty()) text += "\nNote: " + verification.note + ".";
  return text;
}

std::string in_json(const Verification& verification) {
  const bool authentic = verification.verdict.authentic();
  std::string text = std::string("{\"verdict\":") + (authentic ? "\"valid\"" : "\"invalid\"") +
                     ",\"reason\":" + json_string(name(verification.verdict.reason)) +
                     ",\"detail\":" + json_string(verification.verdict.detail);
  if (authentic) text += ",\"secret\":" + std::to_string(verification.verdict.secret + 1);
  text += ",\"events\":[";
  for (const Item& item : verification.items) {
    if (&item != &verification.items.front()) text += ',';
    text += "{\"id\":" + json_string(item.identity.id) +
            ",\"type\":" + json_string(item.identity.type) +
            ",\"reason\":" + json_string(name(item.reason)) + "}";
  }
  text += "],\"explanation\":[";
  for (const std::string& sentence : verification.explanation) {
    if (&sentence != &verification.explanation.front()) text += ',';
    text += json_string(sentence);
  }
  return text + "],\"note\":" + json_string(verification.note) + "}";
}

Result<int> run_file_of_vectors(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error(Code::misconfigured, "cannot read the file '" + path + "'");
  const VectorTotals totals = run_vectors(in, std::cout);
  std::cout.flush();
  std::cerr << totals.lines << " vectors: " << totals.valid << " valid, " << totals.invalid
            << " invalid, " << totals.unsupported << " unsupported; " << totals.missed
            << " not as expected\n";
  return totals.missed == 0 ? kDone : kFailed;
}

Result<int> verify_request(const VerifyArguments& arguments, const Output& output) {
  if (!arguments.vectors.empty()) return run_file_of_vectors(arguments.vectors);
  HAPAX_TRY_ASSIGN(text, read_input(arguments.input));
  HAPAX_TRY_ASSIGN(verification, verify_captured(arguments.scheme, text));
  output.answer(in_sentences(verification), in_json(verification));
  return verification.verdict.authentic() ? kDone : kFailed;
}

}  // namespace

Command verify_command() {
  auto given = std::make_shared<VerifyArguments>();
  return {
      .name = "verify",
      .help = "Verify a captured request and explain the result",
      .shared = {given->scheme.options()},
      .options = {{"--vectors", &given->vectors,
                   "Run a file of signature vectors instead, one JSON object per line"},
                  {"request", &given->input,
                   "The raw HTTP request: a file, or - for standard input"}},
      .run = run_with(given, verify_request),
  };
}

}  // namespace hapax::cli
