// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

#include <algorithm>

// Names, nodes, the secret, records, and paused destinations.
namespace hapax::store::postgres {

namespace {

Record record_in(const Row& row) {
  return {row.bytes(0), row.number(1), row.bytes(2)};
}

}  // namespace

Result<std::int64_t> PostgresCatalog::number_of(NameKind kind, std::string_view name) {
  Parameters parameters;
  parameters.add_number(static_cast<std::int64_t>(kind));
  parameters.add_bytes(name);
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kNumberOf, parameters, "give a name its number"));
  return Row(answer, 0).number(0);
}

Result<std::vector<KnownName>> PostgresCatalog::names(NameKind kind) {
  Parameters parameters;
  parameters.add_number(static_cast<std::int64_t>(kind));
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kNames, parameters, "list names"));
  std::vector<KnownName> names;
  for (int i = 0; i < answer.rows(); ++i) {
    const Row row(answer, i);
    names.push_back({row.number(0), row.bytes(1)});
  }
  return names;
}

Result<NodeNo> PostgresNode::take_node(const Token& owner, std::chrono::milliseconds lease) {
  Parameters parameters;
  parameters.add_bytes(view(owner));
  parameters.add_number(lease.count());
  parameters.add_time(runner_.moment());
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kTakeNode, parameters, "take a node number"));
  const Row row(answer, 0);
  if (row.is_null(0)) {
    return Error(Code::store_full, "all node numbers are taken; stop a node");
  }
  return row.no<NodeNo>(0);
}

Result<void> PostgresNode::leave_node(const Token& owner) {
  Parameters parameters;
  parameters.add_bytes(view(owner));
  parameters.add_time(runner_.moment());
  HAPAX_TRY(runner_.transact(kLeaveNode, parameters, "give a node number back"));
  return {};
}

Result<StoreSecret> PostgresNode::secret(const StoreSecret& proposed) {
  StoreSecret secret{};
  Parameters parameters;
  parameters.add_bytes({reinterpret_cast<const char*>(proposed.data()), proposed.size()});
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kSecret, parameters, "read the store's secret"));
  const std::string_view bytes = answer.field(0, 0);
  if (bytes.size() != secret.size()) {
    return Error(Code::store_corrupt, "the store's secret has not the right length");
  }
  std::copy(bytes.begin(), bytes.end(), secret.begin());
  return secret;
}

Result<void> PostgresCatalog::pause(DestinationNo destination, bool paused) {
  Parameters parameters;
  parameters.add_number(destination.value());
  parameters.add_flag(paused);
  HAPAX_TRY(runner_.transact(kPause, parameters, "pause or resume a destination"));
  return {};
}

Result<std::vector<DestinationNo>> PostgresCatalog::paused() {
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kPaused, {}, "list paused destinations"));
  std::vector<DestinationNo> paused;
  paused.reserve(static_cast<std::size_t>(answer.rows()));
  for (int i = 0; i < answer.rows(); ++i) paused.push_back(Row(answer, i).no<DestinationNo>(0));
  return paused;
}

Result<std::optional<Record>> PostgresNode::record(std::string_view name) {
  Parameters parameters;
  parameters.add_bytes(name);
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kRecord, parameters, "read a record"));
  return answer.rows() == 0 ? std::nullopt : std::optional(record_in(Row(answer, 0)));
}

Result<std::vector<Record>> PostgresNode::records(std::string_view prefix) {
  const std::string end = std::string(prefix) + '\x7f';  // sorts after every character of a name
  Parameters parameters;
  parameters.add_bytes(prefix);
  parameters.add_bytes(end);
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kRecords, parameters, "list records"));
  std::vector<Record> found;
  found.reserve(static_cast<std::size_t>(answer.rows()));
  for (int i = 0; i < answer.rows(); ++i) found.push_back(record_in(Row(answer, i)));
  return found;
}

Result<bool> PostgresNode::put_record(const Record& record, std::int64_t before) {
  Parameters parameters;
  parameters.add_bytes(record.name);
  parameters.add_number(record.version);
  parameters.add_number(before);
  parameters.add_bytes(record.content);
  parameters.add_number(static_cast<std::int64_t>(kMaxRecords));
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kPutRecord, parameters, "write a record"));
  const std::int64_t outcome = Row(answer, 0).number(0);
  if (outcome == 2) return no_room_for_records();
  return outcome == 1;
}

Result<bool> PostgresNode::remove_record(std::string_view name, std::int64_t version) {
  Parameters parameters;
  parameters.add_bytes(name);
  parameters.add_number(version);
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kRemoveRecord, parameters, "remove a record"));
  return Row(answer, 0).flag(0);
}

}  // namespace hapax::store::postgres
