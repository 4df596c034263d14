// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/redact.hpp"

#include "base/base64.hpp"
#include "base/form.hpp"
#include "base/json.hpp"
#include "base/json_text.hpp"
#include "base/percent.hpp"
#include "model/field.hpp"
#include "model/headers.hpp"
#include "verify/hmac.hpp"

#include <algorithm>

namespace hapax::gateway {

namespace {

constexpr std::size_t kHmac = 32;
constexpr std::size_t kMaxProofs = store::kMaxRejectText / kHmac;
constexpr std::size_t kMaxItems = 10'000;
constexpr std::string_view kItem = "item";
constexpr std::string_view kHeader = "header:";
constexpr std::string_view kJson = "json:";
constexpr std::string_view kForm = "form:";
constexpr std::string_view kBasic = "basic ";

std::string hmac(const store::StoreSecret& key, std::string_view text) {
  const verify_detail::HmacKey prepared(verify_detail::Hash::sha256,
                                        {reinterpret_cast<const char*>(key.data()), key.size()});
  verify_detail::Hashing hashing = prepared.begin();
  hashing.add(text);
  return std::string(prepared.finish(hashing).view());
}

const Scheme* comparing_scheme(const Source& source) {
  if (!source.scheme) return nullptr;
  const Scheme& scheme = source.scheme->scheme;
  const bool compares =
      scheme.algorithm == Algorithm::token || scheme.algorithm == Algorithm::basic;
  return compares ? &scheme : nullptr;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

// The signature place in this header; null if there is none.
const SignaturePlace* place_of(const Scheme& scheme, std::string_view header) {
  static constexpr SignaturePlace kAuthorization{.at = "header:authorization"};
  if (scheme.algorithm == Algorithm::basic) {
    return equal_ignoring_case(header, "authorization") ? &kAuthorization : nullptr;
  }
  for (const SignaturePlace& each : scheme.signatures) {
    if (each.at.starts_with(kHeader) &&
        equal_ignoring_case(each.at.substr(kHeader.size()), header)) {
      return &each;
    }
  }
  return nullptr;
}

// The part of a header that is compared with the secret.
std::string compared(const Scheme& scheme, const SignaturePlace& place, std::string_view value) {
  if (scheme.algorithm == Algorithm::basic) {
    if (!starts_with_ignoring_case(value, kBasic)) return std::string(value);
    return from_base64(value.substr(kBasic.size())).value_or(std::string(value));
  }
  if (!place.prefix.empty() && value.starts_with(place.prefix)) {
    value.remove_prefix(place.prefix.size());
  }
  return std::string(value);
}

std::string header_with(const Scheme& scheme, const SignaturePlace& place,
                        std::string_view secret) {
  if (scheme.algorithm == Algorithm::basic) return "Basic " + to_base64(secret);
  return std::string(place.prefix) + std::string(secret);
}

// The position and value of a secret in a body.
struct Spot {
  std::size_t at = 0;
  std::size_t size = 0;
  std::string value;
  bool json = true;
};
struct Spots {
  std::vector<Spot> list;
  bool certain = true;  // false: there may be more
};

void add_json_spot(std::string_view body, std::string_view document, std::string_view pointer,
                   JsonReader& reader, Spots& spots) {
  JsonValue value;
  value.status = JsonStatus::unreadable;
  if (reader.open(document, 0)) value = reader.at(pointer);
  if (value.status == JsonStatus::absent) return;
  if (value.status != JsonStatus::found) {
    spots.certain = false;
    return;
  }
  const auto at = static_cast<std::size_t>(value.raw.data() - body.data());
  spots.list.push_back({at, value.raw.size(), std::move(value.text), true});
}

void add_json_spots(std::string_view body, std::string_view pointer, std::string_view each,
                    Spots& spots) {
  JsonReader reader;
  if (each.empty()) return add_json_spot(body, body, pointer, reader, spots);
  JsonReader outer;
  JsonElements items;
  if (outer.open(body, 0)) items = outer.each(each, kMaxItems);
  if (items.status != JsonStatus::found || items.too_many) {
    spots.certain = false;
    return;
  }
  for (const std::string_view item : items.raw) add_json_spot(body, item, pointer, reader, spots);
}

void add_form_spots(std::string_view body, std::string_view name, Spots& spots) {
  for (std::size_t at = 0; at <= body.size();) {
    const std::size_t end = std::min(body.find('&', at), body.size());
    const std::string_view part = body.substr(at, end - at);
    const std::size_t equals = part.find('=');
    const auto field = parse_form(part);
    const bool ours = field && field->size() == 1 && field->front().name == name;
    if (ours && equals != std::string_view::npos) {
      spots.list.push_back(
          {at + equals + 1, part.size() - equals - 1, field->front().value, false});
    }
    at = end + 1;
  }
}

Spots spots_in(const Scheme& scheme, std::string_view body, bool one_item) {
  Spots spots;
  if (scheme.algorithm == Algorithm::basic) return spots;
  const std::string_view each = scheme.each.starts_with(kJson) && !one_item
                                    ? scheme.each.substr(kJson.size())
                                    : std::string_view();
  for (const SignaturePlace& place : scheme.signatures) {
    if (place.at.starts_with(kJson)) {
      add_json_spots(body, place.at.substr(kJson.size()), each, spots);
    } else if (place.at.starts_with(kForm)) {
      add_form_spots(body, place.at.substr(kForm.size()), spots);
    }
  }
  std::sort(spots.list.begin(), spots.list.end(),
            [](const Spot& a, const Spot& b) { return a.at < b.at; });
  return spots;
}

std::string encoded(const Spot& spot, std::string_view text) {
  return spot.json ? json_string(text) : percent_encoded(text, [](char) { return false; });
}

// `replacement` returns the new text of a spot.
template <class Replacement>
std::string replaced(std::string_view body, const std::vector<Spot>& spots,
                     const Replacement& replacement) {
  std::string out;
  std::size_t at = 0;
  for (const Spot& each : spots) {
    if (each.at < at) continue;  // inside the previous one
    out += body.substr(at, each.at - at);
    out += replacement(each);
    at = each.at + each.size;
  }
  return out + std::string(body.substr(at));
}

// One HMAC if all values are the same; empty if there are too many to store.
std::string proof_of(const std::vector<std::string>& values, const store::StoreSecret& key) {
  std::string proof;
  const bool same =
      std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  if (values.empty() || (!same && values.size() > kMaxProofs)) return proof;
  for (const std::string& each : values) {
    proof += hmac(key, each);
    if (same) break;
  }
  return proof;
}

std::string redact_headers(const Source& source, const Request& request, const Scheme* scheme,
                           std::vector<std::string>& values) {
  std::string out;
  for (const Header& each : request.headers) {
    const SignaturePlace* place = scheme == nullptr ? nullptr : place_of(*scheme, each.name);
    const bool known =
        std::any_of(source.secret_headers.begin(), source.secret_headers.end(),
                    [&](const std::string& name) { return equal_ignoring_case(name, each.name); });
    if (place != nullptr) values.push_back(compared(*scheme, *place, each.value));
    append_header(out, each.name, place != nullptr || known ? kRedacted : each.value);
  }
  return out;
}

std::string redact_body(const Scheme* scheme, std::string_view body, bool one_item,
                        std::vector<std::string>& values) {
  if (scheme == nullptr) return std::string(body);
  const Spots spots = spots_in(*scheme, body, one_item);
  if (!spots.certain) return std::string(kRedacted);  // the secret may be anywhere
  for (const Spot& each : spots.list) values.push_back(each.value);
  return replaced(body, spots.list, [](const Spot& spot) { return encoded(spot, kRedacted); });
}

std::string item_proof(const Source& source, std::string_view body, const store::StoreSecret& key) {
  return std::string(kItem) +
         hmac(key, std::string(kItem) + ":" + std::to_string(source.no.value()) + ":" +
                       std::string(body));
}

// Returns the redacted secrets in the order of their places.
class Memory {
 public:
  Memory(const Source& source, std::string_view proof, const store::StoreSecret& key)
      : source_(source), proof_(proof), key_(key) {}

  std::optional<std::string> next() {
    const std::size_t at = proof_.size() == kHmac ? 0 : used_++ * kHmac;
    if (at + kHmac > proof_.size()) return std::nullopt;
    std::optional<std::string> found;
    for (const std::string& each : source_.secrets) {
      const std::string_view prefix = source_.scheme->scheme.secret.prefix;
      const bool prefixed = !prefix.empty() && each.starts_with(prefix);
      const std::string secret = each.substr(prefixed ? prefix.size() : 0);
      const bool same =
          verify_detail::equal_in_constant_time(hmac(key_, secret), proof_.substr(at, kHmac));
      if (same) found = secret;
    }
    return found;
  }

 private:
  const Source& source_;
  std::string_view proof_;
  const store::StoreSecret& key_;
  std::size_t used_ = 0;
};

}  // namespace

Redacted redact(const Source& source, const Request& request, const store::StoreSecret& key) {
  const Scheme* scheme = comparing_scheme(source);
  std::vector<std::string> values;
  Redacted redacted;
  redacted.headers = redact_headers(source, request, scheme, values);
  redacted.body = redact_body(scheme, request.body, false, values);
  redacted.proof = proof_of(values, key);
  return redacted;
}

Redacted redact_item(const Source& source, const Request& request, std::string_view item,
                     const store::StoreSecret& key) {
  const Scheme* scheme = comparing_scheme(source);
  std::vector<std::string> values;
  Redacted redacted;
  redacted.headers = redact_headers(source, request, scheme, values);
  redacted.body = redact_body(scheme, item, true, values);
  redacted.proof = item_proof(source, redacted.body, key);
  return redacted;
}

std::optional<Restored> restore(const Source& source, const store::StoredReject& stored,
                                const store::StoreSecret& key) {
  const std::optional<std::vector<Header>> headers = decode_headers(stored.headers);
  if (!headers) return std::nullopt;
  const Scheme* scheme = comparing_scheme(source);
  Memory memory(source, stored.proof, key);
  Restored restored;
  for (const Header& each : *headers) {
    std::string value(each.value);
    const SignaturePlace* place = scheme == nullptr ? nullptr : place_of(*scheme, each.name);
    if (place != nullptr && value == kRedacted) {
      const std::optional<std::string> secret = memory.next();
      if (secret) value = header_with(*scheme, *place, *secret);
    }
    restored.headers.push_back({std::string(each.name), std::move(value)});
  }
  restored.body = stored.body;
  if (scheme == nullptr) return restored;
  const Spots spots = spots_in(*scheme, stored.body, false);
  restored.body = replaced(stored.body, spots.list, [&](const Spot& spot) {
    const std::optional<std::string> secret =
        spot.value == kRedacted ? memory.next() : std::nullopt;
    return secret ? encoded(spot, *secret) : stored.body.substr(spot.at, spot.size);
  });
  return restored;
}

bool is_item(const Source& source, const store::StoredReject& stored,
             const store::StoreSecret& key) {
  return verify_detail::equal_in_constant_time(stored.proof, item_proof(source, stored.body, key));
}

}  // namespace hapax::gateway
