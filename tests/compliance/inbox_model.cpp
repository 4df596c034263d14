// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_model.hpp"

#include "compliance/inbox_side.hpp"

#include <deque>
#include <sstream>

namespace hapax::test {

namespace {

constexpr int kWholeEvery = 500;    // operations between comparisons of the complete state
constexpr std::size_t kShown = 25;  // operations shown in a failure

struct Describer {
  std::ostringstream out;

  void operator()(const WriteOp& op) {
    out << "write";
    for (const SettleOp& each : op.settle) {
      out << " settle(" << each.lease << " with " << static_cast<int>(each.with) << " disposition "
          << each.disposition.index() << ")";
    }
    for (const AdmitOp& each : op.admit) {
      out << " admit(would " << name(each.would) << " guard " << each.guard;
      for (const Incoming& in : each.arrivals) {
        out << " [" << in.no.value() << " " << in.source << "/" << in.tenant << "/" << in.id
            << (in.keyless ? " keyless" : "") << " lane " << in.order_key.substr(0, 3) << " v "
            << (in.version ? std::to_string(*in.version) : "-") << " to " << in.to.size() << "+"
            << in.listen.size() << " " << in.remember.count() << "ms]";
      }
      out << ")";
    }
    for (const LeaseOp& each : op.lease) {
      out << " lease(" << each.destination << " " << each.how.max << " for "
          << each.how.lease.count() << "ms by " << static_cast<int>(each.how.holder.kind)
          << " abandons " << each.how.max_abandons << " horizon " << each.how.horizon.count()
          << (each.how.on_dead == OnDead::block ? " block" : "") << ")";
    }
  }
  void operator()(const PassOp& op) {
    out << "pass " << op.by.count() << "ms, jump " << op.jump.count() << "ms";
  }
  void operator()(const RestartOp&) { out << "restart"; }
  void operator()(const CancelOp& op) {
    out << "cancel " << op.which.event.value() << "/" << op.which.delivery.value();
  }
  void operator()(const ReplayOp& op) {
    out << "replay " << op.what.event.value() << "/"
        << (op.what.delivery ? std::to_string(op.what.delivery->value()) : "all") << " to '"
        << op.destination << "' as " << static_cast<int>(op.what.how.as) << " accept "
        << op.what.how.accept_duplicate << " no " << op.what.how.no.value();
  }
  void operator()(const ReplayManyOp& op) {
    out << "replay many as " << static_cast<int>(op.how.as) << " of '" << op.source << "' "
        << (op.status ? name(*op.status) : "any") << " no " << op.how.no.value();
  }
  void operator()(const SweepOp& op) {
    out << "sweep " << op.keep.count() << "ms " << op.keep_dead.count() << "ms by " << op.limit;
  }
  void operator()(const NoteOp& op) {
    out << "note " << op.event.value() << " " << op.count << " '" << op.changed << "'";
  }
  void operator()(const RejectOp& op) {
    out << (op.remove ? "remove reject " : "add reject ") << op.no.value() << " " << op.source;
  }
  void operator()(const PauseOp& op) { out << "pause " << op.destination << " " << op.paused; }
  void operator()(const MessageOp& op) {
    out << "enqueue " << op.id.to_string() << " " << op.destination << " key " << op.key;
  }
  void operator()(const MoveOp& op) { out << "move " << op.numbers.size(); }
  void operator()(const ReleaseOp& op) { out << "release " << static_cast<int>(op.step.kind); }
  void operator()(const NodeOp& op) {
    out << (op.leave ? "leave" : "take") << " node " << static_cast<int>(op.owner);
  }
  void operator()(const ReadOp& op) {
    out << "read " << op.event.value() << " " << op.source << " " << op.id;
  }
};

bool differ(const Observation& a, const Observation& b) {
  if (a.text != b.text || a.seen.size() != b.seen.size()) return true;
  for (std::size_t i = 0; i < a.seen.size(); ++i) {
    if (std::chrono::abs(a.seen[i] - b.seen[i]) > kSeenSlack) return true;
  }
  return false;
}

}  // namespace

std::string describe(const Operation& operation) {
  Describer describer;
  std::visit(describer, operation);
  return describer.out.str();
}

void compare_inboxes(InboxSubject& model, InboxSubject& other, std::uint64_t seed, int operations,
                     bool late_cleanup) {
  OperationSource source(seed);
  Side sides[]{Side(model, late_cleanup), Side(other, late_cleanup)};
  std::deque<std::string> last;
  for (int i = 0; i < operations; ++i) {
    const Operation operation = source.next(sides[0].known());
    last.push_back(describe(operation));
    if (last.size() > kShown) last.pop_front();
    const bool whole = (i + 1) % kWholeEvery == 0 || i + 1 == operations;
    Observation seen[2];
    for (std::size_t side = 0; side < 2; ++side) {
      seen[side] = sides[side].apply(operation);
      if (whole) seen[side].append(sides[side].everything());
    }
    if (differ(seen[0], seen[1])) {
      std::string before;
      for (const std::string& each : last) before += "\n  " + each;
      FAIL() << "seed " << seed << ", operation " << i << "; the last operations:" << before
             << "\nthe model:\n"
             << seen[0].text << "\nthe other store:\n"
             << seen[1].text;
    }
  }
}

}  // namespace hapax::test
