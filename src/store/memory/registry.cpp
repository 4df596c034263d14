// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/registry.hpp"

#include "store/memory/admit.hpp"

namespace hapax::store::memory {

namespace {

// A free number: one that was never used, or the one that expired first.
std::optional<NodeNo> free_node(const Tables& tables, std::int64_t now) {
  std::optional<NodeNo> best;
  for (std::int64_t value = 0; value <= kMaxNode; ++value) {
    const auto node = tables.nodes.find(NodeNo(value));
    if (node == tables.nodes.end()) return NodeNo(value);
    if (!is_expired(node->second.until_ms, now)) continue;
    if (!best || node->second.until_ms < tables.nodes.at(*best).until_ms) best = NodeNo(value);
  }
  return best;
}

auto node_of(Tables& tables, const Token& owner) {
  return std::find_if(tables.nodes.begin(), tables.nodes.end(),
                      [&](const auto& each) { return each.second.owner == owner; });
}

}  // namespace

std::int64_t number_of(Tables& tables, NameKind kind, std::string_view name) {
  std::vector<std::string>& known = tables.names[kind];
  const auto found = std::find(known.begin(), known.end(), name);
  if (found != known.end()) return found - known.begin() + 1;
  known.emplace_back(name);
  return static_cast<std::int64_t>(known.size());
}

std::vector<KnownName> names(const Tables& tables, NameKind kind) {
  std::vector<KnownName> all;
  const auto known = tables.names.find(kind);
  if (known == tables.names.end()) return all;
  std::int64_t number = 0;
  for (const std::string& name : known->second) all.push_back({++number, name});
  return all;
}

Result<NodeNo> take_node(Tables& tables, const Token& owner, std::chrono::milliseconds lease,
                         std::int64_t now) {
  const auto own = node_of(tables, owner);
  const std::optional<NodeNo> number =
      own != tables.nodes.end() ? std::optional(own->first) : free_node(tables, now);
  if (!number) return Error(Code::store_full, "all node numbers are taken; stop a node");
  tables.nodes[*number] = {owner, now + lease.count()};
  return *number;
}

void leave_node(Tables& tables, const Token& owner, std::int64_t now) {
  const auto own = node_of(tables, owner);
  if (own != tables.nodes.end()) own->second = {Token{}, std::min(own->second.until_ms, now)};
}

void note_duplicate(Tables& tables, const DuplicateNote& note) {
  const auto found = tables.events.find(note.event);
  if (found == tables.events.end()) return;
  Event& event = found->second;
  event.duplicates += note.count;
  if (!note.changed || note.changed->digest == event.digest) return;
  const bool known = std::any_of(event.variants.begin(), event.variants.end(),
                                 [&](const auto& v) { return v.digest == note.changed->digest; });
  if (known || event.variants.size() == kMaxVariants) return;
  event.variants.push_back({note.changed->digest, note.changed->at});
  const std::size_t before = event.last_variant.size();
  event.last_variant = note.changed->body;
  event.size += event.last_variant.size() - before;
  tables.bytes += event.last_variant.size() - before;
}

std::vector<Record> records(const Tables& tables, std::string_view prefix) {
  std::vector<Record> found;
  auto each = tables.records.lower_bound(prefix);
  for (; each != tables.records.end() && each->first.starts_with(prefix); ++each) {
    found.push_back(each->second);
  }
  return found;
}

Result<bool> put_record(Tables& tables, const Record& record, std::int64_t before) {
  const auto found = tables.records.find(record.name);
  const std::int64_t now = found == tables.records.end() ? 0 : found->second.version;
  if (now == record.version) return true;
  if (now != before) return false;
  if (now == 0 && tables.records.size() >= kMaxRecords) return no_room_for_records();
  tables.records.insert_or_assign(record.name, record);
  return true;
}

bool remove_record(Tables& tables, std::string_view name, std::int64_t version) {
  const auto found = tables.records.find(name);
  if (found == tables.records.end()) return true;
  if (found->second.version != version) return false;
  tables.records.erase(found);
  return true;
}

Result<Moved> move_messages(Tables& tables, std::span<const EventNo> numbers, std::int64_t now) {
  const SourceNo source(number_of(tables, NameKind::source, kOutboxSource));
  Moved moved;
  std::vector<EventNo> free;
  for (const EventNo number : numbers) {
    const auto taken = tables.events.find(number);
    if (taken == tables.events.end()) {
      free.push_back(number);
    } else if (taken->second.source == source) {
      ++moved.messages;  // by an earlier run of this call
    } else {
      return Error(Code::store_busy,
                   "event number " + std::to_string(number.value()) +
                       " belongs to another event; generate new numbers and retry");
    }
  }
  for (const EventNo number : free) {
    if (tables.messages.empty()) break;
    const OutboxMessage message = std::move(tables.messages.front());
    tables.messages.pop_front();
    tables.bytes -= message.payload.size() + message.headers.size();
    const std::string id = message.id.to_string();
    const Target target{
        DestinationNo(number_of(tables, NameKind::destination, message.destination))};
    store_event(tables,
                {.no = number,
                 .source = source,
                 .id = id,
                 .order_key = message.order_key,
                 .digest = sha256(message.payload),
                 .headers = message.headers,
                 .body = message.payload,
                 .targets = std::span(&target, 1)},
                Would::none, true, now);
    ++moved.messages;
  }
  moved.more = !tables.messages.empty();
  return moved;
}

}  // namespace hapax::store::memory
