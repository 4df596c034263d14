// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/memory/tables.hpp"

// Names, nodes, duplicates, records and messages.
namespace hapax::store::memory {

std::int64_t number_of(Tables& tables, NameKind kind, std::string_view name);
std::vector<KnownName> names(const Tables& tables, NameKind kind);

Result<NodeNo> take_node(Tables& tables, const Token& owner, std::chrono::milliseconds lease,
                         std::int64_t now);
void leave_node(Tables& tables, const Token& owner, std::int64_t now);

void note_duplicate(Tables& tables, const DuplicateNote& note);

std::vector<Record> records(const Tables& tables, std::string_view prefix);
Result<bool> put_record(Tables& tables, const Record& record, std::int64_t before);
bool remove_record(Tables& tables, std::string_view name, std::int64_t version);

Result<Moved> move_messages(Tables& tables, std::span<const EventNo> numbers, std::int64_t now);

}  // namespace hapax::store::memory
