// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/messages.hpp"

#include "base/claim_key.hpp"
#include "base/try.hpp"
#include "model/message.hpp"
#include "store/sqlite/claims/statements.hpp"
#include "store/sqlite/inbox_statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

std::string_view view(const MessageId& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

}  // namespace

struct Messages::Stored {
  std::int64_t no = 0;
  MessageId id;
  std::string destination;
  std::string order_key;
  std::string headers;
  std::string payload;
};

Messages::Messages(sqlite3* db, ClaimTable& claims, Admitter& admitter, Names& names)
    : claims_(claims),
      admitter_(admitter),
      names_(names),
      insert_(db, kInsertMessage),
      find_(db, kFindMessage),
      next_(db, kFirstMessage),
      remove_(db, kRemoveMessage),
      has_more_(db, kHasMessages),
      origin_(db, kReadOrigin) {}

Result<std::optional<Enqueued>> Messages::enqueue(const MessageId& id, const Message& message,
                                                  std::int64_t now_ms, bool again) {
  const std::string headers = encode_headers(message);
  if (message.key.empty()) {
    HAPAX_TRY_ASSIGN(there, again ? is_there(id) : Result<bool>(false));
    if (!there) HAPAX_TRY(insert(id, message, headers, now_ms));
    return std::optional(Enqueued{id, false});
  }
  const std::string key = claim_key(ClaimKind::message, message.destination, message.key);
  const Digest digest = content_digest(message, headers);
  const ClaimRequest request{key, Token{id.bytes}, kDefaultTtl, hapax::view(digest)};
  HAPAX_TRY_ASSIGN(claimed, claims_.claim(request, now_ms));
  if (claimed.fresh) {
    HAPAX_TRY(insert(id, message, headers, now_ms));
    return std::optional(Enqueued{id, false});
  }
  if (claimed.result != hapax::view(digest)) return std::optional<Enqueued>();
  return std::optional(Enqueued{MessageId{claimed.token.bytes}, !claimed.ours});
}

Result<void> Messages::insert(const MessageId& id, const Message& message,
                              const std::string& headers, std::int64_t now_ms) {
  Run row(insert_);
  row.bind(view(id)).bind_text(message.destination);
  message.key.empty() ? row.bind_null() : row.bind(message.key);
  message.order_key.empty() ? row.bind_null() : row.bind(message.order_key);
  row.bind(headers).bind(message.payload).bind(now_ms);
  HAPAX_TRY(row.change("enqueue a message"));
  return {};
}

Result<bool> Messages::is_there(const MessageId& id) {
  return Run(find_).bind(view(id)).step("enqueue a message");
}

// The message with the lowest number. One at a time, because each may be large.
Result<std::optional<Messages::Stored>> Messages::next() {
  Run row(next_);
  HAPAX_TRY_ASSIGN(found, row.step("move messages"));
  if (!found) return std::optional<Stored>();
  Stored message;
  message.no = row.number(0);
  const std::string_view id = row.bytes(1);
  std::copy_n(id.begin(), std::min(id.size(), message.id.bytes.size()), message.id.bytes.begin());
  message.destination = row.bytes(2);
  message.order_key = row.bytes(3);
  message.headers = row.bytes(4);
  message.payload = row.bytes(5);
  return std::optional(std::move(message));
}

Result<void> Messages::move_one(const Stored& message, EventNo number, SourceNo source,
                                std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(to, names_.number_of(NameKind::destination, message.destination));
  const Target target{DestinationNo(to)};
  const std::string id = message.id.to_string();
  const Arrival arrival{.no = number,
                        .source = source,
                        .id = id,
                        .order_key = message.order_key,
                        .digest = sha256(message.payload),
                        .headers = message.headers,
                        .body = message.payload,
                        .targets = std::span(&target, 1)};
  HAPAX_TRY(admitter_.store(arrival, Would::none, true, now_ms));
  HAPAX_TRY(Run(remove_).bind(message.no).change("move messages"));
  return {};
}

Result<std::optional<Moved>> Messages::move(std::span<const EventNo> numbers, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(source, names_.number_of(NameKind::source, kOutboxSource));
  Moved moved;
  std::vector<EventNo> free;
  for (const EventNo each : numbers) {
    Run row(origin_);
    HAPAX_TRY_ASSIGN(taken, row.bind(each.value()).step("move messages"));
    if (taken && row.number(0) != source) return std::optional<Moved>();
    if (taken) {
      ++moved.messages;
    } else {
      free.push_back(each);
    }
  }
  for (const EventNo each : free) {
    HAPAX_TRY_ASSIGN(message, next());
    if (!message) break;
    HAPAX_TRY(move_one(*message, each, SourceNo(source), now_ms));
    ++moved.messages;
  }
  HAPAX_TRY(admitter_.write_deliveries());
  Run more(has_more_);
  HAPAX_TRY(more.step("move messages"));
  moved.more = more.number(0) != 0;
  return std::optional(moved);
}

}  // namespace hapax::store::sqlite
