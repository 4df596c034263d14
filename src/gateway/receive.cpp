// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/receive.hpp"

#include "gateway/arrivals.hpp"
#include "gateway/handshake.hpp"

namespace hapax::gateway {

namespace {

// A claim is forgotten after `remember`: what was signed before that could be an event that was
// accepted once already.
bool is_forgotten(const Source& source, const Verdict& verdict, WallTime now) {
  return verdict.signed_at && now - *verdict.signed_at >= source.remember;
}

}  // namespace

Task<Received> Receiver::receive(const Source& source, const Request& request) {
  const WallTime now = clock_.wall();
  Result<std::optional<HandshakeAnswer>> greeting = shake_hands(source, request, now);
  if (!greeting) co_return std::move(greeting).error();
  if (*greeting) co_return std::move(**greeting);

  Verdict verdict = source.verifier.verify(request, now, scratch_);
  if (!verdict.authentic() && source.handed) {
    verdict = verify_handed_over(source, request, now, scratch_, std::move(verdict));
  }
  if (!verdict.authentic()) co_return Refused{verdict.reason, verdict.detail};
  if (is_forgotten(source, verdict, now)) {
    co_return Refused{Reason::timestamp_outside_window,
                      "signed longer ago than ids are remembered"};
  }

  const Identified identified = source.identifier.identify(request, scratch_);
  if (const Item* bad = first_refused(identified)) co_return Refused{bad->reason, bad->detail};
  if (identified.reason != Reason::none) co_return Refused{identified.reason, identified.detail};
  if (identified.items.empty()) co_return std::vector<Accepted>();  // an empty array

  Result<Arrivals> arrivals = Arrivals::make(source, request, identified, numbers_);
  if (!arrivals) co_return std::move(arrivals).error();

  const store::Admit admit = arrivals->admit();
  const store::AdmitAnswer answer = co_await commit_.admit(admit);
  if (!answer) co_return answer.error();
  co_return arrivals->accepted(*answer, now, duplicates_);
}

}  // namespace hapax::gateway
