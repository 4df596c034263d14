// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/vectors.hpp"

#include "base/base64.hpp"
#include "base/try.hpp"

#include <hapax/identify.hpp>
#include <hapax/verify.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <istream>
#include <ostream>
#include <vector>

namespace hapax::cli {

namespace {

namespace json = boost::json;

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// One parsed line.
struct Vector {
  std::string provider;
  std::string scheme;
  std::string name;
  std::vector<std::string> secrets;
  std::string key_id;
  std::vector<OwnedHeader> parameters;
  std::string method;
  std::string url;
  std::vector<OwnedHeader> headers;
  std::string body;
  WallTime now;
  std::string expect;
  std::string event_id;
  bool policy = false;  // the receiver may choose the outcome
};

void add_text(std::vector<OwnedHeader>& to, std::string_view name, const json::value& value) {
  if (value.is_string()) to.push_back({std::string(name), std::string(value.get_string())});
  if (value.is_array()) {
    for (const json::value& each : value.get_array()) add_text(to, name, each);
  }
}

std::vector<OwnedHeader> texts_in(const json::object& object, std::string_view name) {
  std::vector<OwnedHeader> texts;
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_object()) return texts;
  for (const auto& [key, each] : value->get_object()) add_text(texts, key, each);
  return texts;
}

std::vector<std::string> secrets_in(const json::object& object) {
  std::vector<std::string> secrets;
  for (const std::string_view name : {"secret", "public_key"}) {
    if (object.if_contains(name) != nullptr) secrets.push_back(text_of(object, name));
  }
  for (OwnedHeader& each : texts_in(object, "secrets")) secrets.push_back(std::move(each.value));
  return secrets;
}

std::optional<Vector> parse_vector(std::string_view line) {
  boost::system::error_code failure;
  const json::value value = json::parse(line, failure);
  if (failure || !value.is_object()) return std::nullopt;
  const json::object& object = value.get_object();
  const std::optional<std::string> body = from_base64(text_of(object, "body_base64"));
  const json::value* now = object.if_contains("now_unix");
  if (!body || now == nullptr || !now->is_number()) return std::nullopt;
  const auto seconds = std::chrono::duration<double>(now->to_number<double>());
  constexpr double kMaxSeconds = 1e12;  // still fits in microseconds
  if (!(seconds.count() >= 0 && seconds.count() < kMaxSeconds)) return std::nullopt;
  return Vector{.provider = text_of(object, "provider"),
                .scheme = text_of(object, "scheme"),
                .name = text_of(object, "case"),
                .secrets = secrets_in(object),
                .key_id = text_of(object, "key_id"),
                .parameters = texts_in(object, "params"),
                .method = text_of(object, "method"),
                .url = text_of(object, "url"),
                .headers = texts_in(object, "headers"),
                .body = *body,
                .now = WallTime(std::chrono::round<std::chrono::microseconds>(seconds)),
                .expect = text_of(object, "expect"),
                .event_id = text_of(object, "event_id"),
                .policy = object.if_contains("policy") != nullptr};
}

const Preset* preset_of(const Vector& vector) {
  for (const Preset& preset : presets()) {
    if (preset.provider == vector.provider && preset.scheme == vector.scheme) return &preset;
  }
  return nullptr;
}

std::vector<Header> views_of(const std::vector<OwnedHeader>& headers) {
  std::vector<Header> views;
  views.reserve(headers.size());
  for (const OwnedHeader& each : headers) views.push_back({each.name, each.value});
  return views;
}

struct Outcome {
  std::string verdict = "unsupported";
  std::string_view reason;
  std::string event_id;
};

// Unsupported if the vector lacks something that the scheme needs. Invalid if the secret is
// malformed or empty, because nothing can be verified with it.
Outcome outcome_of(const Error& error) {
  if (error.code() != Code::invalid_argument) return {};
  return {"invalid", name(Reason::signature_invalid), ""};
}

std::string event_id_in(const IdentityRule& rule, const Request& request, Scratch& scratch) {
  const Result<Identifier> identifier = Identifier::make(rule);
  if (!identifier) return {};
  const Identified identified = identifier->identify(request, scratch);
  return identified.items.empty() ? std::string() : identified.items.front().identity.id;
}

Outcome run(const Vector& vector, const Scheme& scheme, const IdentityRule* rule) {
  const std::vector<Header> parameters = views_of(vector.parameters);
  const Context context{vector.key_id, parameters};
  const Result<Verifier> verifier = Verifier::make(scheme, vector.secrets, context);
  if (!verifier) return outcome_of(verifier.error());
  const std::vector<Header> headers = views_of(vector.headers);
  const Request request{vector.method, vector.url, headers, vector.body, 0};
  Scratch scratch;
  const Verdict verdict = verifier->verify(request, vector.now, scratch);
  if (!verdict.authentic()) return {"invalid", name(verdict.reason), ""};
  return {"valid", "", rule != nullptr ? event_id_in(*rule, request, scratch) : ""};
}

std::string parameter(const Vector& vector, std::string_view name) {
  for (const OwnedHeader& each : vector.parameters) {
    if (each.name == name) return each.value;
  }
  return {};
}

std::optional<Algorithm> algorithm_named(std::string_view name) {
  if (name == "md5") return Algorithm::hmac_md5;
  if (name == "sha1") return Algorithm::hmac_sha1;
  if (name == "sha256") return Algorithm::hmac_sha256;
  if (name == "sha384") return Algorithm::hmac_sha384;
  if (name == "sha512") return Algorithm::hmac_sha512;
  return std::nullopt;
}

// "generic-hmac": the vector's parameters describe the scheme, with the keys of a source's `verify`
// table.
Outcome run_generic(const Vector& vector) {
  const auto algorithm = algorithm_named(parameter(vector, "algorithm"));
  if (!algorithm) return {};
  const std::string at = "header:" + parameter(vector, "header");
  const std::string time_at = "header:" + parameter(vector, "timestamp_header");
  const std::string prefix = parameter(vector, "prefix");
  const std::string encoding = parameter(vector, "encoding");
  std::string message = parameter(vector, "signing_string");
  for (std::size_t at_time; (at_time = message.find("{timestamp}")) != message.npos;) {
    message.replace(at_time, 11, "{time}");
  }
  Scheme scheme;
  scheme.algorithm = *algorithm;
  scheme.messages[0] = message;
  scheme.signatures[0].at = at;
  scheme.signatures[0].prefix = prefix;
  scheme.signatures[0].encoding = encoding == "hex"      ? Encoding::hex
                                  : encoding == "base64" ? Encoding::base64
                                                         : Encoding::base64url;
  if (parameter(vector, "secret_encoding") == "hex") scheme.secret.form = SecretForm::hex;
  if (parameter(vector, "secret_encoding") == "base64") scheme.secret.form = SecretForm::base64;
  if (time_at != "header:") {
    scheme.time = {.at = time_at,
                   .format = parameter(vector, "timestamp_unit") == "ms"
                                 ? TimeFormat::unix_milliseconds
                                 : TimeFormat::unix_seconds,
                   .past = std::chrono::seconds(300),
                   .future = std::chrono::seconds(300)};
  }
  return run(vector, scheme, nullptr);
}

Outcome run(const Vector& vector) {
  if (vector.provider == "generic-hmac") return run_generic(vector);
  const Preset* preset = preset_of(vector);
  if (preset == nullptr) return {};
  return run(vector, preset->verify, &preset->identity);
}

bool is_missed(const Vector& vector, const Outcome& outcome) {
  if (vector.policy || outcome.verdict == "unsupported") return false;
  return outcome.verdict != vector.expect ||
         (!vector.event_id.empty() && outcome.event_id != vector.event_id);
}

void count(const Outcome& outcome, VectorTotals& totals) {
  totals.valid += outcome.verdict == "valid" ? 1 : 0;
  totals.invalid += outcome.verdict == "invalid" ? 1 : 0;
  totals.unsupported += outcome.verdict == "unsupported" ? 1 : 0;
}

}  // namespace

VectorTotals run_vectors(std::istream& in, std::ostream& out) {
  VectorTotals totals;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    ++totals.lines;
    const std::optional<Vector> vector = parse_vector(line);
    if (!vector) {
      ++totals.missed;
      out << R"({"error":"this line is not a signature vector"})" << '\n';
      continue;
    }
    const Outcome outcome = run(*vector);
    count(outcome, totals);
    json::object answer{{"provider", vector->provider}, {"scheme", vector->scheme},
                        {"case", vector->name},         {"verdict", outcome.verdict},
                        {"reason", outcome.reason},     {"event_id", nullptr}};
    if (!outcome.event_id.empty()) answer["event_id"] = outcome.event_id;
    if (is_missed(*vector, outcome)) {
      ++totals.missed;
      answer["missed"] = true;
    }
    out << answer << '\n';
  }
  return totals;
}

}  // namespace hapax::cli
