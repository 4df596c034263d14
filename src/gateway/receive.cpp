// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/receive.hpp"

#include "base/sha256.hpp"
#include "gateway/arrivals.hpp"

namespace hapax::gateway {

namespace {

std::optional<HandshakeAnswer> shake_hands(const Source& source, const Request& request,
                                           WallTime now) {
  if (source.preset == nullptr || source.preset->handshake == Handshake::none) return std::nullopt;
  std::vector<Header> parameters;
  for (const OwnedHeader& each : source.parameters) parameters.push_back({each.name, each.value});
  const Context context{source.key_id, parameters};
  std::optional<HandshakeAnswer> answer =
      answer_handshake(*source.preset, source.secrets, request, now, context);
  // A secret that is handed over now is nobody's wish, and a URL to call is somebody else's: the
  // request goes the ordinary way, which refuses it.
  if (answer && (!answer->secret.empty() || !answer->confirm_url.empty())) return std::nullopt;
  return answer;
}

// A claim is forgotten after `remember`: what was signed before that could be an event that was
// accepted once already. A reject may be the copy of one that was accepted before it came, by as
// long as its sender tries.
bool is_forgotten(const Source& source, const Verdict& verdict, const Occasion& occasion,
                  WallTime now) {
  if (verdict.signed_at && now - *verdict.signed_at >= source.remember) return true;
  return occasion.reject && now - occasion.received >= source.remember - source.sender_retries;
}

}  // namespace

std::variant<Identified, Refused> Receiver::examine(const Source& source, const Request& request,
                                                    const Occasion& occasion) {
  Verdict verdict;
  if (!occasion.item) verdict = source.verifier.verify(request, occasion.received, scratch_);
  if (!verdict.authentic()) return Refused{verdict.reason, std::move(verdict.detail)};
  const WallTime now = occasion.reject ? clock_.wall() : occasion.received;
  if (is_forgotten(source, verdict, occasion, now)) {
    return Refused{Reason::timestamp_outside_window,
                   "signed or received longer ago than ids are remembered"};
  }
  const bool alone = occasion.item && source.item_identifier;
  const Identifier& identifier = alone ? *source.item_identifier : source.identifier;
  Identified identified = identifier.identify(request, scratch_);
  if (identified.reason != Reason::none) {
    return Refused{identified.reason, std::move(identified.detail)};
  }
  const Item* bad = source.splits && !alone ? nullptr : first_refused(identified);
  if (bad != nullptr) return Refused{bad->reason, bad->detail};
  return identified;
}

Task<Received> Receiver::receive(const Source& source, const Request& request,
                                 const Occasion& occasion) {
  std::optional<HandshakeAnswer> greeting;
  if (!occasion.reject) greeting = shake_hands(source, request, occasion.received);
  if (greeting) co_return std::move(*greeting);

  std::variant<Identified, Refused> examined = examine(source, request, occasion);
  if (auto* refused = std::get_if<Refused>(&examined)) co_return std::move(*refused);
  Identified& identified = std::get<Identified>(examined);
  Taken taken;
  if (source.splits) taken.rejected = take_refused(identified);

  Result<Arrivals> arrivals = Arrivals::make(source, request, identified, numbers_);
  if (!arrivals) co_return std::move(arrivals).error();
  if (occasion.reject) arrivals->know_by(*occasion.reject);
  if (arrivals->empty()) co_return std::move(taken);

  const store::Admit admit = arrivals->admit();
  const store::AdmitAnswer answer = co_await commit_.admit(admit);
  if (!answer) co_return answer.error();
  taken.events = arrivals->accepted(*answer, occasion.received, duplicates_);
  co_return std::move(taken);
}

}  // namespace hapax::gateway
