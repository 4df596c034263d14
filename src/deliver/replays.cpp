// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/replays.hpp"

#include "base/hex.hpp"
#include "base/try.hpp"
#include "deliver/put_record.hpp"
#include "env/chance.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hapax::deliver {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kReplayPrefix = "replay/";
constexpr seconds kScanInterval{1};
constexpr seconds kAfterFailure{1};
constexpr unsigned kStepsPerSecond = 4;
constexpr std::size_t kMostAtOnce = 500;  // events per step: short transactions
constexpr seconds kCountFor{30};
constexpr int kReplayTries = 20;  // to write a record with concurrent writers

std::string record_name(ReplayNo number) {
  return std::string(kReplayPrefix) + replay_text(number);
}

std::string random_name(Random& random) {
  std::array<unsigned char, 16> bytes{};
  random.fill(bytes);
  return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::size_t step_size(const ReplayJob& job) {
  return std::clamp<std::size_t>(job.rate / kStepsPerSecond, 1, kMostAtOnce);
}

// The time and 20 random bits make a collision unlikely.
ReplayNo number_at(WallTime time, Random& random) {
  constexpr int kChanceBits = 20;
  const auto ms = std::chrono::duration_cast<milliseconds>(time.time_since_epoch());
  const std::int64_t low = random_number(random) & ((std::int64_t{1} << kChanceBits) - 1);
  return ReplayNo(ms.count() << kChanceBits | low);
}

}  // namespace

Replays::Replays(const Deps& deps)
    : deps_(deps),
      owner_(random_name(deps.random)),
      limit_(deps.clock),
      thread_([this] { return run_due(); }) {}

Replays::~Replays() {
  stop();
}

void Replays::start() {
  thread_.start();
}

void Replays::stop() {
  if (thread_.stop()) release_all();
}

// ---------------------------------------------------------------------------------------------
// Requests.

Result<EventNo> Replays::newest() {
  store::EventQuery query{.limit = 1};
  for (;;) {
    HAPAX_TRY_ASSIGN(page, deps_.catalog.events(query));
    if (!page.events.empty()) return page.events.front().no;
    if (!page.next) return EventNo();
    query.before = *page.next;
  }
}

Result<std::uint64_t> Replays::count(const ReplayJob& wanted) {
  const std::unique_lock counting(counting_, std::try_to_lock);
  if (!counting) {
    return Error(Code::store_busy, "another replay is being counted; retry later");
  }
  const BootTime give_up = deps_.clock.since_boot() + kCountFor;
  store::ReplayStep step{.filter = filter_of(wanted), .limit = store::kMaxStep, .dry = true};
  if (wanted.last != EventNo()) step.until = wanted.last;
  std::uint64_t matched = 0;
  for (;;) {
    HAPAX_TRY_ASSIGN(stepped, deps_.queue.replay_step(step));
    matched += stepped.events;
    if (stepped.done) return matched;
    step.after = stepped.after;
    if (thread_.is_stopping()) return Error(Code::stopping, "the server is shutting down");
    if (deps_.clock.since_boot() < give_up) continue;
    return Error(Code::invalid_argument,
                 "the events take too long to count; narrow the filter with since and until");
  }
}

// Deletes ended replays above the limit, the earliest end first.
Result<void> Replays::make_room() {
  HAPAX_TRY_ASSIGN(records, deps_.node.records(kReplayPrefix));
  std::vector<std::pair<WallTime, const store::Record*>> ended;
  std::size_t running = 0;
  for (const store::Record& each : records) {
    const std::optional<ReplayJob> job = job_from(each.content);
    if (job && !job->ended) ++running;
    if (!job || job->ended) ended.emplace_back(job ? *job->ended : WallTime(), &each);
  }
  if (running >= kMaxRunningReplays) {
    return Error(Code::store_full,
                 std::to_string(running) + " replays are running; wait for one or cancel it");
  }
  std::sort(ended.begin(), ended.end());
  for (std::size_t left = records.size(); const auto& [when, record] : ended) {
    if (left-- < kMaxReplays) break;
    HAPAX_TRY(deps_.node.remove_record(record->name, record->version));
  }
  return {};
}

// Counts the events; returns a job that lacks only its number.
Result<ReplayJob> Replays::prepare(ReplayJob wanted) {
  HAPAX_TRY(make_room());
  HAPAX_TRY_ASSIGN(last, newest());
  wanted.last = last;
  if (last != EventNo()) {
    HAPAX_TRY_TO(wanted.matched, count(wanted));
  }
  wanted.started = deps_.clock.wall();
  if (wanted.matched == 0) {
    wanted.state = ReplayJob::State::done;
    wanted.ended = wanted.started;
  }
  return wanted;
}

// False: the number is in use.
Result<bool> Replays::keep(const ReplayJob& job) {
  const store::Record record{record_name(job.how.no), random_number(deps_.random),
                             to_record_text(job)};
  HAPAX_TRY_ASSIGN(kept, put(deps_.node, record, 0));
  if (kept) {
    scan_now_ = true;
    thread_.wake();
  }
  return kept;
}

Result<ReplayJob> Replays::begin(ReplayJob wanted) {
  HAPAX_TRY_ASSIGN(job, prepare(std::move(wanted)));
  job.how.no = number_at(job.started, deps_.random);
  HAPAX_TRY_ASSIGN(kept, keep(job));
  if (!kept) return Error(Code::store_busy, "replay number conflict; start it again");
  return job;
}

Result<std::optional<ReplayJob>> Replays::begin_once(ReplayJob wanted, const RequestKey& key) {
  HAPAX_TRY_ASSIGN(known, find(key.no));
  if (!known) {
    HAPAX_TRY_ASSIGN(job, prepare(std::move(wanted)));
    job.how.no = key.no;
    job.request = key.request;
    HAPAX_TRY_ASSIGN(kept, keep(job));
    if (kept) return std::optional(std::move(job));
    HAPAX_TRY_ASSIGN(faster, find(key.no));  // or this job, if its answer was lost
    known = std::move(faster);
  }
  if (!known) return Error(Code::store_busy, "the replay of this key was just removed; retry");
  const bool same = known->request.empty() || known->request == key.request;
  return same ? std::move(known) : std::optional<ReplayJob>();
}

Result<std::optional<ReplayJob>> Replays::find(ReplayNo number) {
  HAPAX_TRY_ASSIGN(record, deps_.node.record(record_name(number)));
  return record ? job_from(record->content) : std::nullopt;
}

Result<std::vector<ReplayJob>> Replays::all() {
  HAPAX_TRY_ASSIGN(records, deps_.node.records(kReplayPrefix));
  std::vector<ReplayJob> jobs;
  for (const store::Record& each : records) {
    if (std::optional<ReplayJob> job = job_from(each.content)) jobs.push_back(*std::move(job));
  }
  // Numbers derived from keys are not ordered by time.
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const ReplayJob& a, const ReplayJob& b) { return a.started < b.started; });
  return jobs;
}

Result<std::optional<ReplayJob>> Replays::cancel(ReplayNo number) {
  for (int i = 0; i < kReplayTries; ++i) {
    HAPAX_TRY_ASSIGN(record, deps_.node.record(record_name(number)));
    std::optional<ReplayJob> job = record ? job_from(record->content) : std::nullopt;
    if (!job || job->ended) return job;
    job->state = ReplayJob::State::cancelled;
    job->ended = deps_.clock.wall();
    job->owner.clear();
    const store::Record next{record->name, random_number(deps_.random), to_record_text(*job)};
    HAPAX_TRY_ASSIGN(done, put(deps_.node, next, record->version));
    if (done) return job;  // otherwise a step was written meanwhile
  }
  return Error(Code::store_busy, "the replay could not be cancelled now; retry");
}

// ---------------------------------------------------------------------------------------------
// Worker thread.

// Does the work that is due. Returns the time until more is due.
milliseconds Replays::run_due() {
  if (scan_now_.exchange(false) || deps_.clock.since_boot() >= next_scan_) {
    scan();
    next_scan_ = deps_.clock.since_boot() + kScanInterval;
  }
  BootTime next = next_scan_;
  for (auto each = owned_.begin(); each != owned_.end();) {
    OwnedJob& owned = each->second;
    const bool stays = deps_.clock.since_boot() < owned.next || work(owned);
    if (stays) next = std::min(next, owned.next);
    each = stays ? std::next(each) : owned_.erase(each);
  }
  const BootTime rest = std::max(BootTime{0}, next - deps_.clock.since_boot());
  return std::chrono::ceil<milliseconds>(rest);
}

void Replays::scan() {
  const Result<std::vector<store::Record>> records = deps_.node.records(kReplayPrefix);
  if (!records) return log_warning("replays not scanned", records.error());
  for (const store::Record& each : *records) consider(each);
}

void Replays::consider(const store::Record& record) {
  std::optional<ReplayJob> job = job_from(record.content);
  const WallTime now = deps_.clock.wall();
  if (!job) return log_warning("malformed replay record", Error(Code::store_corrupt, record.name));
  if (job->ended) {
    if (now - *job->ended < kKeepReplay) return;
    const Result<bool> removed = deps_.node.remove_record(record.name, record.version);
    if (!removed) log_warning("old replay not removed", removed.error());
    return;
  }
  if (owned_.contains(record.name)) return;  // the next write detects a lost ownership
  if (job->owner.empty() || deps_.alone || now >= job->owned_until) take(record, *std::move(job));
}

void Replays::take(const store::Record& record, ReplayJob job) {
  OwnedJob owned{.job = std::move(job), .record = record};
  const Result<std::vector<store::KnownName>> names =
      deps_.catalog.names(store::NameKind::destination);
  if (!names) return log_warning("replay not started", names.error());
  for (const store::KnownName& each : *names) {
    const DestinationNo to(each.number);
    if (owned.job.how.destination.value_or(to) == to) owned.destinations.push_back(to);
  }
  change(owned);
  owned_.emplace(record.name, std::move(owned));
}

// Prepares the record of the job's present state for write().
void Replays::change(OwnedJob& owned) {
  owned.job.owner = owned.job.ended ? "" : owner_;
  owned.job.owned_until = deps_.clock.wall() + kReplayLease;
  owned.before = owned.record.version;
  owned.record.version = random_number(deps_.random);
  owned.record.content = to_record_text(owned.job);
  owned.written = false;
}

bool Replays::write(OwnedJob& owned) {
  if (owned.written) return true;
  const Result<bool> done = put(deps_.node, owned.record, owned.before);
  if (!done) {
    log_warning("replay progress not saved", done.error());
    owned.next = deps_.clock.since_boot() + kAfterFailure;
    return true;
  }
  owned.written = *done;
  return *done;
}

bool Replays::work(OwnedJob& owned) {
  if (!write(owned)) return false;
  if (!owned.written) return true;
  if (owned.job.ended) return false;
  const Result<std::optional<store::Record>> now = deps_.node.record(owned.record.name);
  if (now && (!*now || (*now)->version != owned.record.version)) return false;
  step(owned);
  return write(owned) && !(owned.written && owned.job.ended);
}

void Replays::step(OwnedJob& owned) {
  ReplayJob& job = owned.job;
  const BootTime now = deps_.clock.since_boot();
  const Result<store::Replaying> stepped = deps_.queue.replay_step({.filter = filter_of(job),
                                                                    .how = job.how,
                                                                    .after = job.after,
                                                                    .until = job.last,
                                                                    .limit = step_size(job)});
  if (!stepped) {
    log_warning("replay step failed", stepped.error());
    owned.next = now + kAfterFailure;  // a repeated step is safe
    return;
  }
  job.after = stepped->after;
  job.events += stepped->events;
  job.deliveries += stepped->deliveries;
  if (stepped->done) {
    job.state = ReplayJob::State::done;
    job.ended = deps_.clock.wall();
  }
  if (stepped->deliveries > 0) {
    for (const DestinationNo each : owned.destinations) deps_.notifier.notify(each);
  }
  owned.next = now + BootTime(seconds(stepped->events)) / job.rate;
  change(owned);
}

void Replays::release_all() {
  for (auto& [name, owned] : owned_) {
    if (!write(owned) || !owned.written || owned.job.ended) continue;
    owned.job.owner.clear();
    const store::Record free{owned.record.name, random_number(deps_.random),
                             to_record_text(owned.job)};
    const Result<bool> done = put(deps_.node, free, owned.record.version);
    if (!done) log_warning("replay not released", done.error());
  }
  owned_.clear();
}

void Replays::log_warning(std::string_view what, const Error& error) {
  const std::optional<std::string> more = limit_.pass(std::string(what));
  if (!more) return;
  deps_.log.line(Level::warning, what, {{"error", error.to_string()}, {"more", *more}});
}

}  // namespace hapax::deliver
