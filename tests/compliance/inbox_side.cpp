// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_side.hpp"

#include "base/hex.hpp"

#include <algorithm>
#include <deque>
#include <sstream>

namespace hapax::test {

namespace {

std::string text(WallTime time) {
  return std::to_string(std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count());
}
std::string text(std::int64_t number) {
  return std::to_string(number);
}
std::string text(const Holder& holder) {
  return std::to_string(static_cast<int>(holder.kind)) + ":" + std::to_string(holder.owner);
}
template <class Kind>
std::string text(Number<Kind> number) {
  return std::to_string(number.value());
}
template <class T>
std::string text(const std::optional<T>& value) {
  return value ? text(*value) : "-";
}
template <class T>
std::string text(const std::vector<T>& values) {
  std::string all;
  for (const T& each : values) all += " " + text(each);
  return all;
}
std::string text(const Error& error) {
  return "error " + std::string(info(error.code()).name);
}

std::string text(const EventRow& row, const std::string& source) {
  std::ostringstream out;
  out << "event " << text(row.no) << " " << source << "/" << row.tenant << "/" << row.id << " type "
      << row.type << " order " << to_hex(hapax::view(sha256(row.order_key))).substr(0, 4)
      << " version " << text(row.version) << " received " << text(row.received) << " digest "
      << to_hex(hapax::view(row.digest)).substr(0, 8) << " size " << row.body_size << " would "
      << name(row.would) << " status " << name(row.status) << " duplicates " << row.duplicates;
  return out.str();
}

std::string text(const DeliveryRow& row, const std::string& to) {
  std::ostringstream out;
  out << "  delivery " << text(row.no) << " to " << to << " " << name(row.state) << " "
      << name(row.reason) << " ended " << text(row.ended) << " of " << text(row.replay_of)
      << " attempts " << row.attempts << " abandons " << row.abandons << " due " << text(row.due)
      << (row.waiting ? " waiting" : "") << (row.blocking ? " blocking" : "") << " holder "
      << text(row.holder) << " first sent " << text(row.first_sent) << "\n";
  return out.str();
}

std::string text(const Attempt& attempt) {
  std::ostringstream out;
  out << "  attempt of " << text(attempt.delivery) << " " << name(attempt.outcome) << " at "
      << text(attempt.settled) << " status " << attempt.status << " " << attempt.error << "\n";
  return out.str();
}

Token node_owner(unsigned char number) {
  Token token;
  token.bytes.fill(number);
  return token;
}

}  // namespace

// Applies one operation to one store.
struct Applier {
  Side& side;
  Observation out;

  void print(const std::string& line) { out.text += line + "\n"; }
  template <class T>
  bool failed(const Result<T>& result) {
    if (!result) print(text(result.error()));
    return !result;
  }

  void operator()(const WriteOp& op);
  std::vector<Settlement> settlements(const WriteOp& op) const;
  Fence fence_for(const SettleOp& op) const;
  void print_settled(const WriteOp& op, const Result<std::vector<Settled>>& answers);
  void print_admitted(const WriteOp& op, const std::vector<AdmitAnswer>& answers);
  void print_leased(const Result<std::vector<Lease>>& answers);
  void print_lease(const Leased& lease);

  void operator()(const PassOp& op) {
    side.subject_.advance(op.by);
    side.passed_ += op.by;
    if (op.jump.count() != 0) side.subject_.jump_wall(op.jump);
  }
  void operator()(const RestartOp&) { side.subject_.restart(); }
  void operator()(const CancelOp& op) {
    const Result<Cancelled> answer = side.driver().queue->cancel(op.which);
    if (!failed(answer)) print("cancel " + text(static_cast<std::int64_t>(*answer)));
  }
  void operator()(const ReplayOp& op) {
    Replay what = op.what;
    if (!op.destination.empty()) what.how.destination = side.destinations_.at(op.destination);
    const Result<Replayed> answer = side.driver().queue->replay(what);
    if (failed(answer)) return;
    print("replay " + text(static_cast<std::int64_t>(answer->status)) + text(answer->deliveries));
  }
  void operator()(const ReplayManyOp& op);
  void operator()(const SweepOp& op);
  void operator()(const NoteOp& op) {
    DuplicateNote note{op.event, op.count, {}};
    if (!op.changed.empty()) note.changed = {sha256(op.changed), {}, op.changed};
    failed(side.driver().queue->note_duplicates(std::span(&note, 1)));
  }
  void operator()(const RejectOp& op) {
    if (op.remove) {
      const Result<bool> removed = side.driver().rejects->remove_reject(op.no);
      if (!failed(removed)) print(*removed ? "removed" : "not there");
      return;
    }
    const Reject reject{.no = op.no, .source = side.sources_.at(op.source), .reason = "test"};
    failed(side.driver().rejects->add_rejects({.rejects = std::span(&reject, 1)}));
  }
  void operator()(const PauseOp& op) {
    failed(side.driver().catalog->pause(side.destinations_.at(op.destination), op.paused));
  }
  void operator()(const MessageOp& op) {
    const Result<Enqueued> answer =
        side.driver().queue->enqueue(op.id, {.destination = op.destination,
                                             .key = op.key,
                                             .payload = op.payload,
                                             .order_key = op.order_key});
    if (failed(answer)) return;
    print("message " + answer->message.to_string() + (answer->duplicate ? " duplicate" : ""));
  }
  void operator()(const MoveOp& op) {
    const Result<Moved> answer = side.driver().queue->move_messages(op.numbers);
    if (failed(answer)) return;
    print("moved " + std::to_string(answer->messages) + (answer->more ? " more" : ""));
    for (std::size_t i = 0; i < answer->messages; ++i) {
      side.known_.events.push_back(op.numbers[i]);
    }
  }
  void operator()(const ReleaseOp& op) {
    const Result<Released> answer = side.driver().queue->release_holder(op.step);
    if (!failed(answer)) print("released " + std::to_string(answer->deliveries));
  }
  void operator()(const NodeOp& op) {
    if (op.leave) {
      failed(side.driver().node->leave_node(node_owner(op.owner)));
      return;
    }
    const Result<NodeNo> answer = side.driver().node->take_node(node_owner(op.owner), op.lease);
    if (!failed(answer)) print("node " + text(*answer));
  }
  void operator()(const ReadOp& op);
  void print_stats();
  void print_list(const EventFilter& filter, std::size_t page);
};

Fence Applier::fence_for(const SettleOp& op) const {
  switch (op.with) {
    case SettleOp::With::its_fence:
      return side.fences_.at(op.lease);
    case SettleOp::With::another_fence:
      return side.fences_.at(op.other);
    case SettleOp::With::guessed_fence:
      return Fence(side.highest_fence_ + 1);  // no lease has it, but a delivery may
    case SettleOp::With::nothing:
      break;
  }
  return Fence(0);
}

std::vector<Settlement> Applier::settlements(const WriteOp& op) const {
  std::vector<Settlement> made;
  for (const SettleOp& each : op.settle) {
    AttemptNote note;
    note.status = each.status;
    note.error = "error";
    made.push_back({side.known_.leases.at(each.lease), fence_for(each), each.disposition, note});
  }
  return made;
}

void Applier::operator()(const WriteOp& op) {
  const std::vector<Settlement> settle = settlements(op);
  std::vector<std::vector<Arrival>> arrivals(op.admit.size());
  std::deque<std::vector<Target>> targets;
  std::vector<Admit> admit;
  for (std::size_t i = 0; i < op.admit.size(); ++i) {
    for (const Incoming& in : op.admit[i].arrivals) {
      std::vector<Target>& to = targets.emplace_back();
      for (const std::string& each : in.to) to.push_back({side.destinations_.at(each)});
      for (const std::string& each : in.listen) to.push_back({side.destinations_.at(each), true});
      arrivals[i].push_back({in.no, side.sources_.at(in.source), in.tenant,
                             in.keyless ? std::string_view() : in.id, in.id, in.type, in.order_key,
                             in.version, sha256(in.body), in.headers, in.body, in.remember, to});
    }
    admit.push_back({arrivals[i], op.admit[i].would, op.admit[i].guard});
  }
  std::vector<LeaseRequest> lease;
  for (const LeaseOp& each : op.lease) {
    lease.push_back({side.destinations_.at(each.destination), each.how.max, each.how.lease,
                     each.how.holder, each.how.max_abandons, each.how.horizon, each.how.on_dead});
  }
  const Answers answers =
      side.driver().queue->write({.settle = settle, .admit = admit, .lease = lease});
  print_settled(op, answers.settle);
  print_admitted(op, answers.admit);
  print_leased(answers.lease);
}

void Applier::print_settled(const WriteOp& op, const Result<std::vector<Settled>>& answers) {
  if (failed(answers)) return;
  print(std::to_string(answers->size()) + " settled");
  for (std::size_t i = 0; i < answers->size(); ++i) {
    const std::size_t lease = op.settle[i].lease;
    // A store may remove the attempts of removed events late.
    const bool old = side.late_cleanup_ || side.passed_ - side.at_[lease] >= kKeepAttempts;
    const EventNo event = side.known_.leases[lease].event;
    if (old) {
      const Result<Lookup<EventDetail>> found = side.driver().catalog->event(event);
      // With late_cleanup every event is read here; a failed read is then ignored.
      if (!found && !side.late_cleanup_ && failed(found)) continue;
      if (found && found->presence == Presence::gone) continue;
    }
    print("settle " + text(static_cast<std::int64_t>(answers->at(i))));
  }
}

void Applier::print_admitted(const WriteOp& op, const std::vector<AdmitAnswer>& answers) {
  print(std::to_string(answers.size()) + " admitted");
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (failed(answers[i])) continue;
    for (std::size_t j = 0; j < answers[i]->size(); ++j) {
      const Admission& each = answers[i]->at(j);
      print("admit " + text(static_cast<std::int64_t>(each.kind)) + " " + text(each.event));
      const bool fresh = each.kind == Admission::Kind::fresh;
      if (fresh && op.admit[i].arrivals[j].no == each.event) {
        side.known_.events.push_back(each.event);
      }
    }
  }
}

void Applier::print_leased(const Result<std::vector<Lease>>& answers) {
  if (failed(answers)) return;
  std::vector<std::int64_t> fences;
  for (const Lease& lease : *answers) {
    print("leased, passed " + std::to_string(lease.passed));
    for (const Leased& each : lease.deliveries) {
      print_lease(each);
      fences.push_back(each.fence.value());
      side.known_.leases.push_back(ref(each));
      side.fences_.push_back(each.fence);
      side.at_.push_back(side.passed_);
    }
  }
  std::sort(fences.begin(), fences.end());
  EXPECT_EQ(std::adjacent_find(fences.begin(), fences.end()), fences.end());
  if (fences.empty()) return;
  EXPECT_GT(fences.front(), side.highest_fence_) << "a fence was issued before";
  side.highest_fence_ = fences.back();
}

void Applier::print_lease(const Leased& lease) {
  const StoredEvent& event = lease.event;
  print("lease " + text(event.no) + "/" + text(lease.delivery) + " attempt " +
        std::to_string(lease.attempt) + " abandons " + std::to_string(lease.abandons) + " until " +
        text(lease.until) + " of " + text(lease.replay_of) + " " + side.name_of(event.source) +
        "/" + event.tenant + "/" + event.id + " " + event.type + " " + to_hex(event.headers) + " " +
        event.body + " " + text(event.received) + " " + std::string(name(event.would)));
}

void Applier::operator()(const ReplayManyOp& op) {
  ReplayStep step;
  step.how = op.how;
  step.filter.status = op.status;
  if (!op.source.empty()) step.filter.source = side.sources_.at(op.source);
  step.limit = op.limit;
  std::size_t events = 0;
  std::size_t deliveries = 0;
  for (bool done = false; !done;) {
    const Result<Replaying> part = side.driver().queue->replay_step(step);
    if (failed(part)) return;
    events += part->events;
    deliveries += part->deliveries;
    step.after = part->after;
    done = part->done;
  }
  print("replayed " + std::to_string(events) + " events, " + std::to_string(deliveries));
}

void Applier::operator()(const SweepOp& op) {
  std::vector<Periods> periods;
  for (const auto& [name, number] : side.sources_)
    periods.push_back({number, op.keep, op.keep_dead});
  std::size_t events = 0;
  // The first step may continue a pass in progress, so only the pass after it covers everything.
  for (int passes = 0; passes < 2;) {
    const Result<Swept> part = side.driver().queue->sweep({periods, op.limit});
    if (failed(part)) return;
    events += part->events;
    if (part->done) ++passes;
  }
  print("swept " + std::to_string(events));
}

void Applier::operator()(const ReadOp& op) {
  out.text += side.text_of(op.event);
  EventFilter filter;
  filter.source = side.sources_.at(op.source);
  filter.status = op.status;
  print_list(filter, op.page);
  print_list({.id = op.id}, op.page);
  const WantedIdentity wanted{side.sources_.at(op.source), "", op.id};
  const auto found = side.driver().catalog->find(std::span(&wanted, 1));
  if (!failed(found)) print("found " + text(found->at(0)));
  print_stats();
}

// Lists the newest matching events, page by page.
void Applier::print_list(const EventFilter& filter, std::size_t page) {
  constexpr std::size_t kRows = 50;
  EventQuery query{filter, kNewest, page};
  for (std::size_t printed = 0; printed < kRows;) {
    const Result<EventPage> part = side.driver().catalog->events(query);
    if (failed(part)) return;
    for (const EventRow& each : part->events) {
      if (printed++ < kRows) print(text(each, side.name_of(each.source)));
    }
    if (!part->next) return;
    query.before = *part->next;
  }
}

void Applier::print_stats() {
  const Result<Stats> stats = side.driver().catalog->stats();
  if (failed(stats)) return;
  std::map<std::string, std::string> lines;
  for (const DestinationStats& each : stats->destinations) {
    lines[side.name_of(each.destination)] =
        std::to_string(each.pending) + " " + std::to_string(each.leased) + " " +
        std::to_string(each.dead) + " " + std::to_string(each.superseded) + " " +
        std::to_string(each.cancelled) + " oldest " + text(each.oldest_due);
  }
  for (const auto& [destination, line] : lines) print(destination + ": " + line);
  std::map<std::string, WallTime> seen;
  for (const SourceStats& each : stats->sources) seen[side.name_of(each.source)] = each.last_seen;
  for (const auto& [source, at] : seen) {
    print("seen " + source);
    out.seen.push_back(at);
  }
}

Side::Side(InboxSubject& subject, bool late_cleanup)
    : subject_(subject), late_cleanup_(late_cleanup) {
  for (const std::string& name : OperationSource::sources()) {
    sources_[name] = SourceNo(driver().catalog->number_of(NameKind::source, name).value());
    source_names_[sources_[name]] = name;
  }
  for (const std::string& name : OperationSource::destinations()) {
    destinations_[name] =
        DestinationNo(driver().catalog->number_of(NameKind::destination, name).value());
    destination_names_[destinations_[name]] = name;
  }
}

Side::Side(const Side& other, InboxSubject& subject)
    : subject_(subject),
      late_cleanup_(other.late_cleanup_),
      sources_(other.sources_),
      destinations_(other.destinations_),
      source_names_(other.source_names_),
      destination_names_(other.destination_names_),
      known_(other.known_),
      fences_(other.fences_),
      at_(other.at_),
      passed_(other.passed_),
      highest_fence_(other.highest_fence_) {}

Observation Side::apply(const Operation& operation) {
  Applier applier{*this, {}};
  std::visit(applier, operation);
  return std::move(applier.out);
}

std::string Side::text_of(EventNo event) {
  const Result<Lookup<EventDetail>> found = driver().catalog->event(event);
  if (!found) return text(found.error()) + "\n";
  std::string all = "presence " + text(static_cast<std::int64_t>(found->presence)) + "\n";
  if (!found->value) return all;
  const EventDetail& detail = *found->value;
  all += text(detail.row, name_of(detail.row.source)) + " headers " + detail.headers + "\n";
  for (const DeliveryRow& each : detail.deliveries) all += text(each, name_of(each.to));
  for (const Attempt& each : detail.attempts) all += text(each);
  for (const Variant& each : detail.variants)
    all += "  variant " + to_hex(hapax::view(each.digest)) + "\n";
  for (const BodyOf which : {BodyOf::event, BodyOf::last_variant}) {
    const Result<Lookup<std::string>> body = driver().catalog->body(event, which);
    all += "  body " + (body ? body->value.value_or("none") : text(body.error())) + "\n";
  }
  return all;
}

Observation Side::everything() {
  Applier applier{*this, {}};
  EventQuery query{{}, kNewest, kMaxPage};
  for (;;) {
    const Result<EventPage> page = driver().catalog->events(query);
    if (applier.failed(page)) break;
    for (const EventRow& each : page->events) applier.out.text += text_of(each.no);
    if (!page->next) break;
    query.before = *page->next;
  }
  const Result<RejectPage> rejects = driver().rejects->rejects({.limit = kMaxPage});
  if (!applier.failed(rejects)) {
    for (const RejectRow& each : rejects->rejects) {
      applier.print("reject " + text(each.no) + " " + name_of(each.source));
    }
  }
  applier.print_stats();
  return std::move(applier.out);
}

}  // namespace hapax::test
