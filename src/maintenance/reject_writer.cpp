// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "maintenance/reject_writer.hpp"

#include "base/try.hpp"

#include <algorithm>

namespace hapax::maintenance {

namespace {

using gateway::KeptReject;
using std::chrono::milliseconds;

// At shutdown, without pauses: enough steps for a full queue, as each takes at least one reject,
// and for the pending batch.
constexpr std::size_t kLastRejectSteps = gateway::RejectQueue::kMaxRejects + 1;

store::Reject shown(const KeptReject& reject) {
  return {.no = *reject.no,
          .source = reject.source,
          .tenant = reject.tenant,
          .reason = name(reject.reason),
          .detail = std::string_view(reject.detail).substr(0, store::kMaxRejectText),
          .received = reject.received,
          .method = reject.method,
          .url = reject.target,
          .headers = reject.headers,
          .proof = reject.proof,
          .body = reject.body,
          .address = reject.address};
}

}  // namespace

RejectWriter::~RejectWriter() {
  stop();
}

void RejectWriter::start() {
  thread_.start();
}

void RejectWriter::stop() {
  if (!thread_.stop()) return;
  for (std::size_t i = 0; i < kLastRejectSteps && take(); ++i) {
    write_hand();
    if (holds_any()) return;
  }
}

milliseconds RejectWriter::step() {
  if (!take()) return kLook;
  const BootTime start = deps_.clock.since_boot();
  const bool written = write_hand();
  const auto took = std::chrono::duration_cast<milliseconds>(deps_.clock.since_boot() - start);
  const milliseconds least = written && hand_.more ? milliseconds(1) : kLook;
  return std::clamp(took * kRest, least, kLongestRest);
}

bool RejectWriter::take() {
  if (!holds_any()) hand_ = deps_.queue.take(kAtOnce, kBytesAtOnce);
  return holds_any();
}

bool RejectWriter::write_hand() {
  const Result<std::size_t> evicted = write();
  if (evicted) {
    note(*evicted);
  } else {
    log_warning(evicted.error());
  }
  // A batch that the store will never accept would block the others.
  if (evicted || !evicted.error().retryable()) {
    hand_.rejects.clear();
    hand_.dropped.clear();
  }
  return evicted.has_value();
}

Result<std::size_t> RejectWriter::write() {
  std::vector<store::Reject> rejects;
  for (KeptReject& each : hand_.rejects) {
    if (!each.no) {
      const std::optional<EventNo> number = deps_.numbers.next();
      if (!number) return Error(Code::store_unavailable, "this node has no number assigned");
      each.no = RejectNo(number->value());
    }
    const store::Reject reject = shown(each);
    if (Result<void> good = check(reject); !good) {
      log_warning(good.error());
      continue;
    }
    rejects.push_back(reject);
  }
  std::vector<store::DroppedRejects> dropped;
  for (const auto& [source, each] : hand_.dropped) dropped.push_back({source, each.count});
  return deps_.rejects.add_rejects({.rejects = rejects, .dropped = dropped});
}

void RejectWriter::note(std::size_t evicted) {
  for (const KeptReject& each : hand_.rejects) {
    deps_.metrics.rejected(each.source_name, name(each.reason));
  }
  for (const auto& [source, each] : hand_.dropped) {
    deps_.metrics.rejects_dropped(each.source_name, each.count);
  }
  deps_.metrics.rejects_evicted(evicted);
}

void RejectWriter::log_warning(const Error& error) {
  const std::optional<std::string> more = limit_.pass(std::string(info(error.code()).name));
  if (!more) return;
  deps_.log.line(Level::warning, "rejects not stored",
                 {{"error", error.to_string()}, {"more", *more}});
}

}  // namespace hapax::maintenance
