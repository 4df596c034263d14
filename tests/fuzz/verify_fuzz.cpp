// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The first byte selects a preset; a query, header lines and a body follow. The fuzzer cannot forge
// an HMAC, so no such request is authentic, and the reason is the same with and without padding of
// the body. The request is then signed, which reaches the code after the signature check, and
// passed to the handshake.
#include "base/check.hpp"

#include <hapax/verify.hpp>

#include <array>
#include <cstdint>
#include <memory>

namespace {

using namespace hapax;

constexpr WallTime kNow{std::chrono::seconds(1'760'000'000)};
const std::string kHexSecret = "00112233445566778899aabbccddeeff";  // also text and base64
constexpr std::array<Header, 1> kParameters = {{{"webhook_id", "w"}}};

// Presets of every family that need no public key.
constexpr std::array kNames = {
    "standard-webhooks",
    "stripe",
    "github",
    "persona",
    "recurly",
    "workos",
    "braintree",
    "adyen",
    "mailgun",
    "twilio",
    "twilio-json",
    "contentful",
    "plivo",
    "hubspot",
    "box",
    "docusign",
    "messagebird",
    "stream-chat",
    "svix",
    "orb",
    "klaviyo",
    "linear",
    "segment-batch",
    "pagerduty",
    "gitlab-token",
    "figma",
    "postmark",
    "pusher",
    "microsoft-graph",
    "mandrill",
    "sanity",
    "paddle",
    "hookdeck",
    "ripple",
    "cronofy",
    "zendesk",
};

struct Made {
  const Preset* preset;
  Verifier verifier;
};

const std::vector<Made>& all() {
  static const std::vector<Made> made = [] {
    std::vector<Made> list;
    const std::vector<std::string> secrets = {kHexSecret};
    for (const char* name : kNames) {
      auto verifier = Verifier::make(preset(name)->verify, secrets, {"key", kParameters});
      HAPAX_CHECK(static_cast<bool>(verifier));
      list.push_back({preset(name), std::move(*verifier)});
    }
    return list;
  }();
  return made;
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

void check_verdict(const Verdict& verdict) {
  HAPAX_CHECK(verdict.authentic() == verdict.detail.empty());
  HAPAX_CHECK(verdict.detail.find(kHexSecret) == std::string::npos);  // a detail has no secrets
  HAPAX_CHECK(verdict.detail.size() < 400);
}

// Signs the request, if the preset can, and verifies it.
void check_signed(const Made& it, Request request, Scratch& scratch) {
  const Result<Signed> made =
      sign(it.preset->verify, kHexSecret, request, "id", kNow, {"key", kParameters});
  if (!made) return;
  std::vector<Header> headers(request.headers.begin(), request.headers.end());
  for (const OwnedHeader& each : made->headers) headers.push_back({each.name, each.value});
  request.headers = headers;
  request.url = made->url;
  request.body = made->body;
  request.body_padding = 0;
  check_verdict(it.verifier.verify(request, kNow, scratch));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Made& it = all()[data[0] % kNames.size()];
  std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string url = "https://h.example.com/in/x?" + std::string(take_line(rest));
  std::vector<Header> headers;
  while (!rest.empty() && headers.size() < 32) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    const std::size_t colon = std::min(line.find(':'), line.size());
    headers.push_back({line.substr(0, colon), line.substr(std::min(colon + 1, line.size()))});
  }
  const auto padded = std::make_unique<char[]>(rest.size() + kBodyPadding);
  rest.copy(padded.get(), rest.size());

  Scratch scratch;
  const Request plain{"POST", url, headers, rest, 0};
  const Verdict verdict = it.verifier.verify(plain, kNow, scratch);
  check_verdict(verdict);
  HAPAX_CHECK(!verdict.authentic() || it.preset->verify.algorithm == Algorithm::token ||
              it.preset->verify.algorithm == Algorithm::basic);
  const Request in_place{"POST", url, headers, {padded.get(), rest.size()}, kBodyPadding};
  HAPAX_CHECK(it.verifier.verify(in_place, kNow, scratch).reason == verdict.reason);
  check_signed(it, plain, scratch);
  const std::vector<std::string> secrets = {kHexSecret};
  if (const auto answer =
          answer_handshake(*it.preset, secrets, plain, kNow, {"key", kParameters})) {
    HAPAX_CHECK(answer->body.size() < 3 * kMaxChallenge);
  }
  return 0;
}
