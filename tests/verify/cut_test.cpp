// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A signed message that joins several values must have only one valid split into these values.
// Otherwise a captured signature would be valid for another id or body.
#include "base/hex.hpp"
#include "verify/sample.hpp"
#include "verify/schemes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace hapax {
namespace {

using test::kNow;
using test::OwnedRequest;
using test::Sample;

// A placeholder of a template, or the text between two placeholders.
struct Piece {
  bool is_text = false;
  std::string word;
};

std::vector<Piece> pieces_of(std::string_view message) {
  std::vector<Piece> pieces;
  while (!message.empty()) {
    const bool text = message.front() != '{';
    const std::size_t end =
        text ? std::min(message.find('{'), message.size()) : message.find('}') + 1;
    pieces.push_back(
        {text, std::string(text ? message.substr(0, end) : message.substr(1, end - 2))});
    message.remove_prefix(end);
  }
  return pieces;
}

bool is_url(const std::string& word) {
  return word == "url" || word == "url:hubspot" || word == "path";
}

// Whether an attacker who replays a captured signature can choose the value.
bool is_free(const std::string& word) {
  return word == "body" || word == "time" || is_url(word) || word == "url:plivo" ||
         word == "query:sorted" || word.starts_with("header:");
}

std::vector<std::string> free_words(const Scheme& scheme) {
  std::vector<std::string> words;
  for (const Piece& piece : pieces_of(scheme.messages[0])) {
    if (!piece.is_text && is_free(piece.word)) words.push_back(piece.word);
  }
  return words;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char each : text) out += "%" + to_hex({&each, 1});
  return out;
}

// Finds all requests with the same signed text, by writing values into the places of a preset.
class Cutting {
 public:
  Cutting(const Preset& preset, OwnedRequest signed_request)
      : scheme_(preset.verify),
        whole_(std::move(signed_request)),
        time_(value_of_time()),
        pieces_(pieces_of(scheme_.messages[0])) {}

  // All requests with the same signed text, including the original.
  std::vector<OwnedRequest> all() {
    std::string text;
    for (const Piece& piece : pieces_) text += piece.is_text ? piece.word : value_of(piece.word);
    cut(0, text, whole_);
    return std::move(found_);
  }

 private:
  static constexpr std::string_view kOrigin = "https://hooks.example.com";

  std::string header_with_time() const {
    const std::string_view at =
        scheme_.time.at == "item" ? scheme_.signatures[0].at : scheme_.time.at;
    return std::string(at.substr(at.find(':') + 1));
  }
  std::string value_of_time() {
    if (scheme_.time.at.empty() || scheme_.time.at.starts_with("json:")) return "";
    const std::string& value = whole_.header(header_with_time());
    if (scheme_.time.at != "item") return value;
    const SignaturePlace& place = scheme_.signatures[0];
    const std::size_t begin = place.time_first ? 0 : place.time_label.size() + 1;
    return value.substr(begin, value.find(place.item) - begin);
  }

  std::string value_of(const std::string& word) {
    if (word == "body") return whole_.body;
    if (word == "time") return time_;
    if (word == "method") return whole_.method;
    if (word == "path") return whole_.url.substr(kOrigin.size());
    if (is_url(word)) return whole_.url;
    if (word == "query:sorted") return "a=1&b=2";
    if (word == "url:plivo") {
      return whole_.url.substr(0, whole_.url.find('?')) + "?a=1&b=2." + form_text();
    }
    if (word.starts_with("header:")) return whole_.header(word.substr(7));
    return "";  // values that an attacker cannot choose
  }
  // sorted_form() of a form whose fields are already sorted.
  std::string form_text() const {
    std::string text = whole_.body;
    std::erase(text, '&');
    std::erase(text, '=');
    return text;
  }

  // Writes the value; returns false if such a request cannot be sent.
  bool write(const std::string& word, const std::string& value, OwnedRequest& to) {
    if (word == "body") {
      to.body = value;
    } else if (word == "time") {
      std::string& header = to.header(header_with_time());
      const std::size_t at = header.find(time_);
      header.replace(at, time_.size(), value);
    } else if (is_url(word)) {
      to.url = word == "path" ? std::string(kOrigin) + value : value;
      // The receiver builds the origin itself, and the path selects the source.
      return to.url == whole_.url || to.url.starts_with(path_of(whole_.url) + "?") ||
             to.url == path_of(whole_.url);
    } else if (word == "url:plivo") {
      const std::string before = whole_.url.substr(0, whole_.url.find('?')) + "?a=1&b=2.";
      if (!value.starts_with(before)) return false;
      to.body = percent_encoded(value.substr(before.size())) + "=";
    } else if (word == "query:sorted") {
      return value == "a=1&b=2";
    } else {
      to.header(word.substr(7)) = value;
      return value.find('\n') == value.npos;
    }
    return true;
  }
  static std::string path_of(const std::string& url) { return url.substr(0, url.find('?')); }

  // Assigns the text to the pieces from `at` on, in all possible ways.
  void cut(std::size_t at, std::string_view text, const OwnedRequest& so_far) {
    if (at == pieces_.size()) {
      if (text.empty()) found_.push_back(so_far);
      return;
    }
    const Piece& piece = pieces_[at];
    if (piece.is_text || !is_free(piece.word)) {
      const std::string fixed = piece.is_text ? piece.word : value_of(piece.word);
      if (text.starts_with(fixed)) cut(at + 1, text.substr(fixed.size()), so_far);
      return;
    }
    // A following text must match.
    const Piece* next = at + 1 < pieces_.size() ? &pieces_[at + 1] : nullptr;
    for (std::size_t size = next == nullptr ? text.size() : 0; size <= text.size(); ++size) {
      if (next != nullptr && next->is_text && !text.substr(size).starts_with(next->word)) continue;
      OwnedRequest with = so_far;
      if (!write(piece.word, std::string(text.substr(0, size)), with)) continue;
      cut(at + 1, text.substr(size), with);
    }
  }

  const Scheme& scheme_;
  OwnedRequest whole_;
  const std::string time_;
  const std::vector<Piece> pieces_;
  std::vector<OwnedRequest> found_;
};

const std::vector<std::string>& bodies() {
  static const std::vector<std::string> all = {
      R"({"id":"evt_1","n":1.50,"text":"x.1760000000.y 2025-10-09T08:53:20Z"})",
      R"({"id":"evt_1","at":"2025-10-09T08:53:20Z.v0:1760000000:{}"})",
      R"([{"id":1},"https://hooks.example.com/in/sample?b=2&a=1"])",
      R"({"note":"https://hooks.example.com/in/sample?x"})",
      "1760000000.{}",
      "1760000000{}",
      "y.1760000000.{}",
      "y.z.1760000000.1760000000.{}",
      "2025-10-09T08:53:20Z{}",
      "a1760000000",
      "5.",
      "5{}",
      "0",
      "=1{}",
      "&b=1{}",
      "?c=1{}",
      "text https://hooks.example.com/in/sample?u=1",
      "",
  };
  return all;
}

const std::vector<std::string>& ids() {
  static const std::vector<std::string> all = {
      "msg_2b9f",
      "msg.1760000000",
      "1760000000",
      "msg.1760000000.y",
      "m.1.2.3",
      "m",
      "x17",
      "2025-10-09T08:53:20Z",
      "msg.1760000000.1760000000",
  };
  return all;
}

// The requests with the signed text: the number tried, and those that verify.
struct Cuts {
  std::size_t tried = 0;
  std::vector<OwnedRequest> authentic;
};

OwnedRequest signed_with(const Sample& sample, const std::string& body, const std::string& id) {
  OwnedRequest request = sample.unsigned_request;
  request.body = body;
  const auto sign_it = [&] {
    const OwnedRequest::View view = request.view();
    return sign(sample.preset->verify, sample.signing_secret, *view, id, kNow, sample.context());
  };
  Result<Signed> made = sign_it();
  EXPECT_TRUE(made) << made.error().to_string();
  for (OwnedHeader& each : made->headers) request.headers.push_back(std::move(each));
  return request;
}

Cuts cuts_of(const Preset& preset, const Sample& sample, const std::string& body,
             const std::string& id) {
  Cuts cuts;
  const Verifier verifier = sample.verifier();
  for (OwnedRequest& each : Cutting(preset, signed_with(sample, body, id)).all()) {
    ++cuts.tried;
    if (test::check(verifier, each).authentic()) cuts.authentic.push_back(std::move(each));
  }
  return cuts;
}

bool joins_values(const Preset& preset) {
  return test::can_be_signed(preset) && preset.verify.algorithm != Algorithm::token &&
         free_words(preset.verify).size() > 1;
}

std::string shown(const std::vector<OwnedRequest>& requests) {
  std::string text;
  for (const OwnedRequest& each : requests) {
    text += "\n" + each.url + " | " + each.body;
    for (const OwnedHeader& header : each.headers) text += " | " + header.value;
  }
  return text;
}

TEST(EveryPreset, HasAtMostOneRequestPerSignature) {
  std::set<std::string_view> joined;
  std::size_t tried = 0;
  for (const Preset& preset : presets()) {
    if (!joins_values(preset)) continue;
    SCOPED_TRACE(std::string(preset.name) + ": " + std::string(preset.verify.messages[0]));
    joined.insert(preset.name);
    const Sample sample = test::sample_of(preset);
    std::vector<std::string> all = bodies();
    if (preset.name == "plivo") all = {"BillRate=0.0085&CallUUID=u-1&Event=Hangup", "A=1"};
    const bool has_id = preset.verify.messages[0].find("{header:") != std::string_view::npos;
    for (const std::string& body : all) {
      for (const std::string& id : has_id ? ids() : std::vector<std::string>{"id"}) {
        if (preset.name == "plivo" && id.find_first_of(".:") != id.npos) continue;
        const Cuts cuts = cuts_of(preset, sample, body, id);
        EXPECT_LE(cuts.authentic.size(), 1U) << shown(cuts.authentic);
        tried += cuts.tried;
      }
    }
  }
  EXPECT_THAT(joined, testing::IsSupersetOf({"standard-webhooks", "svix", "finch", "twitch",
                                             "stripe", "slack", "close", "discord", "square",
                                             "hubspot", "trello", "plivo", "box", "paypal"}));
  EXPECT_GT(tried, 10'000U);
}

// Requests of real senders stay valid.
TEST(EveryPreset, AcceptsIdsWithDotsAndBodiesOfJson) {
  for (const Preset& preset : presets()) {
    if (!joins_values(preset) || preset.name == "plivo" || preset.name == "twitch") continue;
    SCOPED_TRACE(std::string(preset.name));
    const Sample sample = test::sample_of(preset);
    for (const char* id : {"msg.1760000000", "m.1.2.3", "a/b+c=:d", "1760000000"}) {
      const Cuts cuts = cuts_of(preset, sample, bodies().front(), id);
      ASSERT_EQ(cuts.authentic.size(), 1U) << id;
      EXPECT_EQ(cuts.authentic.front().body, bodies().front());
    }
  }
}

TEST(StandardWebhooks, RejectsABodyThatBeginsWithDigitsAndADot) {
  const Sample sample = test::sample_of(*preset("standard-webhooks"));
  const auto reason = [&](const std::string& body, const std::string& id) {
    return test::check(sample.verifier(), signed_with(sample, body, id)).reason;
  };
  EXPECT_EQ(reason("1760000000.{}", "evt"), Reason::payload_unreadable);
  EXPECT_EQ(reason("1.5", "evt"), Reason::payload_unreadable);
  EXPECT_EQ(reason("15", "evt"), Reason::none);
  EXPECT_EQ(reason("price=1.50.2", "evt"), Reason::none) << "not a time";
  EXPECT_EQ(reason("{}", "evt.1760000000"), Reason::none);
  EXPECT_EQ(reason("{}", "evt.1760000000.{"), Reason::header_malformed);
  EXPECT_EQ(reason("{}", std::string(1025, 'x')), Reason::header_malformed);
}

// Attack: a captured request of Plivo, split at the dot of a form value.
TEST(Plivo, NonceCannotContainAPartOfTheForm) {
  const Sample sample = test::sample_of(*preset("plivo"));
  const OwnedRequest good = *sample.sign(kNow, "BillRate=0.0085&CallUUID=u-1&Event=Hangup");
  ASSERT_TRUE(test::check(sample.verifier(), good).authentic());
  OwnedRequest cut = good;
  std::string& nonce = cut.header("x-plivo-signature-v3-nonce");
  nonce = "0085CallUUIDu-1EventHangup." + nonce;
  cut.body = "BillRate=0";
  EXPECT_EQ(test::check(sample.verifier(), cut).reason, Reason::header_malformed);
}

// Form fields that are joined without delimiters have several valid splits, so an id in one of them
// does not count as signed.
TEST(FormFields, JoinedWithoutDelimitersDoNotSignAnId) {
  using verify_detail::covers_id;
  const auto covered = [](std::string_view name, std::string_view at) {
    IdentityRule rule;
    rule.id[0] = at;
    return covers_id(preset(name)->verify, rule);
  };
  EXPECT_FALSE(covered("twilio", "form:MessageSid"));
  EXPECT_FALSE(covered("mandrill", "form:mandrill_events"));
  EXPECT_FALSE(covered("plivo", "form:CallUUID"));
  EXPECT_TRUE(covered("plivo", "header:x-plivo-signature-v3-nonce"));
  EXPECT_TRUE(covered("stripe", "form:id")) << "the whole body is signed";

  const Sample sample = test::sample_of(*preset("twilio"));
  OwnedRequest moved = *sample.sign(kNow, "MessageSid=SM123&NumMedia=0");
  moved.body = "MessageSid=SM123NumMedia0";
  EXPECT_TRUE(test::check(sample.verifier(), moved).authentic()) << "the split is ambiguous";
}

}  // namespace
}  // namespace hapax
