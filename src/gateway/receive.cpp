// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/receive.hpp"

#include "async/run_on.hpp"
#include "gateway/admit_request.hpp"
#include "gateway/handshake.hpp"
#include "model/field.hpp"

#include <algorithm>

namespace hapax::gateway {

namespace {

constexpr std::size_t kCostly = 1UL << 20;  // bytes to hash: about a millisecond

// A claim expires after `remember`, so an event signed before that may have been accepted once
// already. A reject may be the copy of an event accepted earlier, by at most the time that its
// sender retries.
bool is_forgotten(const Source& source, const Verdict& verdict, const ReceiveContext& context,
                  WallTime now) {
  if (verdict.signed_at && now - *verdict.signed_at >= source.remember) return true;
  return context.reject && now - context.received >= source.remember - source.sender_retries;
}

}  // namespace

bool is_costly(const Source& source, const Request& request) {
  const bool compressed = find_header(request, "content-encoding").status != FieldStatus::absent;
  const std::size_t size = request.body.size() * (compressed ? kMaxInflatedRatio : 1);
  return size * std::max<std::size_t>(1, source.secrets.size()) > kCostly;
}

std::variant<Identified, Refused> Receiver::authenticate_and_identify(const Source& source,
                                                                      const Request& request,
                                                                      const ReceiveContext& context,
                                                                      Scratch& scratch) const {
  Verdict verdict;
  if (!context.item) verdict = source.verifier.verify(request, context.received, scratch);
  if (!context.reject && verdict.authentic()) {
    source.secret_use->note(verdict.secret, context.received);
  } else if (!verdict.authentic() && source.provisioned) {
    verdict = verify_provisioned(source, request, context.received, scratch, std::move(verdict));
  }
  if (!verdict.authentic()) return Refused{verdict.reason, std::move(verdict.detail)};
  const WallTime now = context.reject ? deps_.clock.wall() : context.received;
  if (is_forgotten(source, verdict, context, now)) {
    return Refused{Reason::timestamp_outside_window,
                   "signed or received before the retention period of ids"};
  }
  const bool alone = context.item && source.item_identifier;
  const Identifier& identifier = alone ? *source.item_identifier : source.identifier;
  Identified identified = identifier.identify(request, scratch);
  if (identified.reason != Reason::none) {
    return Refused{identified.reason, std::move(identified.detail)};
  }
  const Item* bad = source.splits && !alone ? nullptr : first_refused(identified);
  if (bad != nullptr) return Refused{bad->reason, bad->detail};
  return identified;
}

Task<std::variant<Identified, Refused>> Receiver::authenticate_on_pool(
    const Source& source, const Request& request, const ReceiveContext& context) {
  const std::function<std::variant<Identified, Refused>()> work = [&] {
    Scratch scratch;
    return authenticate_and_identify(source, request, context, scratch);
  };
  co_return co_await run_on(*verifying_, work);
}

Task<Received> Receiver::receive(const Source& source, const Request& request,
                                 const ReceiveContext& context) {
  Result<std::optional<HandshakeAnswer>> handshake = std::optional<HandshakeAnswer>();
  if (!context.reject) handshake = handle_handshake(source, request, context.received);
  if (!handshake) co_return std::move(handshake).error();
  if (*handshake) co_return std::move(**handshake);
  if (request.method != "POST") co_return Refused{};  // not a handshake

  const bool costly = verifying_ != nullptr && is_costly(source, request);
  std::variant<Identified, Refused> checked = Refused{};
  if (costly) {
    checked = co_await authenticate_on_pool(source, request, context);
  } else {
    checked = authenticate_and_identify(source, request, context);
  }
  if (auto* refused = std::get_if<Refused>(&checked)) co_return std::move(*refused);
  Identified& identified = std::get<Identified>(checked);
  Stored stored;
  if (source.splits) stored.rejected = take_refused(identified);
  if (identified.items.empty() && !stored.rejected.empty()) {
    co_return Refused{stored.rejected.front().reason, stored.rejected.front().detail};
  }
  if (identified.items.empty()) co_return std::move(stored);  // an empty array

  Result<AdmitRequest> admit_request =
      AdmitRequest::make(source, request, identified, deps_.numbers);
  if (!admit_request) co_return std::move(admit_request).error();
  if (context.reject) admit_request->claim_by_reject(*context.reject);

  const store::Admit admit = admit_request->admit();
  const store::AdmitAnswer answer = co_await deps_.async_store.admit(admit);
  if (!answer) co_return answer.error();
  deps_.notifier.notify(admit_request->targets());
  stored.events = admit_request->accepted(*answer, context.received, deps_.duplicates);
  co_return std::move(stored);
}

}  // namespace hapax::gateway
