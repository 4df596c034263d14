// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

#include <iterator>

namespace hapax::store::postgres {

namespace {

Parameters of_events(const SweepStep& step, const Runner& runner) {
  std::vector<std::int64_t> sources;
  std::vector<std::int64_t> keeps;
  std::vector<std::int64_t> keeps_dead;
  for (const Periods& each : step.periods) {
    sources.push_back(each.source.value());
    keeps.push_back(each.keep.count());
    keeps_dead.push_back(each.keep_dead.count());
  }
  Parameters parameters;
  parameters.add_number(runner.patience_ms());
  parameters.add_number_array(sources);
  parameters.add_number_array(keeps);
  parameters.add_number_array(keeps_dead);
  parameters.add_number(kKeepAttempts.count());
  parameters.add_number(static_cast<std::int64_t>(step.limit));
  parameters.add_time(runner.moment());
  return parameters;
}

struct SweepPart {
  const char* sql;
  std::string_view doing;
};
constexpr SweepPart kSweepParts[] = {
    {kRetainEvents, "remove events"},
    {kRetainAttempts, "remove attempts"},
    {kRetainClaims, "remove claims that are over"},
    {kRetainLanes, "remove lanes that are empty"},
};

}  // namespace

// Runs parts up to one that is not done. The server stores the progress of each part; sweep_part_
// is only the part to continue with. A part that fails is skipped by the next call: the others must
// continue, or the disk fills.
Result<Swept> PostgresQueue::sweep(const SweepStep& step) {
  Swept sum;
  for (std::size_t part = sweep_part_; part < std::size(kSweepParts); ++part) {
    Result<Swept> swept = sweep_part(part, step);
    sweep_part_ = (part + (!swept || swept->done)) % std::size(kSweepParts);
    if (!swept) return swept;
    sum.events += swept->events;
    sum.others += swept->others;
    if (!swept->done) return sum;
  }
  sum.done = true;
  return sum;
}

Result<Swept> PostgresQueue::sweep_part(std::size_t part, const SweepStep& step) {
  Parameters parameters;
  if (part == 0) {
    parameters = of_events(step, runner_);
  } else {
    parameters.add_number(runner_.patience_ms());
    if (part == 1) parameters.add_number(kKeepAttempts.count());
    parameters.add_number(static_cast<std::int64_t>(step.limit));
    parameters.add_time(runner_.moment());
  }
  HAPAX_TRY_ASSIGN(answer,
                   runner_.run_query(kSweepParts[part].sql, parameters, kSweepParts[part].doing));
  const Row row(answer, 0);
  return Swept{static_cast<std::size_t>(row.number(0)), static_cast<std::size_t>(row.number(1)),
               row.flag(2)};
}

// One statement per part of the queue: one for the whole queue could exceed every timeout. If a
// later part fails, the leases released so far stay released, and the next call reports the error.
Result<Released> PostgresQueue::release_holder(const ReleaseStep& step) {
  Released released;
  DeliveryRef after;
  while (!released.done && released.deliveries < step.limit) {
    Result<ReleasedPart> part = release_part(step, after, step.limit - released.deliveries);
    if (!part && released.deliveries > 0) return released;
    if (!part) return std::move(part).error();
    released.deliveries += part->deliveries;
    released.done = part->done;
    after = part->last;
  }
  return released;
}

Result<PostgresQueue::ReleasedPart> PostgresQueue::release_part(const ReleaseStep& step,
                                                                const DeliveryRef& after,
                                                                std::size_t most) {
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_number(static_cast<std::int64_t>(step.kind));
  parameters.add_number_or_null(step.owner);
  parameters.add_number(after.event.value());
  parameters.add_number(after.delivery.value());
  parameters.add_number(kRowsLookedAt);
  parameters.add_number(static_cast<std::int64_t>(most));
  parameters.add_time(runner_.moment());
  HAPAX_TRY_ASSIGN(answer, runner_.run_query(kReleaseHolder, parameters, "free leases"));
  const Row row(answer, 0);
  return ReleasedPart{static_cast<std::size_t>(row.number(0)),
                      {row.no<EventNo>(1), row.no<DeliveryNo>(2)},
                      row.flag(3)};
}

Result<void> PostgresQueue::note_duplicates(std::span<const DuplicateNote> notes) {
  std::vector<std::int64_t> events, counts, changed, ats;
  std::vector<std::string_view> digests, bodies;
  for (const DuplicateNote& each : notes) {
    events.push_back(each.event.value());
    counts.push_back(static_cast<std::int64_t>(each.count));
    changed.push_back(each.changed ? 1 : 0);
    digests.push_back(each.changed ? hapax::view(each.changed->digest) : "");
    ats.push_back(each.changed ? each.changed->at.time_since_epoch().count() : 0);
    bodies.push_back(each.changed ? each.changed->body : "");
  }
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_number_array(events);
  parameters.add_number_array(counts);
  parameters.add_number_array(changed);
  parameters.add_bytes_array(digests);
  parameters.add_number_array(ats);
  parameters.add_bytes_array(bodies);
  parameters.add_number(kMaxVariants);
  HAPAX_TRY(runner_.run_query(kNoteDuplicates, parameters, "note duplicates", Lost::report));
  return {};
}

}  // namespace hapax::store::postgres
