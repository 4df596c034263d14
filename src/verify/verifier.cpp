// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/base64.hpp"
#include "base/form.hpp"
#include "base/hex.hpp"
#include "base/try.hpp"
#include "verify/challenge.hpp"
#include "verify/parts.hpp"

#include <hapax/verify.hpp>

#include <algorithm>

namespace hapax {

namespace verify_detail {

namespace {

constexpr std::size_t kMaxItems = 10000;  // of a scheme that signs each

// Of two refusals the one that says more: how far the check came.
int weight(Reason reason) {
  switch (reason) {
    case Reason::none:
      return 4;
    case Reason::timestamp_outside_window:
      return 3;
    case Reason::signature_invalid:
      return 2;
    case Reason::signature_missing:
      return 0;
    default:
      return 1;
  }
}

void keep_better(Verdict& best, Verdict other) {
  if (weight(other.reason) > weight(best.reason)) best = std::move(other);
}

// What a hash of MD5's family puts behind every message before it is finished: 0x80, and a length
// in bits that starts with zeros. Who continues a hash cannot leave it out, and no text holds it.
bool holds_padding(std::string_view text) {
  constexpr std::string_view kPadding("\x80\0\0\0", 4);
  return text.find(kPadding) != text.npos;
}

// Equal texts, without telling by the time how much of a guess was right, or how long the secret
// is.
bool equal_secrets(std::string_view a, std::string_view b) {
  return equal_in_constant_time(hash_of(Hash::sha256, a).view(), hash_of(Hash::sha256, b).view());
}

// One request (or one item of it) against one verifier.
class Check {
 public:
  Check(const Verifier::Parts& parts, const Request& request, WallTime now, JsonReader& json)
      : parts_(parts),
        request_(request),
        now_(now),
        headers_(request, parts.alias),
        fields_(request, json) {}

  Verdict run();

 private:
  MaybeFailure check_around() const;
  MaybeFailure check_certificate_url() const;
  MaybeFailure check_body_hash();
  Verdict run_each();
  Verdict run_one();
  Verdict run_basic() const;
  Verdict try_place(const Place& place);
  Verdict try_numbered(const Place& place);
  Verdict try_value(const Place& place, std::string_view value);
  Verdict try_set(const Place& place, std::string_view value);
  Verdict try_list(const Place& place, const SignatureList& list);
  MaybeFailure find_time(const SignatureList& list);
  MaybeFailure find_time_field();
  Verdict match(const Place& place, const SignatureList& list);
  MaybeFailure check_message(const Message& message);
  Verdict match_message(const Place& place, const SignatureList& list, const Message* message);
  MaybeFailure signed_by(const Secret& secret, const Place& place, const SignatureList& list,
                         const Message* message, bool& matches);
  MaybeFailure signed_by_key(const Secret& secret, const Place& place, const SignatureList& list,
                             const Message& message, bool& matches);
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
            header ? std::string_view(parts_.time_field->name) : std::string_view()};
  }

  const Verifier::Parts& parts_;
  const Request& request_;
  const WallTime now_;
  Headers headers_;
  FieldReader fields_;
  JsonReader* item_ = nullptr;
  std::string_view time_text_;
  std::string time_owned_;  // when it is not in a header
  std::optional<WallTime> time_;
};

Verdict Check::run() {
  if (MaybeFailure failure = check_around()) return refused(std::move(*failure));
  if (!parts_.each.empty()) return run_each();
  return run_one();
}

// What must hold beside the signature.
MaybeFailure Check::check_around() const {
  for (const OwnedHeader& required : parts_.required) {
    const HeaderValue value = headers_.find(required.name);
    if (value.status == FieldStatus::absent) {
      return Failure{Reason::signature_missing, "the header '" + required.name + "' is not there"};
    }
    if (value.status != FieldStatus::found) {
      return Failure{Reason::header_malformed,
                     "the header '" + required.name + "' is there more than once"};
    }
    if (!equal_secrets(value.text, required.value)) {
      return Failure{Reason::signature_invalid,
                     "the header '" + required.name + "' is not what it has to be"};
    }
  }
  if (!parts_.certificate_url[0].empty()) return check_certificate_url();
  return std::nullopt;
}

// The key is configured, never fetched from there; but a sender that names a foreign place is not
// the provider.
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
                 "the header '" + parts_.certificate_url[0] + "' is not a place of " + domain};
}

MaybeFailure Check::check_body_hash() {
  const FieldValue value = fields_.read({Field::From::query, parts_.body_hash_query});
  if (value.status != FieldStatus::found) {
    return Failure{Reason::signature_missing,
                   "the query parameter '" + parts_.body_hash_query + "' is not there once"};
  }
  const std::string hash = to_hex(hash_of(Hash::sha256, request_.body).view());
  if (equal_in_constant_time(value.text, hash)) return std::nullopt;
  return Failure{Reason::signature_invalid, "the body is not the one whose hash is in the URL"};
}

// All or nothing: one bad item refuses the request.
Verdict Check::run_each() {
  JsonReader* json = fields_.json();
  if (json == nullptr) return refused({Reason::payload_unreadable, "the body is not JSON"});
  const JsonElements items = json->each(parts_.each, kMaxItems);
  if (items.too_many) {
    return refused({Reason::body_too_large,
                    "there are more than " + std::to_string(kMaxItems) + " items to be verified"});
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
  Verdict best = try_place(parts_.places.front());
  for (std::size_t i = 1; i < parts_.places.size() && !best.authentic(); ++i) {
    keep_better(best, try_place(parts_.places[i]));
  }
  return best;
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
  return refused({Reason::signature_invalid, "the Basic credentials are not the configured ones"});
}

Verdict Check::try_place(const Place& place) {
  if (place.numbered) return try_numbered(place);
  if (place.from == Field::From::header) {
    const HeaderValue value = headers_.find(place.name);
    if (value.status == FieldStatus::ambiguous) {
      return refused({Reason::header_malformed, "the header '" + place.name + "' is there twice"});
    }
    if (value.status != FieldStatus::found || value.text.empty()) {
      return refused({Reason::signature_missing, "the header '" + place.name + "' is not there"});
    }
    return try_value(place, value.text);
  }
  if (place.from == Field::From::json && item_ != nullptr) {
    const JsonValue value = item_->at(place.name);
    if (value.status == JsonStatus::found && value.kind == JsonKind::string) {
      return try_value(place, value.text);
    }
    return refused({Reason::signature_missing, "an item has no '" + place.name + "'"});
  }
  const FieldValue value = fields_.read({place.from, place.name});
  switch (value.status) {
    case FieldStatus::found:
      return try_value(place, value.text);
    case FieldStatus::unreadable:
      return refused({Reason::payload_unreadable,
                      "the body, which holds the signature, is not in "
                      "the format it has to be"});
    case FieldStatus::ambiguous:
      return refused({Reason::header_malformed, "'" + place.name + "' is there twice"});
    default:
      return refused({Reason::signature_missing, "'" + place.name + "' is not in the body"});
  }
}

Verdict Check::try_numbered(const Place& place) {
  Verdict best;
  std::size_t seen = 0;
  for (const Header& header : request_.headers) {
    if (header.value.empty() || header.name.size() <= place.name.size() ||
        !equal_ignoring_case(header.name.substr(0, place.name.size()), place.name)) {
      continue;
    }
    if (++seen > kMaxSignatures) {
      return refused({Reason::header_malformed, "too many headers '" + place.name + "N'"});
    }
    Verdict verdict = try_value(place, header.value);
    if (seen == 1 || weight(verdict.reason) > weight(best.reason)) best = std::move(verdict);
    if (best.authentic()) return best;
  }
  if (seen > 0) return best;
  return refused({Reason::signature_missing, "no header '" + place.name + "N' is there"});
}

Verdict Check::try_value(const Place& place, std::string_view value) {
  if (value.size() > kMaxSignatureText) {
    return refused({Reason::header_malformed, "'" + place.name + "' is too long"});
  }
  if (place.set == 0) return try_set(place, value);
  Verdict best;
  std::size_t sets = 0;
  do {
    if (++sets > kMaxSignatures) {
      return refused({Reason::header_malformed, "too many lists in '" + place.name + "'"});
    }
    const std::size_t end = std::min(value.find(place.set), value.size());
    Verdict verdict = try_set(place, value.substr(0, end));
    if (sets == 1 || weight(verdict.reason) > weight(best.reason)) best = std::move(verdict);
    value.remove_prefix(std::min(end + 1, value.size()));
  } while (!value.empty() && !best.authentic());
  return best;
}

// One list of signatures. Nothing is written down until something is wrong: this is where every
// authentic request passes.
Verdict Check::try_set(const Place& place, std::string_view value) {
  SignatureList list;
  if (MaybeFailure failure = read_list(place, value, list)) return refused(std::move(*failure));
  if (list.count > 0) return try_list(place, list);
  const bool labelled_as_anothers = !value.empty() && (!place.prefix.empty() || place.pair != 0);
  return refused({labelled_as_anothers ? Reason::signature_invalid : Reason::signature_missing,
                  "'" + place.name + "' holds no signature of this scheme"});
}

Verdict Check::try_list(const Place& place, const SignatureList& list) {
  if (MaybeFailure failure = find_time(list)) return refused(std::move(*failure));
  Verdict verdict = match(place, list);
  if (!verdict.authentic() || !time_) return verdict;
  // After the signature: then "outside the window" says that all else is right.
  if (MaybeFailure failure = check_window(*time_, now_, parts_.time)) {
    return refused(std::move(*failure));
  }
  verdict.signed_at = time_;
  return verdict;
}

MaybeFailure Check::find_time(const SignatureList& list) {
  if (parts_.time_in_list) {
    if (!list.time)
      return Failure{Reason::signature_missing, "there is no timestamp in the header"};
    time_text_ = *list.time;
  } else if (!parts_.time_field) {
    return std::nullopt;
  } else if (MaybeFailure failure = find_time_field()) {
    return failure;
  }
  if (parts_.time.format == TimeFormat::opaque) {
    if (is_time_like(time_text_)) return std::nullopt;
    return Failure{Reason::header_malformed, "the timestamp is not written as it has to be"};
  }
  time_ = read_time(time_text_, parts_.time.format);
  if (!time_) {
    return Failure{Reason::header_malformed, "the timestamp is not written as it has to be"};
  }
  return std::nullopt;
}

MaybeFailure Check::find_time_field() {
  const Field& field = *parts_.time_field;
  if (field.from == Field::From::header) {
    const HeaderValue value = headers_.find(field.name);
    if (value.status == FieldStatus::ambiguous) {
      return Failure{Reason::header_malformed, "the header '" + field.name + "' is there twice"};
    }
    if (value.status != FieldStatus::found || value.text.empty()) {
      return Failure{Reason::signature_missing, "the header '" + field.name + "' is not there"};
    }
    time_text_ = value.text;
    return std::nullopt;
  }
  FieldValue value = fields_.read(field);
  if (value.status == FieldStatus::unreadable) {
    return Failure{Reason::payload_unreadable, "the body, which holds the time, cannot be read"};
  }
  if (value.status != FieldStatus::found || !value.number) {
    return Failure{Reason::signature_missing, "the body has no number at '" + field.name + "'"};
  }
  time_owned_ = std::move(value.text);
  time_text_ = time_owned_;
  return std::nullopt;
}

Verdict Check::match(const Place& place, const SignatureList& list) {
  if (parts_.messages.empty()) return match_message(place, list, nullptr);
  Verdict best = match_message(place, list, &parts_.messages.front());
  for (std::size_t i = 1; i < parts_.messages.size() && !best.authentic(); ++i) {
    keep_better(best, match_message(place, list, &parts_.messages[i]));
  }
  return best;
}

// What no signature can make good: a message that others can have signed, or that the sender signed
// as another request.
MaybeFailure Check::check_message(const Message& message) {
  if (parts_.algorithm == Algorithm::sha256 && !message.ends_with_secret() &&
      holds_padding(request_.body)) {
    return Failure{Reason::signature_invalid,
                   "the body holds what anyone needs to continue one that was signed with a plain "
                   "hash"};
  }
  if (MaybeFailure failure = message.check_joints(ingredients({}), parts_.time)) return failure;
  if (parts_.challenge == Challenge::none) return std::nullopt;
  ChallengeForm form(parts_.challenge);
  if (MaybeFailure failure = message.render(ingredients({}), form)) return failure;
  if (!form.fits()) return std::nullopt;
  return Failure{
      Reason::signature_invalid,
      "what is signed has the form of a challenge, which the handshake signs for anyone"};
}

Verdict Check::match_message(const Place& place, const SignatureList& list,
                             const Message* message) {
  if (message != nullptr) {
    if (MaybeFailure failure = check_message(*message)) return refused(std::move(*failure));
  }
  for (std::size_t i = 0; i < parts_.secrets.size(); ++i) {
    if (place.secret >= 0 && static_cast<std::size_t>(place.secret) != i) continue;
    bool matches = false;
    MaybeFailure failure = signed_by(parts_.secrets[i], place, list, message, matches);
    if (failure) return refused(std::move(*failure));
    if (!matches) continue;
    Verdict verdict;
    verdict.secret = i;
    return verdict;
  }
  return refused({Reason::signature_invalid, "no configured secret gives this signature"});
}

MaybeFailure Check::signed_by(const Secret& secret, const Place& place, const SignatureList& list,
                              const Message* message, bool& matches) {
  if (parts_.algorithm == Algorithm::token) {
    for (const std::string_view text : list.signatures()) {
      matches |= equal_secrets(text, secret.text);
    }
    return std::nullopt;
  }
  if (secret.key) return signed_by_key(secret, place, list, *message, matches);
  Hashing hashing = secret.hmac ? secret.hmac->begin() : Hashing(Hash::sha256);
  if (MaybeFailure failure = message->render(ingredients(secret.text), hashing)) return failure;
  const HashValue expected = secret.hmac ? secret.hmac->finish(hashing) : hashing.finish();
  std::array<unsigned char, kMaxDigest> buffer;
  for (const std::string_view text : list.signatures()) {
    const auto bytes = decode(text, place.encoding, buffer);
    matches |= bytes && equal_in_constant_time(*bytes, expected.view());
  }
  return std::nullopt;
}

MaybeFailure Check::signed_by_key(const Secret& secret, const Place& place,
                                  const SignatureList& list, const Message& message,
                                  bool& matches) {
  StringSink sink;
  if (MaybeFailure failure = message.render(ingredients(secret.text), sink)) return failure;
  if (parts_.hashed_twice) sink.text = hash_of(Hash::sha256, sink.text).view();
  const SignatureHash hash =
      parts_.algorithm == Algorithm::ed25519 ? SignatureHash::none : SignatureHash::sha256;
  std::array<unsigned char, kMaxSignatureBytes> buffer;
  for (const std::string_view text : list.signatures()) {
    const auto bytes = decode(text, place.encoding, buffer);
    matches |= bytes && secret.key->verify(hash, sink.text, *bytes);
  }
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
    return Error(Code::invalid_argument, "no secret is given; write secrets = [...]");
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
    return Error(Code::misconfigured, "a scheme that verifies nothing refuses nothing");
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
      return verify_detail::Check(*parts_, request, now, scratch.json()).run();
  }
}

Result<Verdict> verify(const Preset* preset, std::span<const std::string> secrets,
                       const Request& request, WallTime now, const Context& context) {
  if (preset == nullptr) {
    return Error(Code::misconfigured, "there is no such preset; 'hapax presets' lists them");
  }
  HAPAX_TRY_ASSIGN(verifier, Verifier::make(preset->verify, secrets, context));
  Scratch scratch;
  return verifier.verify(request, now, scratch);
}

}  // namespace hapax
