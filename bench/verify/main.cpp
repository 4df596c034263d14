// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/compare.hpp"
#include "bench/must.hpp"
#include "bench/report.hpp"
#include "bench/verify/sides.hpp"

#include <hapax/hapax.hpp>

#include <openssl/crypto.h>
#include <CLI/CLI.hpp>

#include <iostream>

// Compares whole verifications with OpenSSL's bare HMAC over the same body, and public-key schemes
// with OpenSSL's bare verification of the same signature. Prints a table of rates per second of
// CPU.
namespace hapax::bench {

namespace {

struct Arguments {
  std::string only;
  int rounds = 9;
  double seconds = 0.2;
  bool json = false;
};

struct Family {
  const char* preset;
  const char* words;
  std::optional<double> budget = std::nullopt;  // at 1 KiB
};

// One preset for each kind of signature. Identification is not measured: only the values that the
// scheme needs are read.
constexpr Family kFamilies[] = {
    {"standard-webhooks", "id, time and body, base64 list", 0.7},
    {"stripe", "time and body, list of hex"},
    {"github", "body, hex"},
    {"shopify", "body, base64"},
    {"slack", "time and body, hex"},
    {"vercel", "HMAC-SHA1 of the body"},
    {"paystack", "HMAC-SHA512 of the body"},
    {"square", "URL and body"},
    {"hubspot", "method, URL, body and time"},
    {"twilio", "sorted form"},
    {"contentful", "listed headers"},
    {"ripple", "hash of the body"},
    {"box", "body and time, two keys"},
    {"mailgun", "JSON fields"},
    {"adyen", "JSON fields of each item"},
    {"gitlab-token", "token"},
    {"postmark", "Basic"},
    {"upstash-qstash", "JWT with HMAC"},
    {"plaid", "JWT with ECDSA P-256"},
    {"standard-webhooks-v1a", "Ed25519"},
    {"sendgrid", "ECDSA P-256"},
    {"wise", "RSA of 2048 bits"},
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Family& each : kFamilies) {
    for (const std::size_t size : {std::size_t{1024}, std::size_t{65536}}) {
      cases.push_back({.name = std::string(each.preset) + ": " + each.words + ", " +
                               std::to_string(size / 1024) + " KiB",
                       .budget = size == 1024 ? each.budget : std::nullopt,
                       .open = [preset = each.preset, size] { return open_pair(preset, size); }});
    }
  }
  return cases;
}

// The cost of a verification is its CPU time, which other load on the machine does not change:
// nothing here blocks.
Outcome measure(const Case& what, const Plan& plan) {
  Outcome outcome = compare(what, plan);
  for (Round& round : outcome.rounds) {
    round.baseline.time = round.baseline.cpu;
    round.subject.time = round.subject.cpu;
  }
  return outcome;
}

void measure_all(const Arguments& arguments) {
  const Plan plan{.rounds = arguments.rounds, .turns = 4, .round = Seconds(arguments.seconds)};
  std::vector<Outcome> outcomes;
  if (!arguments.json) print_head(std::cout, {"OpenSSL", "hapax"}, "");
  for (const Case& each : all_cases()) {
    if (each.name.find(arguments.only) == std::string::npos) continue;
    outcomes.push_back(measure(each, plan));
    if (!arguments.json) print_line(std::cout, outcomes.back());
  }
  if (arguments.json) {
    print_json(std::cout,
               {{"hapax", std::string(version())},
                {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)},
                {"rounds", std::to_string(arguments.rounds)},
                {"seconds", std::to_string(arguments.seconds)}},
               outcomes);
  }
}

int run(int count, char** words) {
  Arguments arguments;
  CLI::App app("Measures hapax's verifications beside OpenSSL's bare primitives");
  app.add_option("--rounds", arguments.rounds, "Rounds of each case")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--seconds", arguments.seconds, "About how long a round of OpenSSL lasts")
      ->check(CLI::Range(0.001, 600.0))
      ->capture_default_str();
  app.add_option("--only", arguments.only, "Only the cases with this text in their name");
  app.add_flag("--json", arguments.json, "Print JSON, with every round");
  CLI11_PARSE(app, count, words);
  measure_all(arguments);
  return 0;
}

}  // namespace

}  // namespace hapax::bench

int main(int count, char** words) {
  try {
    return hapax::bench::run(count, words);
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
