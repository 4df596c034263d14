// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A provider without a preset: its signature scheme as data. The header is a list like
// "t=1760000000,v1=5257a8...": the time, and the HMAC-SHA-256 of the time and the body.
#include <hapax/scheme.hpp>
#include <hapax/verify.hpp>

#include <iostream>

int main() {
  hapax::Scheme scheme;
  scheme.signatures[0] = {
      .at = "header:X-Signature", .item = ',', .pair = '=', .label = "v1", .time_label = "t"};
  scheme.messages[0] = "{time}.{body}";
  scheme.time = {.at = "item", .past = std::chrono::minutes(5), .future = std::chrono::minutes(5)};

  const std::vector<std::string> secrets = {"secret"};
  const auto verifier = hapax::Verifier::make(scheme, secrets);
  if (!verifier) {
    std::cerr << verifier.error().to_string() << '\n';
    return 1;
  }

  const hapax::WallTime sent = hapax::WallTime(std::chrono::seconds(1'760'000'000));
  hapax::Request request{.body = R"({"order": 7})"};
  const auto made = hapax::sign(scheme, secrets[0], request, "", sent);
  if (!made) return 1;
  const hapax::Header header{made->headers[0].name, made->headers[0].value};
  request.headers = {&header, 1};
  std::cout << header.name << ": " << header.value << '\n';

  hapax::Scratch scratch;
  for (const auto minutes : {std::chrono::minutes(1), std::chrono::minutes(10)}) {
    const hapax::Verdict verdict = verifier->verify(request, sent + minutes, scratch);
    std::cout << "after " << minutes.count()
              << " min: " << (verdict.authentic() ? "authentic" : name(verdict.reason)) << '\n';
  }
}
