// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/inbox.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

namespace hapax::store::postgres {

Result<Swept> Inbox::sweep(const SweepStep& step) {
  std::vector<std::int64_t> sources;
  std::vector<std::int64_t> keeps;
  std::vector<std::int64_t> keeps_dead;
  for (const Periods& each : step.periods) {
    sources.push_back(each.source.value());
    keeps.push_back(each.keep.count());
    keeps_dead.push_back(each.keep_dead.count());
  }
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_number_array(sources);
  parameters.add_number_array(keeps);
  parameters.add_number_array(keeps_dead);
  parameters.add_number(kKeepAttempts.count());
  parameters.add_number(static_cast<std::int64_t>(step.limit));
  parameters.add_time(runner_.moment());
  HAPAX_TRY_ASSIGN(answer, ask(kSweep, parameters, "remove what is over"));
  const Row row(answer, 0);
  return Swept{static_cast<std::size_t>(row.number(0)), static_cast<std::size_t>(row.number(1)),
               row.flag(2)};
}

Result<Released> Inbox::release_holder(const ReleaseStep& step) {
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_number(static_cast<std::int64_t>(step.kind));
  parameters.add_number_or_null(step.owner);
  parameters.add_number(static_cast<std::int64_t>(step.limit));
  parameters.add_time(runner_.moment());
  HAPAX_TRY_ASSIGN(answer, ask(kReleaseHolder, parameters, "free leases"));
  const Row row(answer, 0);
  return Released{static_cast<std::size_t>(row.number(0)), row.flag(1)};
}

Result<void> Inbox::note_duplicates(std::span<const DuplicateNote> notes) {
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
  HAPAX_TRY(ask(kNoteDuplicates, parameters, "note duplicates", Lost::report));
  return {};
}

}  // namespace hapax::store::postgres
