// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/receive.hpp"

#include "async/run_on.hpp"
#include "gateway/arrivals.hpp"
#include "gateway/handshake.hpp"
#include "model/field.hpp"

#include <algorithm>

namespace hapax::gateway {

namespace {

constexpr std::size_t kCostly = 1UL << 20;  // bytes to hash: about a millisecond
constexpr std::size_t kMostUnpacked = 100;  // times the size of a compressed body

// A claim is forgotten after `remember`: what was signed before that could be an event that was
// accepted once already. A reject may be the copy of one that was accepted before it came, by as
// long as its sender tries.
bool is_forgotten(const Source& source, const Verdict& verdict, const Occasion& occasion,
                  WallTime now) {
  if (verdict.signed_at && now - *verdict.signed_at >= source.remember) return true;
  return occasion.reject && now - occasion.received >= source.remember - source.sender_retries;
}

}  // namespace

bool is_costly(const Source& source, const Request& request) {
  const auto is_encoding = [](const Header& each) {
    return equal_ignoring_case(each.name, "content-encoding");
  };
  const bool packed = std::any_of(request.headers.begin(), request.headers.end(), is_encoding);
  const std::size_t size = request.body.size() * (packed ? kMostUnpacked : 1);
  return size * std::max<std::size_t>(1, source.secrets.size()) > kCostly;
}

std::variant<Identified, Refused> Receiver::examine(const Source& source, const Request& request,
                                                    const Occasion& occasion,
                                                    Scratch& scratch) const {
  Verdict verdict;
  if (!occasion.item) verdict = source.verifier.verify(request, occasion.received, scratch);
  if (!occasion.reject && verdict.authentic()) {
    source.secret_use->note(verdict.secret, occasion.received);
  } else if (!verdict.authentic() && source.handed) {
    verdict = verify_handed_over(source, request, occasion.received, scratch, std::move(verdict));
  }
  if (!verdict.authentic()) return Refused{verdict.reason, std::move(verdict.detail)};
  const WallTime now = occasion.reject ? clock_.wall() : occasion.received;
  if (is_forgotten(source, verdict, occasion, now)) {
    return Refused{Reason::timestamp_outside_window,
                   "signed or received longer ago than ids are remembered"};
  }
  const bool alone = occasion.item && source.item_identifier;
  const Identifier& identifier = alone ? *source.item_identifier : source.identifier;
  Identified identified = identifier.identify(request, scratch);
  if (identified.reason != Reason::none) {
    return Refused{identified.reason, std::move(identified.detail)};
  }
  const Item* bad = source.splits && !alone ? nullptr : first_refused(identified);
  if (bad != nullptr) return Refused{bad->reason, bad->detail};
  return identified;
}

Task<std::variant<Identified, Refused>> Receiver::examine_aside(const Source& source,
                                                                const Request& request,
                                                                const Occasion& occasion) {
  const std::function<std::variant<Identified, Refused>()> work = [&] {
    Scratch scratch;
    return examine(source, request, occasion, scratch);
  };
  co_return co_await run_on(*verifying_, work);
}

Task<Received> Receiver::receive(const Source& source, const Request& request,
                                 const Occasion& occasion) {
  Result<std::optional<HandshakeAnswer>> greeting = std::optional<HandshakeAnswer>();
  if (!occasion.reject) greeting = shake_hands(source, request, occasion.received);
  if (!greeting) co_return std::move(greeting).error();
  if (*greeting) co_return std::move(**greeting);
  if (request.method != "POST") co_return Refused{};  // it was to be a handshake

  const bool aside = verifying_ != nullptr && is_costly(source, request);
  std::variant<Identified, Refused> examined = Refused{};
  if (aside) {
    examined = co_await examine_aside(source, request, occasion);
  } else {
    examined = examine(source, request, occasion);
  }
  if (auto* refused = std::get_if<Refused>(&examined)) co_return std::move(*refused);
  Identified& identified = std::get<Identified>(examined);
  Taken taken;
  if (source.splits) taken.rejected = take_refused(identified);
  if (identified.items.empty() && !taken.rejected.empty()) {
    co_return Refused{taken.rejected.front().reason, taken.rejected.front().detail};
  }
  if (identified.items.empty()) co_return std::move(taken);  // an empty array

  Result<Arrivals> arrivals = Arrivals::make(source, request, identified, numbers_);
  if (!arrivals) co_return std::move(arrivals).error();
  if (occasion.reject) arrivals->know_by(*occasion.reject);

  const store::Admit admit = arrivals->admit();
  const store::AdmitAnswer answer = co_await async_store_.admit(admit);
  if (!answer) co_return answer.error();
  notifier_.notify(source.targets->now());
  taken.events = arrivals->accepted(*answer, occasion.received, duplicates_);
  co_return std::move(taken);
}

}  // namespace hapax::gateway
