// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/replay_once.hpp"

#include "base/try.hpp"
#include "deliver/put_record.hpp"
#include "deliver/record_json.hpp"
#include "deliver/replay_job.hpp"
#include "env/chance.hpp"
#include "store/retry.hpp"

#include <algorithm>
#include <utility>

namespace hapax::deliver {

namespace {

using store::Replayed;

constexpr std::string_view kReplayedPrefix = "replayed/";
constexpr int kReplayOnceTries = 20;

// The record of the key. Before the replay it lists the deliveries that may be replayed, after it
// those that were. A request that finds the first list after a crash can reconstruct the result:
// deliveries that have left a replayable state were replayed.
struct Note {
  std::string request;
  WallTime at{};
  bool done = false;
  std::vector<DeliveryNo> deliveries = {};
};

struct Kept {
  Note note;
  std::int64_t version = 0;
  bool found = false;  // written by an earlier or concurrent request
};

std::string record_name(const RequestKey& key) {
  return std::string(kReplayedPrefix) + replay_text(key.no);
}

template <class Each>
void for_each_member(Note& note, const Each& each) {
  each("request", note.request);
  each("at", note.at);
  each("done", note.done);
  each("deliveries", note.deliveries);
}

bool can_be_replayed(DeliveryState state) {
  return state == DeliveryState::dead || state == DeliveryState::cancelled ||
         state == DeliveryState::superseded;
}

Result<std::vector<store::DeliveryRow>> deliveries_of(store::Catalog& catalog, EventNo event) {
  HAPAX_TRY_ASSIGN(detail, catalog.event(event));
  if (!detail.value) return std::vector<store::DeliveryRow>();
  return std::move(detail.value->deliveries);
}

// Deletes expired notes, and the oldest ones above the limit.
Result<void> make_room(const ReplayOnceDeps& deps) {
  HAPAX_TRY_ASSIGN(records, deps.node.records(kReplayedPrefix));
  std::vector<std::pair<WallTime, const store::Record*>> by_age;
  for (const store::Record& each : records) {
    const std::optional<Note> note = record_from<Note>(each.content);
    by_age.emplace_back(note ? note->at : WallTime(), &each);
  }
  std::sort(by_age.begin(), by_age.end());
  const WallTime now = deps.clock.wall();
  for (std::size_t left = by_age.size(); const auto& [at, record] : by_age) {
    if (left-- < kMaxReplayNotes && now - at < kKeepReplayNote) break;
    HAPAX_TRY(deps.node.remove_record(record->name, record->version));
  }
  return {};
}

// Reads the note of the key, or writes a new one. nullopt: a concurrent request wrote it first.
Result<std::optional<Kept>> begin(const ReplayOnceDeps& deps, const store::Replay& what,
                                  const RequestKey& key) {
  HAPAX_TRY_ASSIGN(record, deps.node.record(record_name(key)));
  if (record) {
    std::optional<Note> note = record_from<Note>(record->content);
    if (!note) return Error(Code::store_corrupt, record->name + " is malformed");
    return std::optional(Kept{*std::move(note), record->version, true});
  }
  HAPAX_TRY(make_room(deps));
  Note note{.request = key.request, .at = deps.clock.wall()};
  if (what.how.as == store::ReplayAs::same) {
    HAPAX_TRY_ASSIGN(rows, deliveries_of(deps.catalog, what.event));
    for (const store::DeliveryRow& each : rows) {
      const bool asked = what.how.destination.value_or(each.to) == each.to;
      if (asked && can_be_replayed(each.state)) note.deliveries.push_back(each.no);
    }
  }
  const store::Record fresh{record_name(key), random_number(deps.random), record_text(note)};
  HAPAX_TRY_ASSIGN(written, put(deps.node, fresh, 0));
  if (!written) return std::optional<Kept>();
  return std::optional(Kept{std::move(note), fresh.version, false});
}

// Adds planned deliveries that were replayed and have ended since: a completed delivery no longer
// has the number of its replay.
Result<void> add_completed(store::Catalog& catalog, EventNo event, const Note& planned,
                           Replayed& replayed) {
  HAPAX_TRY_ASSIGN(rows, deliveries_of(catalog, event));
  std::vector<DeliveryNo>& going = replayed.deliveries;
  for (const store::DeliveryRow& each : rows) {
    const auto has = [&](const std::vector<DeliveryNo>& numbers) {
      return std::find(numbers.begin(), numbers.end(), each.no) != numbers.end();
    };
    if (has(planned.deliveries) && !can_be_replayed(each.state) && !has(going)) {
      going.push_back(each.no);
    }
  }
  if (going.empty()) return {};
  std::sort(going.begin(), going.end());
  replayed.status = Replayed::Status::done;
  return {};
}

Result<Replayed> carry_out(const ReplayOnceDeps& deps, const store::Replay& what,
                           const Kept& kept) {
  HAPAX_TRY_ASSIGN(replayed, store::retry_if_unknown([&] { return deps.queue.replay(what); }));
  const bool is_here =
      replayed.status != Replayed::Status::gone && replayed.status != Replayed::Status::absent;
  if (kept.found && is_here && what.how.as == store::ReplayAs::same) {
    HAPAX_TRY(add_completed(deps.catalog, what.event, kept.note, replayed));
  }
  return replayed;
}

// False: a concurrent request with the same key has changed the record.
Result<bool> finish(const ReplayOnceDeps& deps, const RequestKey& key, const Kept& kept,
                    const Replayed& replayed) {
  if (replayed.status != Replayed::Status::done) {
    return deps.node.remove_record(record_name(key), kept.version);
  }
  const Note note{kept.note.request, kept.note.at, true, replayed.deliveries};
  const store::Record record{record_name(key), random_number(deps.random), record_text(note)};
  return put(deps.node, record, kept.version);
}

}  // namespace

Result<std::optional<Replayed>> replay_once(const ReplayOnceDeps& deps, store::Replay what,
                                            const RequestKey& key) {
  what.how.no = key.no;
  for (int i = 0; i < kReplayOnceTries; ++i) {
    HAPAX_TRY_ASSIGN(kept, begin(deps, what, key));
    if (!kept) continue;
    if (kept->note.request != key.request) return std::optional<Replayed>();
    if (kept->note.done) {
      return std::optional(Replayed{Replayed::Status::done, std::move(kept->note.deliveries)});
    }
    HAPAX_TRY_ASSIGN(replayed, carry_out(deps, what, *kept));
    // A failed write is harmless: a retry continues from the plan.
    if (finish(deps, key, *kept, replayed).value_or(true))
      return std::optional(std::move(replayed));
  }
  return Error(Code::store_busy, "the key is in use by a concurrent request; retry");
}

}  // namespace hapax::deliver
