// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/captured.hpp"
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

// What is to be said about one request.
struct Findings {
  Verdict verdict;
  std::vector<std::string> explanation;
  std::string note;
  std::vector<Item> items;
};

std::string public_url(const SchemeArguments& arguments, const Captured& captured) {
  if (!arguments.url.empty()) return arguments.url;
  if (captured.target.find("://") < captured.target.find('?')) return std::string(captured.target);
  return "https://" + std::string(header_of(captured, "host")) + std::string(captured.target);
}

Result<Findings> examine(const SchemeArguments& arguments, const std::string& text) {
  HAPAX_TRY_ASSIGN(choice, choose(arguments));
  HAPAX_TRY_ASSIGN(captured, parse_captured(text));
  const std::string url = public_url(arguments, captured);
  const std::vector<Header> parameters = choice.parameter_views();
  const Context context{choice.key_id, parameters};
  const Request request{captured.method, url, captured.headers, captured.body, 0};
  HAPAX_TRY_ASSIGN(verdict, verify(choice.preset, choice.secrets, request, choice.now, context));
  Findings findings{std::move(verdict), {}, captured.note, {}};
  if (!findings.verdict.authentic()) {
    findings.explanation =
        explain(choice.preset->verify, choice.secrets, request, choice.now, context);
    return findings;
  }
  HAPAX_TRY_ASSIGN(identifier, Identifier::make(choice.preset->identity));
  Scratch scratch;
  findings.items = identifier.identify(request, scratch).items;
  return findings;
}

std::string in_sentences(const Findings& findings) {
  std::string text;
  if (findings.verdict.authentic()) {
    text = "Authentic: secret " + std::to_string(findings.verdict.secret + 1) + " matches.";
    for (const Item& item : findings.items) {
      const bool has_id = !item.identity.id.empty();
      text += "\n  event " + (has_id ? item.identity.id : "without an id") +
              (item.identity.type.empty() ? "" : ", type " + item.identity.type) +
              (item.reason == Reason::none ? "" : " (" + std::string(name(item.reason)) + ")");
    }
  } else {
    text = "Not authentic: " + std::string(name(findings.verdict.reason)) + ": " +
           findings.verdict.detail + ".";
    for (const std::string& sentence : findings.explanation) text += "\n- " + sentence;
  }
  if (!findings.note.empty()) text += "\nNote: " + findings.note + ".";
  return text;
}

std::string in_json(const Findings& findings) {
  const bool authentic = findings.verdict.authentic();
  std::string text = std::string("{\"verdict\":") + (authentic ? "\"valid\"" : "\"invalid\"") +
                     ",\"reason\":" + json_string(name(findings.verdict.reason)) +
                     ",\"detail\":" + json_string(findings.verdict.detail);
  if (authentic) text += ",\"secret\":" + std::to_string(findings.verdict.secret + 1);
  text += ",\"events\":[";
  for (const Item& item : findings.items) {
    if (&item != &findings.items.front()) text += ',';
    text += "{\"id\":" + json_string(item.identity.id) +
            ",\"type\":" + json_string(item.identity.type) +
            ",\"reason\":" + json_string(name(item.reason)) + "}";
  }
  text += "],\"explanation\":[";
  for (const std::string& sentence : findings.explanation) {
    if (&sentence != &findings.explanation.front()) text += ',';
    text += json_string(sentence);
  }
  return text + "],\"note\":" + json_string(findings.note) + "}";
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
  HAPAX_TRY_ASSIGN(findings, examine(arguments.scheme, text));
  output.answer(in_sentences(findings), in_json(findings));
  return findings.verdict.authentic() ? kDone : kFailed;
}

}  // namespace

Command verify_command() {
  auto given = std::make_shared<VerifyArguments>();
  return {
      .name = "verify",
      .help = "Check a captured request's signature and say why it passes or fails",
      .shared = {given->scheme.options()},
      .options = {{"--vectors", &given->vectors,
                   "Run a file of signature vectors instead, one JSON object per line"},
                  {"request", &given->input,
                   "The raw HTTP request: a file, or - for standard input"}},
      .run = run_with(given, verify_request),
  };
}

}  // namespace hapax::cli
