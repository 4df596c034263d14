// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/endpoint.hpp"

#include "gateway/answer.hpp"
#include "gateway/redact.hpp"

namespace hapax::gateway {

namespace {

using http::Refusal;

constexpr std::string_view kPrefix = "/in/";

// The source and tenant in the path, not decoded. Names need no escapes, so an escaped name matches
// no source.
std::string_view source_in(std::string_view path) {
  return path.substr(0, kPrefix.size()) == kPrefix ? path.substr(kPrefix.size())
                                                   : std::string_view();
}

// The reason why no source has this path.
Refusal not_found_reason(const Sources& sources, std::string_view path) {
  const std::string_view whole = source_in(path);
  if (whole.empty()) return Refusal::not_found;
  const std::string name(whole.substr(0, whole.find('/')));
  const auto tenant = sources.by_name.lower_bound(name + '/');
  const bool has_tenants = tenant != sources.by_name.end() && tenant->first.starts_with(name + '/');
  const bool known = has_tenants || sources.by_name.count(name) != 0;
  return known ? Refusal::tenant_unknown : Refusal::source_unknown;
}

bool has_handshake(const Source& source) {
  return source.preset != nullptr && source.preset->handshake != Handshake::none;
}

bool accepts_handshake(const Source& source, std::string_view method) {
  return has_handshake(source) && (method == "GET" || method == "HEAD");
}

// True if the request carries a provisioned secret, which must not be stored.
bool carries_secret(const Source& source, const Request& request, WallTime now) {
  if (source.preset == nullptr) return false;
  const Handshake kind = source.preset->handshake;
  if (kind != Handshake::asana && kind != Handshake::notion) return false;
  const auto answer = answer_handshake(*source.preset, source.secrets, request, now);
  return answer && !answer->secret.empty();
}

// The approximate size of the request when stored.
std::size_t size_of(const Request& request) {
  std::size_t size = request.url.size() + request.body.size();
  for (const Header& each : request.headers) size += each.name.size() + each.value.size();
  return size;
}

KeptReject reject_of(const Source& source, const Request& request, const ReceiveContext& context,
                     Redacted redacted) {
  KeptReject kept{.source = source.no, .source_name = source.name, .received = context.received};
  kept.tenant = source.tenant;
  kept.method = request.method;
  kept.headers = std::move(redacted.headers);
  kept.proof = std::move(redacted.proof);
  kept.body = std::move(redacted.body);
  return kept;
}

}  // namespace

const Sources::Entry* find_source(const Sources& sources, std::string_view path) {
  const auto found = sources.by_name.find(source_in(path));
  return found == sources.by_name.end() ? nullptr : &found->second;
}

prometheus::Counter& counter_of(SourceMetrics& metrics, const Accepted& event) {
  if (event.would == Would::reject) return metrics.would_reject;
  if (event.changed) return metrics.changed;
  return event.duplicate ? metrics.duplicate : metrics.accepted;
}

std::string url_of(const Source& source, const http::Head& head) {
  if (!source.public_url.empty()) return source.public_url + std::string(head.target);
  const Header* host = head.find("Host");
  return "http://" + std::string(host == nullptr ? "" : host->value) + std::string(head.target);
}

Endpoint::Endpoint(const EndpointDeps& deps, std::shared_ptr<const Sources> sources)
    : deps_(deps),
      sources_(std::move(sources)),
      receiver_(deps.receiver, &deps.verifying),
      limit_(deps.receiver.clock) {}

std::variant<http::ReadBody, http::Reply> Endpoint::on_headers(const http::Head& head,
                                                               std::string_view peer) {
  const Sources::Entry* entry = find_source(*sources_, head.path());
  if (entry == nullptr) {
    const Refusal why = not_found_reason(*sources_, head.path());
    note_refusal("", name(why), head.path(), peer);
    return http::problem(why);
  }
  if (head.method != "POST" && !accepts_handshake(entry->source, head.method)) {
    return wrong_method(entry->source, peer);
  }
  return http::ReadBody{entry->source.max_body,
                        std::shared_ptr<const Sources::Entry>(sources_, entry)};
}

Task<http::Reply> Endpoint::answer(const http::Incoming& incoming) {
  const auto& entry = static_cast<const Sources::Entry&>(*incoming.context);
  const Source& source = entry.source;
  const std::string url = url_of(source, incoming.head);
  const Request request{.method = incoming.head.method,
                        .url = url,
                        .headers = incoming.head.headers,
                        .body = incoming.body,
                        .body_padding = kBodyPadding};
  const ReceiveContext context{.received = deps_.receiver.clock.wall()};
  Received received = co_await receiver_.receive(source, request, context);
  const bool observes = !source.enforce && request.method == "POST" &&
                        !carries_secret(source, request, context.received);
  if (observes) {
    co_await receiver_.observe(source, request, received);
  }
  keep(source, request, context, received, incoming);
  co_return reply_to(entry, received, incoming);
}

void Endpoint::count(SourceMetrics& metrics, const std::vector<Accepted>& accepted,
                     std::size_t bytes) {
  bool authentic = accepted.empty();
  for (const Accepted& each : accepted) {
    authentic = authentic || each.would != Would::reject;
    counter_of(metrics, each).Increment();
  }
  metrics.bytes.Increment(static_cast<double>(bytes));
  if (!authentic) return;
  metrics.last_seen.Set(
      std::chrono::duration<double>(deps_.receiver.clock.wall().time_since_epoch()).count());
}

http::Reply Endpoint::reply_to(const Sources::Entry& entry, const Received& received,
                               const http::Incoming& incoming) {
  const Source& source = entry.source;
  if (const auto* stored = std::get_if<Stored>(&received)) {
    for (const Item& each : stored->rejected) {
      note_refusal(source.name, name(each.reason), each.detail, incoming.peer);
    }
    count(*entry.metrics, stored->events, incoming.body.size());
    return acknowledgement(source, *stored);
  }
  if (const auto* answer = std::get_if<HandshakeAnswer>(&received)) return handshake(*answer);
  if (const auto* refused = std::get_if<Refused>(&received)) {
    const bool no_method = incoming.head.method != "POST";  // not a handshake
    if (no_method) return wrong_method(source, incoming.peer);
    note_refusal(source.name, name(refused->reason), refused->detail, incoming.peer);
    return refusal(*refused);
  }
  const Error& error = std::get<Error>(received);
  note_refusal(source.name, info(error.code()).name, error.detail(), incoming.peer);
  return failure(error);
}

void Endpoint::keep(const Source& source, const Request& request, const ReceiveContext& context,
                    const Received& received, const http::Incoming& incoming) {
  const std::string network = network_of(incoming.peer);
  const auto kept = [&](Reason reason, const std::string& detail, Redacted redacted) {
    KeptReject reject = reject_of(source, request, context, std::move(redacted));
    reject.reason = reason;
    reject.detail = detail;
    reject.target = incoming.head.target;
    reject.address = network;
    deps_.rejects.add(std::move(reject));
  };
  if (const auto* refused = std::get_if<Refused>(&received)) {
    if (request.method != "POST" || refused->reason == Reason::body_too_large) return;
    if (carries_secret(source, request, context.received)) return;
    if (!deps_.rejects.reserve(source, network, size_of(request))) return;
    kept(refused->reason, refused->detail, redact(source, request, deps_.secret));
  }
  const auto* stored = std::get_if<Stored>(&received);
  if (stored == nullptr) return;
  const std::size_t around = size_of(request) - request.body.size();
  for (const Item& each : stored->rejected) {
    if (!deps_.rejects.reserve(source, network, around + each.bytes.size())) continue;
    kept(each.reason, each.detail, redact_item(source, request, each.bytes, deps_.secret));
  }
}

http::Reply Endpoint::wrong_method(const Source& source, std::string_view peer) {
  refused(Refusal::method_not_allowed, peer);
  http::Reply reply = http::problem(Refusal::method_not_allowed);
  reply.headers.push_back({"Allow", has_handshake(source) ? "GET, HEAD, POST" : "POST"});
  return reply;
}

void Endpoint::refused(Refusal why, std::string_view peer) {
  note_refusal("", name(why), "", peer);
}

void Endpoint::note_refusal(const std::string& source, std::string_view reason,
                            std::string_view detail, std::string_view peer) {
  deps_.metrics.refused(source, reason);
  const std::optional<std::string> more = limit_.pass(source + '/' + std::string(reason));
  if (!more) return;
  deps_.log.line(Level::warning, "request rejected",
                 {{"source", source},
                  {"reason", reason},
                  {"detail", detail},
                  {"peer", peer},
                  {"more", *more}});
}

}  // namespace hapax::gateway
