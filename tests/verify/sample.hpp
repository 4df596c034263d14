// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <string>
#include <string_view>
#include <vector>

// For every preset, a request that it can sign and verify, whose bytes a test may change.
namespace hapax::test {

inline constexpr WallTime kNow{std::chrono::seconds(1'760'000'000)};

// A request that owns its bytes.
struct OwnedRequest {
  std::string method = "POST";
  std::string url;
  std::vector<OwnedHeader> headers = {};
  std::string body = {};

  // Views of it: good until it changes.
  class View {
   public:
    explicit View(const OwnedRequest& of);
    const Request& operator*() const { return request_; }

   private:
    std::vector<Header> headers_;
    Request request_;
  };
  View view() const { return View(*this); }

  // The one header of this name; a test that asks for another is wrong.
  std::string& header(std::string_view name);
  bool has_header(std::string_view name) const;
};

struct Sample {
  const Preset* preset = nullptr;
  std::vector<std::string> secrets;  // three, of which `right` is the one that is signed with
  std::size_t right = 1;
  std::string signing_secret;  // the private key where the scheme has one
  OwnedRequest unsigned_request;

  Context context() const;
  // Signed at `now`, with `body` where one is given.
  Result<OwnedRequest> sign(WallTime now = kNow) const;
  Result<OwnedRequest> sign(WallTime now, std::string_view body) const;
  Verifier verifier() const;
};

Sample sample_of(const Preset& preset);

// Whether sign() can do it: not for Amazon's, and there is nothing to sign where nothing is.
bool can_be_signed(const Preset& preset);

// All presets that sign() can sign for.
std::vector<const Preset*> signable_presets();

Verdict check(const Verifier& verifier, const OwnedRequest& request, WallTime now = kNow);

}  // namespace hapax::test
