// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/network.hpp"

#include "base/calendar.hpp"

namespace hapax::sim {

using deliver::AttemptResponse;
using deliver::Destination;

namespace {

AttemptResponse answer_of(int status) {
  AttemptResponse answer;
  answer.status = status;
  return answer;
}

AttemptResponse error_of(std::string error, bool sent) {
  AttemptResponse answer;
  answer.error = std::move(error);
  answer.sent = sent;
  return answer;
}

}  // namespace

void Network::break_down(DestinationNo destination, BootTime until, bool hangs) {
  broken_[destination] = {until, hangs};
}

void Network::part(const std::string& node, DestinationNo destination, BootTime until) {
  parted_[{node, destination}] = until;
}

void Network::heal() {
  faults_ = {};
  broken_.clear();
  parted_.clear();
}

void Network::answer(const Done& done, const AttemptResponse& answer, BootTime delay) {
  timeline_.in(delay, [done, answer] { done(answer); });
}

void Network::send(const std::string& node, const Destination& to, const store::Leased& what,
                   const Done& done) {
  const auto parted = parted_.find({node, to.no});
  if (parted != parted_.end() && timeline_.now() < parted->second) return;  // in both directions
  if (timeline_.one_in(faults_.refused)) return answer(done, error_of("refused", false), hop());
  if (timeline_.one_in(faults_.reset_before)) return answer(done, error_of("reset", true), hop());
  if (timeline_.one_in(faults_.lost)) return;
  BootTime delay = hop();
  if (timeline_.one_in(faults_.delayed)) delay += to.timeout * (1 + timeline_.below(4));
  timeline_.in(delay, [this, to, what, done] { arrive(to, what, done); });
}

void Network::arrive(const Destination& to, const store::Leased& what, const Done& done) {
  const auto broken = broken_.find(to.no);
  if (broken != broken_.end() && timeline_.now() < broken->second.until) {
    if (!broken->second.hangs) answer(done, answer_of(500), hop());
    return;
  }
  const AttemptResponse answered = handle(to.no, what);
  if (timeline_.one_in(faults_.reset_after)) return answer(done, error_of("reset", true), hop());
  if (timeline_.one_in(faults_.lost_answer)) return;
  BootTime delay = hop();
  if (timeline_.one_in(faults_.slow)) delay += timeline_.between(BootTime(0), to.timeout * 2);
  answer(done, answered, delay);
}

AttemptResponse Network::handle(DestinationNo to, const store::Leased& what) {
  if (timeline_.one_in(faults_.gone)) return answer_of(410);
  if (timeline_.one_in(faults_.moved)) return answer_of(302);
  if (timeline_.one_in(faults_.busy)) return retry_later();
  const bool error = timeline_.one_in(faults_.error);
  if (error && timeline_.one_in(2)) return answer_of(500);
  if (ledger_.effect(to, what)) {
    timeline_.note("handler", "effect of " + to_text({what.event.no, what.delivery}));
  }
  return answer_of(error ? 500 : 200);
}

AttemptResponse Network::retry_later() {
  AttemptResponse answer = answer_of(timeline_.one_in(2) ? 429 : 503);
  const auto wait = seconds(1 + timeline_.below(timeline_.one_in(5) ? 120 : 10));
  answer.retry_after = std::to_string(wait.count());
  return answer;
}

Task<AttemptResponse> SimTransport::send(const Destination& to, const store::Leased& what) {
  ledger_.begins(to.no, what);
  const auto begin = [this, &to, &what](std::unique_ptr<Waiter<AttemptResponse>> waiter) {
    start(std::move(waiter), to, what);
  };
  AttemptResponse answer = co_await suspend<AttemptResponse>(begin);
  const DeliveryRef which{what.event.no, what.delivery};
  if (answer.status < 200 || answer.status > 299) ledger_.failed(which, what.fence);
  lifecycle_.note("attempt of " + to_text(which) + " by lease " +
                  std::to_string(ledger_.ordinal(what.fence)) + ": " +
                  (answer.status == 0 ? answer.error : std::to_string(answer.status)));
  co_return answer;
}

void SimTransport::start(std::unique_ptr<Waiter<AttemptResponse>> waiter, const Destination& to,
                         const store::Leased& what) {
  const std::uint64_t number = waiters_.add(std::move(waiter));
  lifecycle_.in(to.timeout, [this, number] {
    waiters_.answer(lifecycle_.context(), number, error_of("timed-out", true));
  });
  const auto alive = lifecycle_.weak();
  network_.send(lifecycle_.name(), to, what, [this, number, alive](const AttemptResponse& answer) {
    if (alive.expired()) return;
    lifecycle_.in(BootTime(0), [this, number, answer] {
      waiters_.answer(lifecycle_.context(), number, answer);
    });
  });
}

}  // namespace hapax::sim
