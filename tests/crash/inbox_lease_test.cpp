// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/crash_vfs.hpp"
#include "crash/fault_shapes.hpp"
#include "crash/inbox_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

// Leases while the N-th disk operation fails or the power is cut, for every N. A lease whose answer
// was lost expires, an answered lease is valid, and every fence is larger than all before it.
namespace hapax::test {
namespace {

constexpr milliseconds kLease = seconds(30);
constexpr std::size_t kHeads = 4;  // lane heads and laneless among the six deliveries below

// A worker's answer from one call.
struct Worker {
  Result<std::vector<Lease>> answer = std::vector<Lease>{};

  std::vector<Leased> leases() const {
    return answer && !answer->empty() ? answer->front().deliveries : std::vector<Leased>();
  }
  bool has_all() const { return leases().size() == kHeads; }
  // Returns whether this answer permits that number of leased deliveries in the store.
  bool allows(std::uint64_t leased) const {
    if (has_all()) return leased == kHeads;
    const bool did_not_happen = !answer && answer.error().outcome() == Outcome::did_not_happen;
    return leased == 0 || (leased == kHeads && !did_not_happen);
  }
};

// A store with two lanes of two deliveries and two deliveries without a lane.
class Inbox {
 public:
  Inbox(const std::string& path, milliseconds passed, const std::string& boot_id)
      : file(path, passed, boot_id),
        source_(file.driver().catalog->number_of(NameKind::source, "x").value()),
        destination_(file.driver().catalog->number_of(NameKind::destination, "one").value()) {}

  void fill() {
    std::int64_t no = 10;
    const Target target{destination_};
    for (const std::string lane : {"k", "k", "l", "l", "", ""}) {
      const std::string id = std::to_string(no);
      const Arrival arrival{.no = EventNo(no++),
                            .source = source_,
                            .key = id,
                            .id = id,
                            .order_key = lane,
                            .body = id,
                            .targets = std::span(&target, 1)};
      const Admit admit{.arrivals = std::span(&arrival, 1)};
      EXPECT_TRUE(file.driver().queue->write({.admit = std::span(&admit, 1)}).admit.at(0));
    }
  }
  Worker lease() {
    const LeaseRequest request{
        .from = destination_, .max = 100, .lease = kLease, .holder = {Holder::Kind::push, 1}};
    return {file.driver().queue->write({.lease = std::span(&request, 1)}).lease};
  }
  Settled ack(const Leased& lease) {
    const Settlement settlement{.which = ref(lease), .fence = lease.fence, .disposition = Ack{}};
    return file.driver().queue->write({.settle = std::span(&settlement, 1)}).settle.value().at(0);
  }
  std::uint64_t leased() {
    std::uint64_t count = 0;
    const Stats stats = file.driver().catalog->stats().value();
    for (const DestinationStats& each : stats.destinations) count += each.leased;
    return count;
  }
  Result<void> note_duplicate() {
    const DuplicateNote note{.event = EventNo(10), .count = 1};
    return file.driver().queue->note_duplicates(std::span(&note, 1));
  }
  std::uint64_t duplicates() {
    return file.driver().catalog->event(EventNo(10)).value().value.value().row.duplicates;
  }
  bool is_empty() { return file.driver().catalog->stats().value().destinations.empty(); }

  FileInbox file;

 private:
  SourceNo source_;
  DestinationNo destination_;
};

// The largest fence handed out so far.
class Fences {
 public:
  void expect_all_larger(const std::vector<Leased>& leases) {
    std::int64_t largest = last_;
    std::vector<std::int64_t> seen;
    for (const Leased& each : leases) {
      EXPECT_GT(each.fence.value(), last_) << "a fence went backwards";
      largest = std::max(largest, each.fence.value());
      seen.push_back(each.fence.value());
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end())
        << "a fence was issued twice";
    last_ = largest;
  }

 private:
  std::int64_t last_ = 0;
};

void ack_all(Inbox& inbox, const std::vector<Leased>& leases) {
  for (const Leased& each : leases) EXPECT_EQ(inbox.ack(each), Settled::ok) << each.event.id;
}

// Expires all leases, then delivers the remaining deliveries, the heads of the lanes first.
void deliver_rest(Inbox& inbox, Fences fences, std::size_t heads) {
  inbox.file.advance(kLease);
  for (const std::size_t expected : {heads, std::size_t{2}}) {
    if (expected == 0) continue;
    const std::vector<Leased> leases = inbox.lease().leases();
    EXPECT_EQ(leases.size(), expected);
    fences.expect_all_larger(leases);
    ack_all(inbox, leases);
  }
  EXPECT_TRUE(inbox.is_empty());
}

class LeaseFaults {
 public:
  LeaseFaults() {
    const CrashVfs no_faults;
    Inbox inbox(first_.file("first.db"), {}, "boot-1");
    inbox.fill();
  }

  bool fail(CrashVfs::Fault fault) const {
    const TempDir dir;
    Worker worker;
    bool struck = false;
    {
      CrashVfs vfs;
      Inbox inbox(copy_in(dir), {}, "boot-1");
      vfs.fail(fault);
      worker = inbox.lease();
      struck = vfs.reached();
      vfs.materialize(dir.path() / "dropped", Fate::drop_all, 0);
      vfs.materialize(dir.path() / "torn", Fate::tear, static_cast<std::uint64_t>(fault.nth));
      vfs.disarm();
      EXPECT_TRUE(worker.allows(inbox.leased())) << inbox.leased();
      expect_continues(inbox, worker);
    }
    expect_consistent(dir.file("app.db"));
    check_copies(dir, worker, {"dropped", "torn"});
    return struck;
  }

  bool cut(std::int64_t nth) const {
    const TempDir dir;
    Worker worker;
    bool struck = false;
    std::vector<std::string> places;
    {
      CrashVfs vfs;
      Inbox inbox(copy_in(dir), {}, "boot-1");
      vfs.crash_at(nth);
      worker = inbox.lease();
      if (worker.has_all()) inbox.file.close();
      struck = vfs.reached();
      for (int i = 0; i < 2 + rounds(20); ++i) {
        const Fate fate = i == 0 ? Fate::keep_all : i == 1 ? Fate::drop_all : Fate::tear;
        places.push_back(std::to_string(i));
        vfs.materialize(dir.path() / places.back(), fate,
                        static_cast<std::uint64_t>(nth * 1000 + i));
      }
    }
    check_copies(dir, worker, places);
    return struck;
  }

 private:
  std::string copy_in(const TempDir& dir) const {
    std::filesystem::copy_file(first_.file("first.db"), dir.file("app.db"));
    return dir.file("app.db");
  }

  // Expects the store to continue: the one that met the fault on a repaired disk, or a copy.
  static void expect_continues(Inbox& inbox, const Worker& worker) {
    Fences fences;
    fences.expect_all_larger(worker.leases());
    if (!worker.has_all()) return deliver_rest(inbox, fences, kHeads);
    ack_all(inbox, worker.leases());
    deliver_rest(inbox, fences, 0);
  }

  // In half of the copies the worker acknowledges its leases; in the others they expire.
  static void check_copies(const TempDir& dir, const Worker& worker,
                           const std::vector<std::string>& places) {
    const CrashVfs no_faults;
    bool lapses = false;
    for (const std::string& place : places) {
      SCOPED_TRACE(place);
      const std::string path = (dir.path() / place / "app.db").string();
      {
        Inbox inbox(path, {}, "boot-2");
        expect_consistent(path);
        EXPECT_TRUE(worker.allows(inbox.leased())) << inbox.leased();
        lapses ? expect_stale(inbox, worker) : expect_continues(inbox, worker);
      }
      expect_consistent(path);
      lapses = !lapses;
    }
  }

  static void expect_stale(Inbox& inbox, const Worker& worker) {
    Fences fences;
    fences.expect_all_larger(worker.leases());
    inbox.file.advance(kLease);
    const std::vector<Leased> others = inbox.lease().leases();
    EXPECT_EQ(others.size(), kHeads);
    fences.expect_all_larger(others);
    for (const Leased& each : worker.leases()) EXPECT_EQ(inbox.ack(each), Settled::stale);
    ack_all(inbox, others);
    deliver_rest(inbox, fences, 0);
  }

  TempDir first_;
};

class InboxLeaseFaults : public testing::TestWithParam<Shape> {};

TEST_P(InboxLeaseFaults, ALeaseIsValidOrExpiresAndItsFenceIsNeverReused) {
  const LeaseFaults faults;
  for_every_step(steps_of(GetParam()), [&](std::int64_t nth) {
    CrashVfs::Fault fault = GetParam().fault;
    fault.nth = nth;
    return faults.fail(fault);
  });
}

INSTANTIATE_TEST_SUITE_P(Disk, InboxLeaseFaults, testing::ValuesIn(kShapes),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(InboxLeasePowerCut, ALeaseIsValidOrExpiresAndItsFenceIsNeverReused) {
  const LeaseFaults faults;
  for_every_step({}, [&](std::int64_t nth) { return faults.cut(nth); });
}

// The syncs of a COMMIT and of the recovery after it fail. The second run of the work must not find
// rows of the first, which would count twice and find the deliveries leased.
TEST(InboxSecondRun, AnswersMatchTheStore) {
  for_every_step({}, [&](std::int64_t nth) {
    const TempDir dir;
    CrashVfs vfs;
    Inbox inbox(dir.file("app.db"), {}, "boot-1");
    inbox.fill();
    vfs.fail({.op = CrashVfs::Op::sync, .nth = nth, .times = 2});
    const Result<void> noted = inbox.note_duplicate();
    const Worker worker = inbox.lease();
    const bool struck = vfs.reached();
    vfs.disarm();
    EXPECT_EQ(inbox.duplicates(), noted ? 1U : 0U);
    EXPECT_EQ(inbox.leased(), worker.leases().size());
    EXPECT_EQ(worker.has_all(), worker.answer.has_value());
    return struck;
  });
}

}  // namespace
}  // namespace hapax::test
