// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/answer.hpp"

#include "base/json_text.hpp"
#include "http/problem.hpp"

#include <algorithm>

namespace hapax::gateway {

namespace {

void append_event(std::string& out, const Accepted& event) {
  out += R"({"event":")";
  out += to_text(event.event);
  out += R"(","id":)";
  append_json(out, event.id);
  out += event.duplicate ? R"(,"duplicate":true)" : R"(,"duplicate":false)";
  if (event.would != Would::none) {
    out += R"(,"would":")";
    out += name(event.would);
    out += '"';
  }
  out += '}';
}

std::string list_of(const Stored& stored) {
  const std::span<const Accepted> accepted = stored.events;
  std::string out = R"({"events":[)";
  for (const Accepted& each : accepted) {
    if (&each != accepted.data()) out += ',';
    append_event(out, each);
  }
  const auto duplicates = std::count_if(accepted.begin(), accepted.end(),
                                        [](const Accepted& each) { return each.duplicate; });
  const auto fresh = static_cast<std::ptrdiff_t>(accepted.size()) - duplicates;
  out += R"(],"accepted":)" + std::to_string(fresh);
  out += R"(,"duplicates":)" + std::to_string(duplicates);
  return out + R"(,"rejected":)" + std::to_string(stored.rejected.size()) + "}\n";
}

// The same sentence for every sender; details are only logged.
std::string_view sentence(Reason reason) {
  switch (reason) {
    case Reason::signature_missing:
      return "The request has no signature, or an incomplete one.";
    case Reason::signature_invalid:
      return "The signature does not match the request body for any secret configured for this "
             "source.";
    case Reason::timestamp_outside_window:
      return "The signature timestamp is too old or in the future.";
    case Reason::header_malformed:
      return "A header required for the signature is repeated or malformed.";
    case Reason::payload_unreadable:
      return "The body does not match the format of this source.";
    case Reason::id_missing:
      return "The event id is missing.";
    case Reason::id_ambiguous:
      return "The event id is ambiguous.";
    case Reason::body_too_large:
      return "The request contains too many events.";
    case Reason::none:
      break;
  }
  return "";
}

}  // namespace

std::string in_json(const Source& source, const Stored& stored) {
  if (source.splits) return list_of(stored);
  constexpr std::size_t kRest = 80;  // of the text around the id
  std::string out;
  out.reserve(stored.events.front().id.size() + kRest);
  append_event(out, stored.events.front());
  out += '\n';
  return out;
}

http::Reply acknowledgement(const Source& source, const Stored& stored) {
  const std::vector<Accepted>& accepted = stored.events;
  http::Reply reply{.status = 200, .content_type = "application/json"};
  const bool duplicate = accepted.size() == 1 && accepted.front().duplicate;
  if (duplicate && !source.splits) reply.headers.push_back({"Hapax-Duplicate", "true"});
  if (source.ack) {
    reply.status = source.ack->status;
    reply.body = source.ack->body;
    reply.content_type = {};
    if (!source.ack->content_type.empty()) {
      reply.headers.push_back({"Content-Type", source.ack->content_type});
    }
  } else {
    reply.body = in_json(source, stored);
  }
  return reply;
}

http::Reply refusal(const Refused& refused) {
  return http::problem(http_status(refused.reason), name(refused.reason), sentence(refused.reason));
}

http::Reply handshake(const HandshakeAnswer& answer) {
  http::Reply reply{.status = answer.status, .body = answer.body};
  if (!answer.content_type.empty()) {
    reply.headers.push_back({"Content-Type", answer.content_type});
  }
  reply.headers.insert(reply.headers.end(), answer.headers.begin(), answer.headers.end());
  return reply;
}

// Most store errors are a 503: the sender can only retry.
http::Reply failure(const Error& error) {
  switch (error.code()) {
    case Code::queue_full:
      return http::problem(http::Refusal::queue_full);
    case Code::stopping:
      return http::problem(http::Refusal::stopping);
    case Code::invalid_argument:
      return http::problem(http::Refusal::bad_request, "The request exceeds a limit of the store.");
    default:
      return http::problem(http::Refusal::store_unavailable);
  }
}

}  // namespace hapax::gateway
