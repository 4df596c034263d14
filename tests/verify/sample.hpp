// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <string>
#include <string_view>
#include <vector>

// For every preset, a sample request that it can sign and verify and that a test may modify.
namespace hapax::test {

inline constexpr WallTime kNow{std::chrono::seconds(1'760'000'000)};

// A request that owns its bytes.
struct OwnedRequest {
  std::string method = "POST";
  std::string url;
  std::vector<OwnedHeader> headers = {};
  std::string body = {};

  // A view of the request; valid until the request changes.
  class View {
   public:
    explicit View(const OwnedRequest& of);
    const Request& operator*() const { return request_; }

   private:
    std::vector<Header> headers_;
    Request request_;
  };
  View view() const { return View(*this); }

  // The header with this name; throws if there is none.
  std::string& header(std::string_view name);
  bool has_header(std::string_view name) const;
};

struct Sample {
  const Preset* preset = nullptr;
  std::vector<std::string> secrets;  // three; secrets[right] signs
  std::size_t right = 1;
  std::string signing_secret;  // the private key if the scheme is asymmetric
  OwnedRequest unsigned_request;

  Context context() const;
  // The request, signed at `now`, with the sample's body or another one.
  Result<OwnedRequest> sign(WallTime now = kNow) const;
  Result<OwnedRequest> sign(WallTime now, std::string_view body) const;
  Verifier verifier() const;
};

Sample sample_of(const Preset& preset);

// Whether sign() supports the preset: not Amazon SNS, and not schemes without a signature.
bool can_be_signed(const Preset& preset);

// All presets that sign() supports.
std::vector<const Preset*> signable_presets();

Verdict check(const Verifier& verifier, const OwnedRequest& request, WallTime now = kNow);

}  // namespace hapax::test
