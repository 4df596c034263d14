// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/catalog/names.hpp"

#include "base/try.hpp"
#include "store/sqlite/inbox_statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

// The first column of the first row, if there is a row.
Result<std::optional<std::int64_t>> first(Run& row, std::string_view doing) {
  HAPAX_TRY_ASSIGN(found, row.step(doing));
  return found ? std::optional(row.number(0)) : std::nullopt;
}

std::string_view view(const StoreSecret& secret) {
  return {reinterpret_cast<const char*>(secret.data()), secret.size()};
}

}  // namespace

Names::Names(sqlite3* db)
    : read_name_(db, kReadName),
      insert_name_(db, kInsertName),
      names_(db, kNames),
      read_node_(db, kReadNode),
      unused_node_(db, kUnusedNode),
      expired_node_(db, kExpiredNode),
      write_node_(db, kWriteNode),
      leave_node_(db, kLeaveNode),
      propose_secret_(db, kProposeSecret),
      read_secret_(db, kReadSecret),
      pause_(db, kPause),
      resume_(db, kResume),
      paused_(db, kPaused) {}

Result<std::int64_t> Names::number_of(NameKind kind, std::string_view name) {
  const auto number = static_cast<std::int64_t>(kind);
  {
    Run row(read_name_);
    HAPAX_TRY_ASSIGN(known, first(row.bind(number).bind_text(name), "find a name"));
    if (known) return *known;
  }
  Run row(insert_name_);
  HAPAX_TRY_ASSIGN(made, first(row.bind(number).bind_text(name), "add a name"));
  HAPAX_TRY(row.step("add a name"));
  return *made;
}

Result<std::vector<KnownName>> Names::all(NameKind kind) {
  std::vector<KnownName> found;
  Run rows(names_);
  rows.bind(static_cast<std::int64_t>(kind));
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step("list names"));
    if (!more) return found;
    found.push_back({rows.number(0), std::string(rows.bytes(1))});
  }
}

Result<std::optional<std::int64_t>> Names::node_for(const Token& owner, std::int64_t now_ms) {
  constexpr std::string_view kTakingNode = "take a node number";
  Run own(read_node_);
  HAPAX_TRY_ASSIGN(kept, first(own.bind(store::view(owner)), kTakingNode));
  if (kept) return kept;
  Run unused(unused_node_);
  HAPAX_TRY_ASSIGN(next, first(unused.bind(kMaxNode + 1), kTakingNode));
  if (next) return next;
  Run expired(expired_node_);
  return first(expired.bind(now_ms), kTakingNode);
}

Result<std::optional<NodeNo>> Names::take_node(const Token& owner, std::chrono::milliseconds lease,
                                               std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(number, node_for(owner, now_ms));
  if (!number) return std::optional<NodeNo>();
  Run row(write_node_);
  row.bind(*number).bind(store::view(owner)).bind(now_ms + lease.count());
  HAPAX_TRY(row.change("take a node number"));
  return std::optional(NodeNo(*number));
}

Result<void> Names::leave_node(const Token& owner, std::int64_t now_ms) {
  Run row(leave_node_);
  HAPAX_TRY(row.bind(store::view(owner)).bind(now_ms).change("release a node number"));
  return {};
}

Result<StoreSecret> Names::secret(const StoreSecret& proposed) {
  HAPAX_TRY(Run(propose_secret_).bind(view(proposed)).change("keep the store's secret"));
  Run row(read_secret_);
  HAPAX_TRY(row.step("read the store's secret"));
  StoreSecret secret{};
  const std::string_view bytes = row.bytes(0);
  if (bytes.size() != secret.size()) {
    return Error(Code::store_corrupt, "the secret in hapax_secret has the wrong length");
  }
  std::copy(bytes.begin(), bytes.end(), secret.begin());
  return secret;
}

Result<void> Names::pause(DestinationNo destination, bool paused) {
  Run row(paused ? pause_ : resume_);
  HAPAX_TRY(row.bind(destination.value()).change("pause or resume a destination"));
  return {};
}

Result<std::vector<DestinationNo>> Names::paused() {
  std::vector<DestinationNo> found;
  Run rows(paused_);
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step("list paused destinations"));
    if (!more) return found;
    found.emplace_back(rows.number(0));
  }
}

}  // namespace hapax::store::sqlite
