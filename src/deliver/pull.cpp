// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/pull.hpp"

#include "base/try.hpp"
#include "deliver/classify_response.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <list>
#include <set>
#include <utility>

namespace hapax::deliver {

namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr BootTime kPoll = std::chrono::seconds(1);  // for retries, and what other nodes admit
constexpr BootTime kSettleFor = std::chrono::seconds(10);
constexpr BootTime kFirstPause = std::chrono::milliseconds(50);
constexpr BootTime kLongestPause = std::chrono::seconds(1);
// Where the file does not define the destination any more: nobody can say when it should be.
constexpr milliseconds kRetryOfUnknown = std::chrono::seconds(30);
constexpr milliseconds kLeaseOfUnknown = std::chrono::seconds(30);

constexpr BootTime kRoomFor = std::chrono::seconds(1);
constexpr BootTime kAllRoomFor = std::chrono::milliseconds(100);

// A delivery in an answer: until the store has said how large they are each counts as a usual
// largest one, 1 MiB in base64.
constexpr std::size_t kPerDelivery = std::size_t{1408} * 1024;
constexpr std::size_t kMostRoom = store::kMaxLeaseBytes / 1024 * 1408;

std::size_t room_of(const store::Lease& lease) {
  constexpr std::size_t kRest = 1024;
  std::size_t bytes = 0;
  for (const store::Leased& each : lease.deliveries) {
    bytes += each.event.body.size() / 3 * 4 + 2 * each.event.headers.size() + kRest;
  }
  return bytes;
}

// Not in the middle of a character.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto goes_on = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
  while (most > 0 && goes_on(text[most])) --most;
  return text.substr(0, most);
}

Error no_room() {
  return Error(Code::queue_full,
               "the answers that workers of this destination have not read yet leave no room; read "
               "them, and ask again");
}

bool is_worth_repeating(const Error& error) {
  return error.code() != Code::stopping && error.code() != Code::invalid_argument;
}

}  // namespace

// ---------------------------------------------------------------------------------------------

void Loans::note(Fence fence, const Loan& loan) {
  const std::lock_guard lock(mutex_);
  loans_.insert_or_assign(fence, loan);
  if (loans_.size() > most_) loans_.erase(loans_.begin());
}

std::optional<Loan> Loans::find(const DeliveryRef& which, Fence fence) const {
  const std::lock_guard lock(mutex_);
  const auto found = loans_.find(fence);
  if (found == loans_.end() || found->second.which != which) return std::nullopt;
  return found->second;
}

std::vector<LeaseName> names_of(const store::Lease& lease) {
  std::vector<LeaseName> names;
  names.reserve(lease.deliveries.size());
  for (const store::Leased& each : lease.deliveries) {
    names.push_back({{each.event.no, each.delivery}, each.fence});
  }
  return names;
}

Result<std::optional<Loan>> loan_in(store::Driver& driver, const LeaseName& name) {
  HAPAX_TRY_ASSIGN(found, driver.event(name.which.event));
  if (!found.value) return std::optional<Loan>();
  const store::EventDetail& event = *found.value;
  for (const store::DeliveryRow& each : event.deliveries) {
    if (each.no != name.which.delivery) continue;
    Loan loan{.which = name.which, .to = each.to, .attempt = each.attempts + 1};
    for (const Attempt& past : event.attempts) {
      const bool same = past.delivery == each.no && past.fence == name.fence;
      if (same) loan.ended = past.outcome;
    }
    return std::optional(loan);
  }
  return std::optional<Loan>();
}

// ---------------------------------------------------------------------------------------------

// Those who wait for deliveries of one destination, in the order they came.
struct Pull::Queue {
  std::list<Waiter*> waiters;
  std::optional<DeliveryNotifier::Subscription> subscription;

  void wake_one();
};

// Woken by the bell, by room, by time, and by the end.
class Pull::Waiter {
 public:
  Waiter(Pull& pull, DestinationNo destination)
      : queue_(pull.queue_of(destination)), timer_(pull.with_.timers.make()) {
    queue_->waiters.push_back(this);
  }
  ~Waiter() {
    std::erase(queue_->waiters, this);
    if (woken_) queue_->wake_one();  // it was for whoever is next
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void wake() {
    woken_ = true;
    timer_->wake();
  }
  void look_up() { timer_->wake(); }
  bool is_asking() const { return asking_; }
  const std::shared_ptr<WakeableTimer>& timer() const { return timer_; }

  // Before the store is asked, so that nothing falls in between.
  void asks() {
    queue_->subscription->arm();
    asking_ = true;
    woken_ = false;
  }
  void asked(bool had_all) {
    asking_ = false;
    if (had_all) queue_->wake_one();  // there may be more than was wanted
  }
  // True: it is this one's turn to ask.
  Task<bool> wait_until(BootTime when) {
    co_await timer_->wait_until(when);
    co_return woken_ || queue_->waiters.front() == this;
  }

 private:
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<WakeableTimer> timer_;
  bool asking_ = true;  // the first thing it does
  bool woken_ = false;
};

// One who does not ask just now; when all do, the first asks again.
void Pull::Queue::wake_one() {
  if (waiters.empty()) return;
  const auto free = std::find_if(waiters.begin(), waiters.end(),
                                 [](const Waiter* each) { return !each->is_asking(); });
  (free == waiters.end() ? waiters.front() : *free)->wake();
}

Pull::Pull(With with) : with_(std::move(with)) {}

std::shared_ptr<Pull::Queue> Pull::queue_of(DestinationNo destination) {
  std::weak_ptr<Queue>& known = queues_[destination];
  if (auto queue = known.lock()) return queue;
  auto queue = std::make_shared<Queue>();
  // Called on the notifying thread.
  queue->subscription.emplace(with_.notifier, destination,
                              [executor = with_.executor, weak = std::weak_ptr<Queue>(queue)] {
                                asio::post(executor, [weak] {
                                  if (const auto alive = weak.lock()) alive->wake_one();
                                });
                              });
  known = queue;
  return queue;
}

void Pull::stop() {
  stopping_ = true;
  for (const auto& [destination, known] : queues_) {
    const auto queue = known.lock();
    if (!queue) continue;
    for (Waiter* each : queue->waiters) each->look_up();
  }
}

// One without bytes: there was no room in time, or nobody waits for it any more.
Task<std::shared_ptr<LeaseRoom::Permit>> Pull::wait_for_room(const Waiter& waiter,
                                                             LeaseRoom::Permit::Wish wish,
                                                             BootTime until,
                                                             const std::function<bool()>& left) {
  const auto pass_on = [executor = with_.executor,
                        weak = std::weak_ptr<WakeableTimer>(waiter.timer())] {
    asio::post(executor, [weak] {
      if (const auto alive = weak.lock()) alive->wake();
    });
  };
  auto permit = std::make_shared<LeaseRoom::Permit>(with_.room, wish, pass_on);
  while (permit->bytes() == 0) {
    const BootTime now = with_.clock.since_boot();
    if (stopping_ || now >= until || left()) break;
    co_await waiter.timer()->wait_until(std::min(until, now + kPoll));
  }
  co_return permit;
}

// Others that are just asking the store give theirs back in a moment, so all that is wanted is
// waited for a little; answers that nobody reads do not, so then less has to do.
Task<std::shared_ptr<LeaseRoom::Permit>> Pull::room_for(const Waiter& waiter, DestinationNo from,
                                                        std::size_t max, BootTime until,
                                                        const std::function<bool()>& left) {
  LeaseRoom::Permit::Wish wish{from, std::min(max * kPerDelivery, kMostRoom), 0};
  wish.least = wish.most;
  const BootTime soon = std::min(until, with_.clock.since_boot() + kAllRoomFor);
  std::shared_ptr<LeaseRoom::Permit> permit = co_await wait_for_room(waiter, wish, soon, left);
  if (permit->bytes() != 0) co_return permit;
  permit.reset();
  wish.least = kPerDelivery;
  permit = co_await wait_for_room(waiter, wish, until, left);
  co_return permit;
}

Task<Result<GivenLease>> Pull::lease(const Destination& from, const Wanted& wanted,
                                     const std::function<bool()>& left) {
  store::LeaseRequest request{.from = from.no,
                              .max = wanted.max,
                              .lease = wanted.lease.value_or(from.lease),
                              .holder = {Holder::Kind::pull, with_.owner()},
                              .max_abandons = from.max_abandons,
                              .horizon = from.horizon,
                              .on_dead = from.on_dead};
  if (const Result<void> good = check(request); !good) co_return good.error();
  const BootTime begun = with_.clock.since_boot();
  const BootTime until = begun + std::min<BootTime>(wanted.wait, kMaxPullWait);
  Waiter waiter(*this, from.no);
  for (bool asks = true;;) {
    bool at_once = false;
    if (asks) {
      const BootTime in_time = std::max(until, begun + kRoomFor);
      GivenLease given;
      given.room = co_await room_for(waiter, from.no, wanted.max, in_time, left);
      if (given.room->bytes() == 0 && !stopping_ && !left()) co_return no_room();
      if (given.room->bytes() == 0) break;
      const std::size_t fit = given.room->bytes() / kPerDelivery;
      request.max = given.room->bytes() < kMostRoom ? std::min(fit, wanted.max) : wanted.max;
      waiter.asks();
      const WallTime asked = with_.clock.wall();
      Result<store::Lease> lease = co_await with_.async_store.lease(request);
      waiter.asked(lease && lease->deliveries.size() == request.max);
      if (!lease) co_return lease.error();
      if (!lease->deliveries.empty()) {
        note(*lease, from.no, asked);
        given.room->resize(room_of(*lease));
        given.lease = *std::move(lease);
        if (!left()) co_return std::move(given);
        hand_back(names_of(given.lease), from.no);
        break;
      }
      at_once = lease->passed > 0;
    }
    const BootTime now = with_.clock.since_boot();
    if (!at_once && (now >= until || stopping_)) break;
    if (!at_once) asks = co_await waiter.wait_until(std::min(until, now + kPoll));
    if (stopping_ || left()) break;
  }
  co_return GivenLease{};
}

void Pull::note(const store::Lease& lease, DestinationNo from, WallTime since) {
  for (const store::Leased& each : lease.deliveries) {
    const DeliveryRef which{each.event.no, each.delivery};
    with_.loans.note(each.fence, {which, from, each.attempt, since, {}});
  }
}

void Pull::hand_back(const std::vector<LeaseName>& leases, DestinationNo from) {
  std::vector<store::Settlement> settlements;
  settlements.reserve(leases.size());
  for (const LeaseName& each : leases) {
    AttemptNote note;
    note.when = with_.clock.wall();
    note.error = "client left";
    settlements.push_back({each.which, each.fence, Release{false}, note});
  }
  asio::co_spawn(with_.executor, give_back(std::move(settlements), from), asio::detached);
}

// What the store does not take lapses.
Task<void> Pull::give_back(std::vector<store::Settlement> settlements, DestinationNo from) {
  const Result<std::vector<store::Settled>> ignored = co_await settle_surely(settlements);
  with_.notifier.notify(from);
}

// ---------------------------------------------------------------------------------------------

// Those that are not `asked` for are only told where that costs nothing.
Task<Result<Pull::LoanList>> Pull::loans_of(std::span<const LeaseName> names,
                                            const std::vector<bool>& asked) {
  LoanList loans(names.size());
  std::vector<LeaseName> missing;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    loans[i] = with_.loans.find(names[i].which, names[i].fence);
    if (loans[i] || !asked[i]) continue;
    missing.push_back(names[i]);
    places.push_back(i);
  }
  if (missing.empty()) co_return loans;
  Result<LoanList> found = co_await with_.look_up(missing);
  if (!found) co_return found;
  for (std::size_t i = 0; i < places.size(); ++i) loans[places[i]] = (*found)[i];
  co_return loans;
}

Disposition Pull::disposition_of(const Said& said, const std::optional<Loan>& loan) {
  if (said.outcome == Said::Outcome::ack) return Ack{};
  if (said.outcome == Said::Outcome::drop) return Drop{};
  const auto to = loan ? with_.destination(loan->to) : nullptr;
  if (!to) return RetryIn{said.retry_after.value_or(kRetryOfUnknown)};
  // Said again, it means what it meant the first time.
  const bool again = loan->ended.has_value();
  const bool over = again ? loan->ended == AttemptOutcome::dead : loan->attempt > to->retry.size();
  if (over) return Dead{EndReason::exhausted, to->on_dead};
  if (said.retry_after) return RetryIn{std::min<milliseconds>(*said.retry_after, kMaxRetryAfter)};
  if (again || loan->attempt == 0) return RetryIn{};
  return RetryIn{with_jitter(to->retry[loan->attempt - 1], with_.random)};
}

AttemptNote Pull::note_of(const Said& said, const std::optional<Loan>& loan) const {
  AttemptNote note;
  const WallTime now = with_.clock.wall();
  note.when = loan && loan->since ? std::min(*loan->since, now) : now;
  note.took = std::chrono::duration_cast<milliseconds>(now - note.when);
  note.error = cut(said.error, store::kMaxAttemptError);
  return note;
}

milliseconds Pull::lease_of(const std::optional<Loan>& loan) const {
  const auto to = loan ? with_.destination(loan->to) : nullptr;
  return to ? to->lease : kLeaseOfUnknown;
}

Task<Result<std::vector<store::Settled>>> Pull::settle(std::span<const Said> said,
                                                       const Mine& mine) {
  std::vector<LeaseName> names;
  std::vector<bool> asked;
  for (const Said& each : said) {
    names.push_back(each.lease);
    asked.push_back(mine || each.outcome == Said::Outcome::retry);
  }
  Result<LoanList> loans = co_await loans_of(names, asked);
  if (!loans) co_return loans.error();
  std::vector<std::optional<store::Settlement>> settlements;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const std::optional<Loan>& loan = (*loans)[i];
    auto& settlement = settlements.emplace_back();
    if (mine && !(loan && mine(loan->to))) continue;
    settlement.emplace(store::Settlement{names[i].which, names[i].fence,
                                         disposition_of(said[i], loan), note_of(said[i], loan)});
  }
  Result<std::vector<store::Settled>> settled = co_await settle_owned(settlements);
  notify_for(*loans);
  co_return settled;
}

Task<Result<std::vector<store::Settled>>> Pull::renew(std::span<const LeaseName> leases,
                                                      const std::optional<milliseconds>& lease,
                                                      const Mine& mine) {
  const std::vector<bool> asked(leases.size(), mine || !lease);
  Result<LoanList> loans = co_await loans_of(leases, asked);
  if (!loans) co_return loans.error();
  std::vector<std::optional<store::Settlement>> settlements;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    const std::optional<Loan>& loan = (*loans)[i];
    auto& settlement = settlements.emplace_back();
    if (mine && !(loan && mine(loan->to))) continue;
    settlement.emplace(store::Settlement{
        leases[i].which, leases[i].fence, Renew{lease.value_or(lease_of(loan))}, {}});
  }
  co_return co_await settle_owned(settlements);
}

// What is not there is not the caller's to settle: unknown.
Task<Result<std::vector<store::Settled>>> Pull::settle_owned(
    std::span<const std::optional<store::Settlement>> settlements) {
  std::vector<store::Settlement> owned;
  for (const auto& each : settlements) {
    if (each) owned.push_back(*each);
  }
  std::vector<store::Settled> answers(settlements.size(), store::Settled::unknown);
  if (owned.empty()) co_return answers;
  const Result<std::vector<store::Settled>> settled = co_await settle_surely(owned);
  if (!settled) co_return settled.error();
  std::size_t next = 0;
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    if (settlements[i]) answers[i] = (*settled)[next++];
  }
  co_return answers;
}

Task<Result<std::vector<store::Settled>>> Pull::settle_surely(
    std::span<const store::Settlement> settlements) {
  for (const store::Settlement& each : settlements) {
    if (const Result<void> good = check(each); !good) co_return good.error();
  }
  const std::unique_ptr<WakeableTimer> pause = with_.timers.make();
  const BootTime until = with_.clock.since_boot() + kSettleFor;
  for (BootTime wait = kFirstPause;; wait = std::min(wait * 2, kLongestPause)) {
    Result<std::vector<store::Settled>> settled = co_await with_.async_store.settle(settlements);
    const BootTime now = with_.clock.since_boot();
    if (settled || !is_worth_repeating(settled.error()) || stopping_ || now >= until) {
      co_return settled;
    }
    co_await pause->wait_until(now + wait);
  }
}

// What comes next in a lane is due when the one before it has ended.
void Pull::notify_for(const LoanList& loans) {
  std::set<DestinationNo> notified;
  for (const auto& each : loans) {
    if (each && notified.insert(each->to).second) with_.notifier.notify(each->to);
  }
}

}  // namespace hapax::deliver
