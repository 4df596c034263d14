// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/ascii.hpp"
#include "base/calendar.hpp"
#include "verify/parts.hpp"

#include <algorithm>
#include <array>

namespace hapax::verify_detail {

namespace {

constexpr std::array<std::string_view, 6> kNotification = {"Message",   "MessageId", "Subject",
                                                           "Timestamp", "TopicArn",  "Type"};
constexpr std::array<std::string_view, 7> kConfirmation = {
    "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"};

std::optional<std::string> text_at(JsonReader& json, std::string_view name) {
  JsonValue value = json.at("/" + std::string(name));
  if (value.status != JsonStatus::found || value.kind != JsonKind::string) return std::nullopt;
  return std::move(value.text);
}

// Subject is the only optional field. A repeated Subject, or one of another type, does not count as
// absent, because other parsers would read it.
bool has_no_subject(JsonReader& json) {
  const JsonValue value = json.at("/Subject");
  return value.status == JsonStatus::absent ||
         (value.status == JsonStatus::found && value.kind == JsonKind::null);
}

// Line breaks separate the fields. Without this check, "an id and a subject" and "an id that ends
// with a subject" would have the same signed text, and one captured message would be valid for
// another id.
bool stays_in_its_line(std::string_view name, const std::string& value) {
  return name == "Message" || name == "Subject" || value.find('\n') == value.npos;
}

template <std::size_t N>
std::optional<std::string> joined(JsonReader& json, const std::array<std::string_view, N>& names) {
  std::string message;
  for (const std::string_view name : names) {
    if (name == "Subject" && has_no_subject(json)) continue;
    const std::optional<std::string> value = text_at(json, name);
    if (!value) return std::nullopt;
    if (!stays_in_its_line(name, *value)) return std::nullopt;
    message.append(name).append("\n").append(*value).append("\n");
  }
  return message;
}

// Amazon signs the messages of all customers with one key: only the topic identifies the customer.
bool is_listed(const std::vector<OwnedHeader>& parameters, const std::string& topic) {
  bool any = false;
  for (const OwnedHeader& each : parameters) {
    if (each.name != "topic") continue;
    if (each.value == topic) return true;
    any = true;
  }
  return !any;
}

}  // namespace

bool is_sns_url(std::string_view url) {
  constexpr std::string_view kStart = "https://sns.";
  const auto is_plain = [](char c) { return c > ' ' && c <= '~'; };
  if (!url.starts_with(kStart) || !std::all_of(url.begin(), url.end(), is_plain)) return false;
  url.remove_prefix(kStart.size());
  const std::string_view host = url.substr(0, url.find('/'));
  const std::string_view region = host.substr(0, host.find('.'));
  const std::string_view domain = host.substr(region.size());
  return region.size() >= 3 &&
         std::all_of(region.begin(), region.end(),
                     [](char c) { return is_alphanumeric_or("-", c); }) &&
         (domain == ".amazonaws.com" || domain == ".amazonaws.com.cn");
}

std::optional<std::string> sns_message(JsonReader& json) {
  const std::optional<std::string> type = text_at(json, "Type");
  if (type == "Notification") return joined(json, kNotification);
  if (type == "SubscriptionConfirmation" || type == "UnsubscribeConfirmation") {
    return joined(json, kConfirmation);
  }
  return std::nullopt;
}

Verdict verify_sns(const Verifier::Parts& parts, const Request& request, Scratch& scratch) {
  JsonReader& json = scratch.json();
  if (!json.open(request.body, request.body_padding) ||
      json.at("").status == JsonStatus::unreadable) {
    return refused({Reason::payload_unreadable, "the body is not JSON"});
  }
  const auto signature_text = text_at(json, "Signature");
  if (!signature_text) return refused({Reason::signature_missing, "the body has no 'Signature'"});
  const std::string certificate = text_at(json, "SigningCertURL").value_or("");
  if (!is_sns_url(certificate) || !certificate.ends_with(".pem")) {
    return refused({Reason::signature_invalid, "'SigningCertURL' is not an Amazon SNS URL"});
  }
  const std::string version = text_at(json, "SignatureVersion").value_or("");
  if (version != "1" && version != "2") {
    return refused({Reason::signature_invalid, "'SignatureVersion' is neither 1 nor 2"});
  }
  const auto message = sns_message(json);
  if (!message) {
    return refused(
        {Reason::payload_unreadable,
         "a field that SNS signs does not occur exactly once, or contains a line break"});
  }
  std::array<unsigned char, kMaxSignatureBytes> buffer;
  const auto signature = decode(*signature_text, Encoding::base64, buffer);
  const SignatureHash hash = version == "2" ? SignatureHash::sha256 : SignatureHash::sha1;
  for (std::size_t i = 0; signature && i < parts.secrets.size(); ++i) {
    if (!parts.secrets[i].key->verify(hash, *message, *signature)) continue;
    if (!is_listed(parts.parameters, text_at(json, "TopicArn").value_or(""))) {
      return refused({Reason::signature_invalid, "the message is from an unlisted topic"});
    }
    Verdict verdict;
    verdict.secret = i;
    verdict.signed_at = parse_rfc3339(text_at(json, "Timestamp").value_or(""));
    return verdict;
  }
  return refused({Reason::signature_invalid, "no certificate matches"});
}

}  // namespace hapax::verify_detail
