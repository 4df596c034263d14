// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// For every signable preset: a signed request verifies, and a request with one changed bit in the
// signed parts or in the signature does not.
#include "base/json.hpp"
#include "verify/sample.hpp"
#include "verify/signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace hapax {
namespace {

using test::OwnedRequest;
using test::Sample;

// Bytes of a request whose change must be detected.
struct Spot {
  std::string what;
  std::function<std::string&(OwnedRequest&)> text;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The spots of a scheme, derived from its definition.
class Spots {
 public:
  Spots(const Scheme& scheme, const OwnedRequest& request) : scheme_(scheme), request_(request) {
    for (const RequiredHeader& each : scheme.required) {
      if (!each.name.empty()) add_header(each.name);
    }
    if (scheme.algorithm == Algorithm::token) {
      add_tokens();
    } else if (scheme.algorithm == Algorithm::basic) {
      add_header("authorization", 6);
    } else if (scheme.algorithm == Algorithm::jwt) {
      add_jwt();
    } else {
      if (!scheme.body_hash_query.empty()) add_body();
      add_placeholders();
    }
  }

  const std::vector<Spot>& all() const { return spots_; }

 private:
  std::string_view name_of(std::string_view place) { return place.substr(place.find(':') + 1); }

  void add_header(std::string_view name, std::size_t begin = 0) {
    const std::string owned(name);
    OwnedRequest copy = request_;
    spots_.push_back({"header " + owned,
                      [owned](OwnedRequest& of) -> std::string& { return of.header(owned); }, begin,
                      copy.header(owned).size()});
  }
  void add_body() { add_slice(request_.body); }
  // `slice` points into the body.
  void add_slice(std::string_view slice) {
    const auto begin = static_cast<std::size_t>(slice.data() - request_.body.data());
    spots_.push_back({"body", [](OwnedRequest& of) -> std::string& { return of.body; }, begin,
                      begin + slice.size()});
  }
  void add_url(std::size_t begin = 0) {
    spots_.push_back({"url", [](OwnedRequest& of) -> std::string& { return of.url; }, begin,
                      request_.url.size()});
  }
  void add_method() {
    spots_.push_back({"method", [](OwnedRequest& of) -> std::string& { return of.method; }, 0,
                      request_.method.size()});
  }
  void add_json(std::string_view pointer) {
    JsonReader json;
    ASSERT_TRUE(json.open(request_.body, 0));
    if (scheme_.each.empty()) return add_slice(json.at(pointer).raw);
    for (const std::string_view item : json.each(name_of(scheme_.each), 100).raw) {
      JsonReader reader;
      ASSERT_TRUE(reader.open(item, 0));
      add_slice(reader.at(pointer).raw);
    }
  }
  void add_form(std::string_view name) {
    const std::size_t begin = request_.body.find(std::string(name) + "=");
    ASSERT_NE(begin, std::string::npos);
    const std::size_t end = std::min(request_.body.find('&', begin), request_.body.size());
    add_slice(std::string_view(request_.body).substr(begin, end - begin));
  }
  void add_time() {
    if (scheme_.time.at != "item") return add_header(name_of(scheme_.time.at));
    const SignaturePlace& place = scheme_.signatures[0];
    const std::string name(name_of(place.at));
    OwnedRequest copy = request_;
    const std::size_t begin = place.time_first ? 0 : place.time_label.size() + 1;
    spots_.push_back({"time in " + name,
                      [name](OwnedRequest& of) -> std::string& { return of.header(name); }, begin,
                      copy.header(name).find(place.item)});
  }
  void add_tokens() {
    const std::string_view at = scheme_.signatures[0].at;
    if (at.starts_with("header:")) return add_header(name_of(at));
    add_json(name_of(at));
  }
  void add_jwt() {
    add_header(name_of(scheme_.signatures[0].at));
    add_body();
    if (!scheme_.jwt.url_claim.empty()) add_url();
  }
  void add_listed(std::string_view list) {
    OwnedRequest copy = request_;
    std::string_view rest = copy.header(list);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      add_header(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  void add_placeholders() {
    std::string_view message = scheme_.messages[0];
    for (std::size_t open; (open = message.find('{')) != message.npos;) {
      const std::size_t close = message.find('}', open);
      add_placeholder(message.substr(open + 1, close - open - 1));
      message.remove_prefix(close + 1);
    }
  }
  void add_placeholder(std::string_view word) {
    const auto named = [&word](std::string_view start) {
      if (!word.starts_with(start)) return false;
      word.remove_prefix(start.size());
      return true;
    };
    if (named("body:item:")) return add_json(word);
    if (named("form:base64:")) return add_form(word);
    if (named("header:")) return add_header(word);
    if (named("headers:")) return add_listed(word);
    if (named("json:") || named("json?:") || named("json*:")) return add_json(word);
    if (word.starts_with("body") || word.starts_with("form:sorted")) return add_body();
    if (word == "method") return add_method();
    if (word == "path") return add_url(request_.url.find('/', 8));
    if (word == "query:sorted") return add_url(request_.url.find('?') + 1);
    if (word == "url:plivo") add_body();
    if (word.starts_with("url")) return add_url();
    if (word == "time") return add_time();
    ASSERT_TRUE(word == "secret" || word == "key_id" || word.starts_with("param:")) << word;
  }

  const Scheme& scheme_;
  const OwnedRequest& request_;
  std::vector<Spot> spots_;
};

// A signed sample of a preset.
struct SignedCase {
  explicit SignedCase(const Preset& preset) : sample(test::sample_of(preset)) {
    Result<OwnedRequest> made = sample.sign();
    if (!made) throw std::runtime_error(made.error().to_string());
    request = std::move(*made);
  }

  bool is_refused(const OwnedRequest& changed) const {
    const Verdict verdict = test::check(verifier, changed);
    return !verdict.authentic() && !verdict.detail.empty();
  }

  const Sample sample;
  const Scheme& scheme = sample.preset->verify;
  const Verifier verifier = sample.verifier();
  OwnedRequest request;
};

template <class Property>
void for_each_preset(Property property) {
  for (const Preset* each : test::signable_presets()) {
    SCOPED_TRACE(std::string(each->name));
    property(SignedCase(*each));
  }
}

TEST(EveryPreset, VerifiesItsOwnSignaturesAndReportsTheMatchingSecret) {
  for_each_preset([](const SignedCase& it) {
    const Verdict verdict = test::check(it.verifier, it.request);
    EXPECT_EQ(verdict.reason, Reason::none) << verdict.detail;
    EXPECT_EQ(verdict.secret, it.sample.right);
  });
}

TEST(EveryPreset, RejectsRequestsSignedWithAnotherSecret) {
  for_each_preset([](const SignedCase& it) {
    std::vector<std::string> others = it.sample.secrets;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(it.sample.right));
    const Result<Verifier> verifier = Verifier::make(it.scheme, others, it.sample.context());
    ASSERT_TRUE(verifier);
    EXPECT_EQ(test::check(*verifier, it.request).reason, Reason::signature_invalid);
  });
}

// The first bit of the spot whose change is not detected; nullopt if every change is.
std::optional<std::string> undetected_change(const SignedCase& it, const Spot& spot) {
  OwnedRequest changed = it.request;
  std::string& text = spot.text(changed);
  for (std::size_t i = spot.begin * 8; i < spot.end * 8; ++i) {
    const char was = text[i / 8];
    text[i / 8] = static_cast<char>(was ^ (1 << i % 8));
    if (!it.is_refused(changed)) return spot.what + ", bit " + std::to_string(i);
    text[i / 8] = was;
  }
  return std::nullopt;
}

TEST(EveryPreset, RejectsAnyChangedBitOfTheSignedMessage) {
  for_each_preset([](const SignedCase& it) {
    const Spots spots(it.scheme, it.request);
    EXPECT_FALSE(spots.all().empty());
    for (const Spot& spot : spots.all()) {
      EXPECT_LT(spot.begin, spot.end) << spot.what;
      EXPECT_EQ(undetected_change(it, spot), std::nullopt);
    }
  });
}

// The position of the signature text, as written by sign().
struct SignatureSpot {
  std::function<std::string&(OwnedRequest&)> text;
  std::size_t begin = 0;
  std::size_t end = 0;
};

SignatureSpot find_signature(const Scheme& scheme, OwnedRequest request) {
  const SignaturePlace& place = scheme.signatures[0];
  const std::string name(place.at.substr(place.at.find(':') + 1));
  if (place.at.starts_with("header:")) {
    const std::string header = name.ends_with('*') ? name.substr(0, name.size() - 1) + "1" : name;
    const std::string& value = request.header(header);
    std::size_t begin = place.prefix.size();
    if (place.pair != 0) begin += place.label.size() + 1;
    if (place.time_first || !place.time_label.empty()) begin += value.find(place.item) + 1;
    return {[header](OwnedRequest& of) -> std::string& { return of.header(header); }, begin,
            value.size()};
  }
  const auto body = [](OwnedRequest& of) -> std::string& { return of.body; };
  constexpr std::size_t kSha1Hex = 40;
  if (place.at.starts_with("form:")) {
    return {body, request.body.size() - kSha1Hex, request.body.size()};
  }
  JsonReader json;
  EXPECT_TRUE(json.open(request.body, 0));
  std::string_view document = request.body;
  if (!scheme.each.empty()) {
    document = json.each(scheme.each.substr(scheme.each.find(':') + 1), 10).raw.back();
  }
  EXPECT_TRUE(json.open(document, 0));
  const std::string_view raw = json.at(name).raw;
  const auto begin = static_cast<std::size_t>(raw.data() + 1 - request.body.data());
  return {body, begin, begin + raw.size() - 2};
}

// Tokens, passwords and JWTs are covered by their spots.
bool has_signature(const Scheme& scheme) {
  return scheme.algorithm != Algorithm::token && scheme.algorithm != Algorithm::basic &&
         scheme.algorithm != Algorithm::jwt;
}

TEST(EveryPreset, RejectsAnyChangedBitOfTheSignature) {
  for_each_preset([](const SignedCase& it) {
    if (!has_signature(it.scheme)) return;
    OwnedRequest changed = it.request;
    const SignatureSpot spot = find_signature(it.scheme, changed);
    const Encoding encoding = it.scheme.signatures[0].encoding;
    const std::string letters = spot.text(changed).substr(spot.begin, spot.end - spot.begin);
    std::array<unsigned char, 1024> buffer;
    const auto bytes = verify_detail::decode(letters, encoding, buffer);
    ASSERT_TRUE(bytes) << letters;
    for (std::size_t i = 0; i < bytes->size() * 8; ++i) {
      std::string other(*bytes);
      other[i / 8] = static_cast<char>(other[i / 8] ^ (1 << i % 8));
      spot.text(changed).replace(spot.begin, letters.size(),
                                 verify_detail::encode(other, encoding));
      ASSERT_TRUE(it.is_refused(changed)) << "bit " << i << " of the signature";
    }
  });
}

TEST(EveryPreset, RejectsRequestsOutsideTheWindow) {
  for_each_preset([](const SignedCase& it) {
    const TimePlace& time = it.scheme.time;
    if (time.at.empty() || time.at.starts_with("json:")) return;
    const std::chrono::hours year(24 * 365);
    if (time.past != kNoLimit) {
      EXPECT_EQ(test::check(it.verifier, it.request, test::kNow + year).reason,
                Reason::timestamp_outside_window);
    }
    if (time.future != kNoLimit && time.format != TimeFormat::opaque) {
      EXPECT_EQ(test::check(it.verifier, it.request, test::kNow - year).reason,
                Reason::timestamp_outside_window);
    }
  });
}

TEST(UnsignablePresets, AreAmazonSnsAndMonday) {
  std::vector<std::string_view> names;
  for (const Preset& each : presets()) {
    if (!test::can_be_signed(each)) names.push_back(each.name);
  }
  // Only Amazon has the signing keys; monday.com does not sign.
  EXPECT_THAT(names, testing::ElementsAre("aws-sns", "monday"));
  const Result<Signed> made =
      sign(preset("aws-sns")->verify, "x", Request{.body = "{}"}, "id", test::kNow);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::misconfigured);
}

}  // namespace
}  // namespace hapax
