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
// accepted once already.
bool is_forgotten(const Source& source, const Verdict& verdict, WallTime now) {
  return verdict.signed_at && now - *verdict.signed_at >= source.remember;
}

}  // namespace

Task<Received> Receiver::receive(const Source& source, const Request& request) {
  const WallTime now = clock_.wall();
  std::optional<HandshakeAnswer> greeting = shake_hands(source, request, now);
  if (greeting) co_return std::move(*greeting);

  const Verdict verdict = source.verifier.verify(request, now, scratch_);
  if (!verdict.authentic()) co_return Refused{verdict.reason, verdict.detail};
  source.secret_use->note(verdict.secret, now);
  if (is_forgotten(source, verdict, now)) {
    co_return Refused{Reason::timestamp_outside_window,
                      "signed longer ago than ids are remembered"};
  }

  const Identified identified = source.identifier.identify(request, scratch_);
  if (const Item* bad = first_refused(identified)) co_return Refused{bad->reason, bad->detail};
  if (identified.reason != Reason::none) co_return Refused{identified.reason, identified.detail};

  Result<Arrivals> arrivals = Arrivals::make(source, request, identified, numbers_);
  if (!arrivals) co_return std::move(arrivals).error();
  if (arrivals->empty()) co_return std::vector<Accepted>();

  const store::Admit admit = arrivals->admit();
  const store::AdmitAnswer answer = co_await commit_.admit(admit);
  if (!answer) co_return answer.error();
  co_return arrivals->accepted(*answer, now, duplicates_);
}

}  // namespace hapax::gateway
