// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/endpoint.hpp"

#include "gateway/answer.hpp"

namespace hapax::gateway {

namespace {

using http::Refusal;

constexpr std::string_view kPrefix = "/in/";

// The source and its tenant as they stand in the path. Names need no escapes, so an escaped one is
// nobody's.
std::string_view source_in(std::string_view path) {
  return path.substr(0, kPrefix.size()) == kPrefix ? path.substr(kPrefix.size())
                                                   : std::string_view();
}

const Sources::Entry* find(const Sources& sources, const http::Head& head) {
  const auto found = sources.by_name.find(source_in(head.path()));
  return found == sources.by_name.end() ? nullptr : &found->second;
}

// Why there is nobody under this path.
Refusal why_nobody(const Sources& sources, std::string_view path) {
  const std::string_view whole = source_in(path);
  if (whole.empty()) return Refusal::not_found;
  const std::string name(whole.substr(0, whole.find('/')));
  const auto tenant = sources.by_name.lower_bound(name + '/');
  const bool has_tenants = tenant != sources.by_name.end() && tenant->first.starts_with(name + '/');
  const bool known = has_tenants || sources.by_name.count(name) != 0;
  return known ? Refusal::tenant_unknown : Refusal::source_unknown;
}

bool may_greet(const Source& source, std::string_view method) {
  const bool greets = source.preset != nullptr && source.preset->handshake != Handshake::none;
  return greets && (method == "GET" || method == "HEAD");
}

// The URL that the sender called, as far as it is known.
std::string url_of(const Sources& sources, const http::Head& head) {
  if (!sources.public_url.empty()) return sources.public_url + std::string(head.target);
  const Header* host = head.find("Host");
  return "http://" + std::string(host == nullptr ? "" : host->value) + std::string(head.target);
}

}  // namespace

Endpoint::Endpoint(const Shared& shared, std::shared_ptr<const Sources> sources)
    : shared_(shared),
      sources_(std::move(sources)),
      receiver_(shared.commit, shared.numbers, shared.duplicates, shared.unclaimed, shared.clock),
      limit_(shared.clock) {}

std::variant<std::size_t, http::Reply> Endpoint::look(const http::Head& head,
                                                      std::string_view peer) {
  const Sources::Entry* entry = find(*sources_, head);
  if (entry == nullptr) {
    const Refusal why = why_nobody(*sources_, head.path());
    note_refusal("", name(why), head.path(), peer);
    return http::problem(why);
  }
  if (head.method != "POST" && !may_greet(entry->source, head.method)) {
    http::Reply reply = turn_away(Refusal::method_not_allowed, peer);
    reply.headers.push_back({"Allow", "POST"});
    return reply;
  }
  return entry->source.max_body;
}

Task<http::Reply> Endpoint::answer(const http::Incoming& incoming) {
  const std::shared_ptr<const Sources> sources = sources_;
  const Sources::Entry* entry = find(*sources, incoming.head);
  if (entry == nullptr) co_return turn_away(Refusal::source_unknown, incoming.peer);
  const std::string url = url_of(*sources, incoming.head);
  const Request request{.method = incoming.head.method,
                        .url = url,
                        .headers = incoming.head.headers,
                        .body = incoming.body,
                        .body_padding = kBodyPadding};
  Received received = co_await receiver_.receive(entry->source, request);
  if (!entry->source.enforce && request.method == "POST") {
    co_await receiver_.observe(entry->source, request, received);
  }
  co_return reply_to(*entry, received, incoming);
}

void Endpoint::count(SourceMetrics& metrics, const std::vector<Accepted>& accepted,
                     std::size_t bytes) {
  bool authentic = accepted.empty();
  for (const Accepted& each : accepted) {
    authentic = authentic || each.would != Would::reject;
    (each.would == Would::reject ? metrics.would_reject
     : each.changed              ? metrics.changed
     : each.duplicate            ? metrics.duplicate
                                 : metrics.accepted)
        .Increment();
  }
  metrics.bytes.Increment(static_cast<double>(bytes));
  if (!authentic) return;
  metrics.last_seen.Set(
      std::chrono::duration<double>(shared_.clock.wall().time_since_epoch()).count());
}

http::Reply Endpoint::reply_to(const Sources::Entry& entry, const Received& received,
                               const http::Incoming& incoming) {
  const Source& source = entry.source;
  if (const auto* accepted = std::get_if<std::vector<Accepted>>(&received)) {
    count(*entry.metrics, *accepted, incoming.body.size());
    return acknowledgement(source, *accepted);
  }
  if (const auto* greeting = std::get_if<HandshakeAnswer>(&received)) return handshake(*greeting);
  if (const auto* refused = std::get_if<Refused>(&received)) {
    const bool no_method = incoming.head.method != "POST";  // a GET that was no handshake
    if (no_method) return turn_away(Refusal::method_not_allowed, incoming.peer);
    note_refusal(source.name, name(refused->reason), refused->detail, incoming.peer);
    return refusal(*refused);
  }
  const Error& error = std::get<Error>(received);
  note_refusal(source.name, info(error.code()).name, error.detail(), incoming.peer);
  return failure(error);
}

http::Reply Endpoint::turn_away(Refusal why, std::string_view peer) {
  refused(why, peer);
  return http::problem(why);
}

void Endpoint::refused(Refusal why, std::string_view peer) {
  note_refusal("", name(why), "", peer);
}

void Endpoint::note_refusal(const std::string& source, std::string_view reason,
                            std::string_view detail, std::string_view peer) {
  shared_.metrics.refused(source, reason);
  const std::optional<std::string> more = limit_.pass(source + '/' + std::string(reason));
  if (!more) return;
  shared_.log.line(Level::warning, "refused",
                   {{"source", source},
                    {"reason", reason},
                    {"detail", detail},
                    {"peer", peer},
                    {"more", *more}});
}

}  // namespace hapax::gateway
