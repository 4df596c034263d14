// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/base64.hpp"
#include "base/form.hpp"
#include "base/hex.hpp"
#include "base/try.hpp"
#include "verify/candidates.hpp"
#include "verify/challenge.hpp"
#include "verify/parts.hpp"

#include <hapax/verify.hpp>

#include <algorithm>

namespace hapax {

namespace verify_detail {

namespace {

constexpr std::size_t kMaxItems = 10000;  // for schemes that sign each item

// Every hash of the MD5 family pads the message with 0x80 and a length in bits that starts with
// zeros. A length extension contains this padding; ordinary text does not.
bool holds_padding(std::string_view text) {
  constexpr std::string_view kPadding("\x80\0\0\0", 4);
  return text.find(kPadding) != text.npos;
}

// Compares without revealing, by timing, how much of a guess is right or how long the secret is.
bool equal_secrets(std::string_view a, std::string_view b) {
  return equal_in_constant_time(hash_of(Hash::sha256, a).view(), hash_of(Hash::sha256, b).view());
}

// The verification of one request.
class Check {
 public:
  Check(const Verifier::Parts& parts, const Request& request, WallTime now, JsonReader& json,
        std::size_t max_inflated)
      : parts_(parts),
        request_(request),
        now_(now),
        headers_(request, parts.alias),
        fields_(request, json),
        candidates_(parts, request, headers_, fields_) {
    inflated_.limit = max_inflated;
  }

  Verdict run();

 private:
  Verdict decide();
  MaybeFailure check_around() const;
  MaybeFailure check_certificate_url() const;
  MaybeFailure check_body_hash();
  Verdict run_each();
  Verdict run_one();
  Verdict run_basic() const;
  Verdict match_all();
  Verdict match(std::size_t time);
  MaybeFailure check_message(const Message& message);
  Verdict match_message(std::size_t time, const Message* message);
  // Sets `matches` if the secret signed a candidate with this timestamp.
  MaybeFailure signed_by(std::size_t secret, std::size_t time, const Message* message,
                         bool& matches);
  bool is_token(std::size_t secret, std::size_t time) const;
  MaybeFailure is_digest(std::size_t secret, std::size_t time, const Message& message,
                         bool& matches);
  MaybeFailure is_key_signature(std::size_t secret, std::size_t time, const Message& message,
                                bool& matches);
  MaybeFailure render_once(const Message& message);
  bool has_candidate(std::size_t secret, std::size_t time) const;
  template <class Visit>
  void for_each_candidate(std::size_t secret, std::size_t time, const Visit& visit) const;
  Ingredients ingredients(std::string_view secret) {
    const bool header = parts_.time_field && parts_.time_field->from == Field::From::header;
    return {request_,
            headers_,
            fields_,
            time_text_,
            secret,
            parts_.key_id,
            parts_.parameters,
            item_,
            header ? std::string_view(parts_.time_field->name) : std::string_view(),
            &inflated_};
  }

  const Verifier::Parts& parts_;
  const Request& request_;
  const WallTime now_;
  Headers headers_;
  FieldReader fields_;
  Candidates candidates_;
  Inflated inflated_;
  JsonReader* item_ = nullptr;
  std::string_view time_text_;
  // The rendered message or its digest for the current timestamp, cached if it does not depend on
  // the secret.
  std::optional<std::string> rendered_;
  std::size_t digests_ = 0;
};

Verdict Check::run() {
  Verdict verdict = decide();
  verdict.work = {digests_, inflated_.times, inflated_.bytes};
  return verdict;
}

Verdict Check::decide() {
  if (MaybeFailure failure = check_around()) return refused(std::move(*failure));
  if (!parts_.each.empty()) return run_each();
  return run_one();
}

// Conditions besides the signature.
MaybeFailure Check::check_around() const {
  for (const OwnedHeader& required : parts_.required) {
    const HeaderValue value = headers_.find(required.name);
    if (value.status == FieldStatus::absent) {
      return Failure{Reason::signature_missing, "the header '" + required.name + "' is missing"};
    }
    if (value.status != FieldStatus::found) {
      return Failure{Reason::header_malformed,
                     "the header '" + required.name + "' occurs more than once"};
    }
    if (!equal_secrets(value.text, required.value)) {
      return Failure{Reason::signature_invalid,
                     "the header '" + required.name + "' has an unexpected value"};
    }
  }
  if (!parts_.certificate_url[0].empty()) return check_certificate_url();
  return std::nullopt;
}

// The key is configured and never fetched from this URL, but a URL of another domain shows that the
// sender is not the provider.
MaybeFailure Check::check_certificate_url() const {
  const HeaderValue value = headers_.find(parts_.certificate_url[0]);
  const std::string& domain = parts_.certificate_url[1];
  constexpr std::string_view kScheme = "https://";
  if (value.status == FieldStatus::found && value.text.starts_with(kScheme)) {
    const std::string_view rest = value.text.substr(kScheme.size());
    const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
    const bool plain = host.find_first_of("@:\\") == host.npos;
    if (plain && (host == domain || host.ends_with("." + domain))) return std::nullopt;
  }
  return Failure{Reason::signature_invalid,
                 "the header '" + parts_.certificate_url[0] + "' is not a URL of " + domain};
}

MaybeFailure Check::check_body_hash() {
  const FieldValue value = fields_.read({Field::From::query, parts_.body_hash_query});
  if (value.status != FieldStatus::found) {
    return Failure{Reason::signature_missing, "the query parameter '" + parts_.body_hash_query +
                                                  "' does not occur exactly once"};
  }
  const std::string hash = to_hex(hash_of(Hash::sha256, request_.body).view());
  if (equal_in_constant_time(value.text, hash)) return std::nullopt;
  return Failure{Reason::signature_invalid, "the body hash does not match the URL"};
}

// All or nothing: one invalid item rejects the request.
Verdict Check::run_each() {
  JsonReader* json = fields_.json();
  if (json == nullptr) return refused({Reason::payload_unreadable, "the body is not JSON"});
  const JsonElements items = json->each(parts_.each, kMaxItems);
  if (items.too_many) {
    return refused(
        {Reason::body_too_large, "more than " + std::to_string(kMaxItems) + " items to verify"});
  }
  if (items.status != JsonStatus::found) {
    return refused(
        {Reason::payload_unreadable, "the body has no list of items at '" + parts_.each + "'"});
  }
  Verdict verdict;
  if (items.raw.empty()) {
    return refused(
        {Reason::signature_missing, "the list of items, each of which is signed, is empty"});
  }
  const char* end = request_.body.data() + request_.body.size();
  for (const std::string_view item : items.raw) {
    const auto after = static_cast<std::size_t>(end - (item.data() + item.size()));
    if (!json->open(item, after + request_.body_padding)) {
      return refused({Reason::payload_unreadable, "an item is not JSON"});
    }
    item_ = json;
    verdict = run_one();
    if (!verdict.authentic()) break;
  }
  return verdict;
}

Verdict Check::run_one() {
  if (parts_.algorithm == Algorithm::basic) return run_basic();
  if (!parts_.body_hash_query.empty()) {
    if (MaybeFailure failure = check_body_hash()) return refused(std::move(*failure));
  }
  if (MaybeFailure failure = candidates_.read(item_)) return refused(std::move(*failure));
  if (candidates_.all().empty()) {
    if (const std::optional<Verdict>& refusal = candidates_.refusal()) return *refusal;
    return refused({Reason::signature_missing, "no signature"});
  }
  return match_all();
}

Verdict Check::match_all() {
  Verdict verdict = match(0);
  for (std::size_t time = 1; time < candidates_.times().size() && !verdict.authentic(); ++time) {
    keep_better(verdict, match(time));
  }
  if (!verdict.authentic() && candidates_.refusal()) {
    Verdict first = *candidates_.refusal();
    keep_better(first, std::move(verdict));
    verdict = std::move(first);
  }
  return verdict;
}

Verdict Check::run_basic() const {
  const HeaderValue header = headers_.find("authorization");
  if (header.status == FieldStatus::ambiguous) {
    return refused({Reason::header_malformed, "two Authorization headers"});
  }
  constexpr std::string_view kScheme = "basic ";
  if (header.status != FieldStatus::found || header.text.size() < kScheme.size() ||
      !equal_ignoring_case(header.text.substr(0, kScheme.size()), kScheme)) {
    return refused({Reason::signature_missing, "no Basic credentials in the Authorization header"});
  }
  const auto credentials = from_base64(header.text.substr(kScheme.size()));
  for (std::size_t i = 0; credentials && i < parts_.secrets.size(); ++i) {
    if (!equal_secrets(*credentials, parts_.secrets[i].text)) continue;
    Verdict verdict;
    verdict.secret = i;
    return verdict;
  }
  return refused({Reason::signature_invalid, "the Basic credentials do not match"});
}

Verdict Check::match(std::size_t time) {
  const SignedTime& at = candidates_.times()[time];
  time_text_ = at.text;
  const std::vector<Message>& messages = parts_.messages;
  Verdict verdict = match_message(time, messages.empty() ? nullptr : &messages.front());
  for (std::size_t i = 1; i < messages.size() && !verdict.authentic(); ++i) {
    keep_better(verdict, match_message(time, &messages[i]));
  }
  if (!verdict.authentic() || !at.value) return verdict;
  // Checked after the signature, so that "outside the window" implies a valid signature.
  if (MaybeFailure failure = check_window(*at.value, now_, parts_.time)) {
    verdict = refused(std::move(*failure));
  } else {
    verdict.signed_at = at.value;
  }
  return verdict;
}

// Messages that are rejected even with a valid signature, because others may have made it or
// because it is also valid for another request.
MaybeFailure Check::check_message(const Message& message) {
  if (parts_.algorithm == Algorithm::sha256 && !message.ends_with_secret() &&
      holds_padding(request_.body)) {
    return Failure{Reason::signature_invalid,
                   "the body is a possible length extension of a plain hash"};
  }
  if (message.has_joints()) {
    if (MaybeFailure failure = message.check_joints(ingredients({}), parts_.time)) return failure;
  }
  if (parts_.challenge == Challenge::none) return std::nullopt;
  ChallengeForm form(parts_.challenge);
  if (MaybeFailure failure = message.render(ingredients({}), form)) return failure;
  if (!form.fits()) return std::nullopt;
  return Failure{Reason::signature_invalid,
                 "the signed text has the form of a handshake challenge"};
}

Verdict Check::match_message(std::size_t time, const Message* message) {
  rendered_.reset();
  if (message != nullptr) {
    if (MaybeFailure failure = check_message(*message)) return refused(std::move(*failure));
  }
  for (std::size_t i = 0; i < parts_.secrets.size(); ++i) {
    if (!has_candidate(i, time)) continue;
    bool matches = false;
    if (MaybeFailure failure = signed_by(i, time, message, matches)) {
      return refused(std::move(*failure));
    }
    if (!matches) continue;
    Verdict verdict;
    verdict.secret = i;
    return verdict;
  }
  return refused({Reason::signature_invalid, "no configured secret matches"});
}

template <class Visit>
void Check::for_each_candidate(std::size_t secret, std::size_t time, const Visit& visit) const {
  for (const Candidate& each : candidates_.all()) {
    const int only = each.place->secret;
    if (each.time == time && (only < 0 || static_cast<std::size_t>(only) == secret)) visit(each);
  }
}

bool Check::has_candidate(std::size_t secret, std::size_t time) const {
  bool any = false;
  for_each_candidate(secret, time, [&](const Candidate&) { any = true; });
  return any;
}

MaybeFailure Check::signed_by(std::size_t secret, std::size_t time, const Message* message,
                              bool& matches) {
  if (parts_.algorithm == Algorithm::token) {
    matches = is_token(secret, time);
    return std::nullopt;
  }
  if (parts_.secrets[secret].key) return is_key_signature(secret, time, *message, matches);
  return is_digest(secret, time, *message, matches);
}

bool Check::is_token(std::size_t secret, std::size_t time) const {
  bool matches = false;
  for_each_candidate(secret, time, [&](const Candidate& each) {
    matches |= equal_secrets(each.text(), parts_.secrets[secret].text);
  });
  return matches;
}

// Sorting, decompressing and escaping happen once for all secrets.
MaybeFailure Check::render_once(const Message& message) {
  if (rendered_) return std::nullopt;
  StringSink sink;
  if (MaybeFailure failure = message.render(ingredients({}), sink)) return failure;
  rendered_ = std::move(sink.text);
  return std::nullopt;
}

MaybeFailure Check::is_digest(std::size_t secret, std::size_t time, const Message& message,
                              bool& matches) {
  const Secret& by = parts_.secrets[secret];
  Hashing hashing = by.hmac ? by.hmac->begin() : Hashing(Hash::sha256);
  if (parts_.secrets.size() > 1 && message.is_worth_keeping()) {
    if (MaybeFailure failure = render_once(message)) return failure;
    hashing.add(*rendered_);
  } else if (MaybeFailure failure = message.render(ingredients(by.text), hashing)) {
    return failure;
  }
  const HashValue expected = by.hmac ? by.hmac->finish(hashing) : hashing.finish();
  ++digests_;
  std::array<unsigned char, kMaxDigest> buffer;
  for_each_candidate(secret, time, [&](const Candidate& each) {
    const auto bytes = decode(each.text(), each.place->encoding, buffer);
    matches |= bytes && equal_in_constant_time(*bytes, expected.view());
  });
  return std::nullopt;
}

// Ed25519 signs the message instead of a digest, so that each check reads the whole message.
MaybeFailure Check::is_key_signature(std::size_t secret, std::size_t time, const Message& message,
                                     bool& matches) {
  const bool hashed = parts_.algorithm != Algorithm::ed25519;
  if (!hashed) {
    if (MaybeFailure failure = render_once(message)) return failure;
  } else if (!rendered_) {
    Hashing hashing(Hash::sha256);
    if (MaybeFailure failure = message.render(ingredients({}), hashing)) return failure;
    rendered_ = hashing.finish().view();
    ++digests_;
    if (parts_.hashed_twice) rendered_ = hash_of(Hash::sha256, *rendered_).view();
  }
  const PublicKey& key = *parts_.secrets[secret].key;
  std::array<unsigned char, kMaxSignatureBytes> buffer;
  for_each_candidate(secret, time, [&](const Candidate& each) {
    const auto bytes = decode(each.text(), each.place->encoding, buffer);
    if (!bytes) return;
    if (!hashed) ++digests_;
    matches |= hashed ? key.verify_digest(*rendered_, *bytes)
                      : key.verify(SignatureHash::none, *rendered_, *bytes);
  });
  return std::nullopt;
}

}  // namespace

}  // namespace verify_detail

Verifier::Verifier(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Verifier::~Verifier() = default;
Verifier::Verifier(Verifier&&) noexcept = default;
Verifier& Verifier::operator=(Verifier&&) noexcept = default;

Result<Verifier> Verifier::make(const Scheme& scheme, std::span<const std::string> secrets,
                                const Context& context) {
  HAPAX_TRY_ASSIGN(parts, Parts::make(scheme, context));
  if (secrets.empty() && scheme.algorithm != Algorithm::none) {
    return Error(Code::invalid_argument, "no secret; use secrets = [...]");
  }
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    Result<verify_detail::Secret> secret = verify_detail::make_secret(scheme, secrets[i]);
    if (!secret) {
      return Error(secret.error().code(),
                   "secret " + std::to_string(i + 1) + ": " + secret.error().detail());
    }
    parts.secrets.push_back(std::move(*secret));
  }
  return Verifier(std::make_unique<const Parts>(std::move(parts)));
}

Result<Verifier> Verifier::make_refusing(const Scheme& scheme, const Context& context) {
  HAPAX_TRY_ASSIGN(parts, Parts::make(scheme, context));
  if (scheme.algorithm == Algorithm::none) {
    return Error(Code::misconfigured, "a scheme without verification rejects nothing");
  }
  return Verifier(std::make_unique<const Parts>(std::move(parts)));
}

Verdict Verifier::verify(const Request& request, WallTime now, Scratch& scratch) const {
  switch (parts_->algorithm) {
    case Algorithm::none:
      return {};
    case Algorithm::jwt:
      return verify_detail::verify_jwt(*parts_, request, now);
    case Algorithm::aws_sns:
      return verify_detail::verify_sns(*parts_, request, scratch);
    default:
      return verify_detail::Check(*parts_, request, now, scratch.json(), max_inflated_).run();
  }
}

Result<Verdict> verify(const Preset* preset, std::span<const std::string> secrets,
                       const Request& request, WallTime now, const Context& context) {
  if (preset == nullptr) {
    return Error(Code::misconfigured, "unknown preset; run 'hapax presets'");
  }
  HAPAX_TRY_ASSIGN(verifier, Verifier::make(preset->verify, secrets, context));
  Scratch scratch;
  return verifier.verify(request, now, scratch);
}

}  // namespace hapax
