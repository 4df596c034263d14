// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/outgoing.hpp"

#include "base/ascii.hpp"
#include "base/base64.hpp"
#include "base/calendar.hpp"
#include "base/percent.hpp"
#include "gateway/redact.hpp"
#include "model/field.hpp"
#include "model/headers.hpp"
#include "model/ids.hpp"
#include "verify/hmac.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace hapax::deliver {

namespace {

using Words = std::span<const std::string_view>;

// Expect is dropped because hapax has already answered it.
constexpr std::array<std::string_view, 14> kDropped{"Idempotency-Key",
                                                    "Host",
                                                    "Content-Length",
                                                    "Expect",
                                                    "Connection",
                                                    "Keep-Alive",
                                                    "Proxy-Connection",
                                                    "Proxy-Authenticate",
                                                    "TE",
                                                    "Trailer",
                                                    "Proxy-Authorization",
                                                    "Upgrade",
                                                    "Transfer-Encoding",
                                                    "HTTP2-Settings"};
constexpr std::array<std::string_view, 3> kSignature{"webhook-id", "webhook-timestamp",
                                                     "webhook-signature"};
// Headers that describe the original body, which a refetch replaces.
constexpr std::array<std::string_view, 7> kAboutBody{
    "Content-Type", "Content-Encoding", "Content-Language", "Content-MD5",
    "Digest",       "Content-Digest",   "Repr-Digest"};
constexpr std::string_view kOurs = "Hapax-";
constexpr std::string_view kSecretPrefix = "whsec_";

// CGI, WSGI, PHP and Rack pass headers as variables (HTTP_IDEMPOTENCY_KEY), in which '-', '_' and,
// with some servers, any other punctuation become the same character. Names that map to the same
// variable are equal here.
bool same_variable(std::string_view a, std::string_view b) {
  const auto folded = [](char c) { return is_alphanumeric(c) ? to_lower(c) : '-'; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char left, char right) { return folded(left) == folded(right); });
}

bool is_one_of(std::string_view name, Words words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view each) { return same_variable(each, name); });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> named_by_connection(std::span<const Header> headers) {
  std::vector<std::string_view> names;
  for (const Header& each : headers) {
    if (!equal_ignoring_case(each.name, "Connection")) continue;
    for (std::string_view rest = each.value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      names.push_back(trimmed(rest.substr(0, comma)));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return names;
}

// The server rejects invalid headers on arrival. One that was stored in another way must not make
// every attempt fail.
bool can_be_sent(const Header& header) {
  const auto token = [](char c) {
    return c > 0x20 && c < 0x7f &&
           std::string_view("\"(),/:;<=>?@[\\]{}").find(c) == std::string_view::npos;
  };
  const auto text = [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  };
  return !header.name.empty() && std::all_of(header.name.begin(), header.name.end(), token) &&
         std::all_of(header.value.begin(), header.value.end(), text);
}

void keep_senders(const Destination& to, std::string_view stored, bool fetched,
                  std::vector<Header>& into) {
  const std::vector<Header> all = decode_headers(stored).value_or(std::vector<Header>());
  const std::vector<std::string_view> named = named_by_connection(all);
  for (const Header& each : all) {
    if (!goes_on(each.name) || is_one_of(each.name, named)) continue;
    if (!to.secret.empty() && is_one_of(each.name, kSignature)) continue;
    if (fetched && is_one_of(each.name, kAboutBody)) continue;
    if (each.value == gateway::kRedacted || !can_be_sent(each)) continue;
    into.push_back(each);
  }
}

void sign(const Destination& to, const std::string& key, std::string_view body, WallTime now,
          std::vector<OwnedHeader>& added) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const std::string timestamp = std::to_string(seconds);
  added.push_back({"webhook-id", key});
  added.push_back({"webhook-timestamp", timestamp});
  added.push_back({"webhook-signature", webhook_signature(to.secret, key, timestamp, body)});
}

}  // namespace

bool goes_on(std::string_view name) {
  const bool ours = same_variable(name.substr(0, kOurs.size()), kOurs);
  return !ours && !is_one_of(name, kDropped);
}

std::vector<Header> senders_headers(std::string_view stored) {
  std::vector<Header> headers;
  keep_senders(Destination(), stored, false, headers);
  return headers;
}

std::string header_text(std::string_view text) {
  return percent_encoded(text, [](char each) { return each > 0x20 && each < 0x7f && each != '%'; });
}

std::string webhook_signature(std::string_view secret, std::string_view id,
                              std::string_view timestamp, std::string_view body) {
  std::string key(secret);
  if (secret.starts_with(kSecretPrefix)) {
    key = from_base64(secret.substr(kSecretPrefix.size())).value_or(key);
  }
  const verify_detail::HmacKey hmac(verify_detail::Hash::sha256, key);
  verify_detail::Hashing message = hmac.begin();
  for (const std::string_view part :
       {id, std::string_view("."), timestamp, std::string_view("."), body}) {
    message.add(part);
  }
  return "v1," + to_base64(hmac.finish(message).view());
}

OutgoingDelivery outgoing(const Destination& to, const store::Leased& what, std::string_view source,
                          WallTime now, const Fetched* fetched) {
  OutgoingDelivery made;
  made.body = fetched != nullptr ? std::string_view(fetched->body) : what.event.body;
  const std::string key = to_text(DeliveryRef{what.event.no, what.delivery});
  std::vector<OwnedHeader>& added = made.added;
  added.push_back({"Idempotency-Key", key});
  added.push_back({"Hapax-Event", to_text(what.event.no)});
  added.push_back({"Hapax-Id", header_text(what.event.id)});
  added.push_back({"Hapax-Source", header_text(source)});
  added.push_back({"Hapax-Tenant", header_text(what.event.tenant)});
  added.push_back({"Hapax-Attempt", std::to_string(what.attempt)});
  added.push_back({"Hapax-Fence", std::to_string(what.fence.value())});
  added.push_back({"Hapax-Received-At", format_rfc3339(what.event.received)});
  if (what.event.would != Would::none) {
    added.push_back({"Hapax-Would", std::string(name(what.event.would))});
  }
  if (what.replay_of) {
    added.push_back({"Hapax-Replay-Of", to_text(DeliveryRef{what.event.no, *what.replay_of})});
  }
  if (fetched != nullptr) {
    added.push_back({"Hapax-Refetched", "true"});
    if (!fetched->content_type.empty()) added.push_back({"Content-Type", fetched->content_type});
    if (!fetched->content_encoding.empty()) {
      added.push_back({"Content-Encoding", fetched->content_encoding});
    }
  }
  if (!to.secret.empty()) sign(to, key, made.body, now, added);
  keep_senders(to, what.event.headers, fetched != nullptr, made.headers);
  for (const OwnedHeader& each : added) made.headers.push_back({each.name, each.value});
  return made;
}

}  // namespace hapax::deliver
