// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "model/message.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/errors.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/message.hpp"
#include "store/postgres/rows.hpp"

#include <algorithm>

namespace hapax::store::postgres {

Result<Enqueued> PostgresQueue::enqueue(const MessageId& id, const Message& message) {
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  add_message(parameters, id, message);
  parameters.add_time(runner_.moment());
  HAPAX_TRY_ASSIGN(answer, runner_.run_query(kSend, parameters, "enqueue a message",
                                             message.key.empty() ? Lost::report : Lost::repeat));
  const Row row(answer, 0);
  if (row.flag(2)) {
    return Error(Code::key_reused, "this key was used for a message with other content");
  }
  Enqueued enqueued{.message = {}, .duplicate = row.flag(1)};
  const std::string_view stored = answer.field(0, 0);
  std::copy_n(stored.begin(), std::min(stored.size(), id.bytes.size()),
              enqueued.message.bytes.begin());
  return enqueued;
}

Result<Moved> PostgresQueue::move_messages(std::span<const EventNo> numbers) {
  std::vector<std::int64_t> values;
  for (const EventNo each : numbers) values.push_back(each.value());
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_number_array(values);
  parameters.add_number(std::chrono::milliseconds(kDefaultTtl).count());
  parameters.add_time(runner_.moment());
  Result<QueryResult> answer =
      run_query_with_days(values, kMoveMessages, parameters, "move messages");
  if (!answer && is_refused(answer.error())) {
    return Error(Code::store_busy,
                 "an event number belongs to another event; generate new numbers and retry");
  }
  if (!answer) return std::move(answer).error();
  const Row row(*answer, 0);
  return Moved{static_cast<std::size_t>(row.number(0)), row.flag(1)};
}

}  // namespace hapax::store::postgres
