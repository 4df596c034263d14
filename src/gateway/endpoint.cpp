// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/endpoint.hpp"

#include "gateway/answer.hpp"

namespace hapax::gateway {

namespace {

using http::Refusal;

constexpr std::string_view kPrefix = "/in/";

// The source's name as it stands in the path. Names need no escapes, so an escaped one is nobody's.
std::string_view source_in(std::string_view path) {
  return path.substr(0, kPrefix.size()) == kPrefix ? path.substr(kPrefix.size())
                                                   : std::string_view();
}

const Sources::Entry* find(const Sources& sources, const http::Head& head) {
  const auto found = sources.by_name.find(source_in(head.path()));
  return found == sources.by_name.end() ? nullptr : &found->second;
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
      receiver_(shared.commit, shared.numbers, shared.duplicates, shared.clock),
      limit_(shared.clock) {}

std::variant<std::size_t, http::Reply> Endpoint::look(const http::Head& head,
                                                      std::string_view peer) {
  const Sources::Entry* entry = find(*sources_, head);
  if (entry == nullptr) {
    const bool ours = !source_in(head.path()).empty();
    const Refusal why = ours ? Refusal::source_unknown : Refusal::not_found;
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
  const Received received = co_await receiver_.receive(entry->source, request);
  co_return reply_to(*entry, received, incoming);
}

http::Reply Endpoint::reply_to(const Sources::Entry& entry, const Received& received,
                               const http::Incoming& incoming) {
  const Source& source = entry.source;
  if (const auto* accepted = std::get_if<std::vector<Accepted>>(&received)) {
    for (const Accepted& each : *accepted) {
      (each.changed     ? entry.metrics->changed
       : each.duplicate ? entry.metrics->duplicate
                        : entry.metrics->accepted)
          .Increment();
    }
    entry.metrics->bytes.Increment(static_cast<double>(incoming.body.size()));
    entry.metrics->last_seen.Set(
        std::chrono::duration<double>(shared_.clock.wall().time_since_epoch()).count());
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
