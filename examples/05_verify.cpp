// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/hapax.hpp>

#include <iostream>

int main() {
  const std::vector<std::string> secrets = {"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"};
  const hapax::Preset* preset = hapax::preset("standard-webhooks");
  const hapax::WallTime now = hapax::make_system_clock()->wall();
  hapax::Request request{.body = R"({"type":"user.created"})"};
  auto sent = hapax::sign(preset->verify, secrets[0], request, "msg_1", now);
  if (!sent) return 1;
  std::vector<hapax::Header> headers;
  for (const auto& header : sent->headers) headers.push_back({header.name, header.value});
  request.headers = headers;

  for (const char* body : {R"({"type":"user.created"})", R"({"type": "user.created"})"}) {
    request.body = body;
    auto verdict = hapax::verify(preset, secrets, request, now);
    if (!verdict) return 1;
    std::cout << (verdict->authentic() ? "authentic" : name(verdict->reason)) << '\n';
    for (const auto& why : hapax::explain(preset->verify, secrets, request, now)) {
      std::cout << "  " << why << '\n';
    }
  }
}
