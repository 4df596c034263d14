// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"

#include <atomic>
#include <barrier>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

// Two contending nodes: the same ids, the same lanes, the same queue.
namespace hapax::test {
namespace {

using store::Leased;
using store::Settled;

std::vector<Post> posts(int first, int count, int lanes) {
  std::vector<Post> made;
  for (int i = first; i < first + count; ++i) {
    made.push_back({"id-" + std::to_string(i),
                    lanes > 0 ? "lane-" + std::to_string(i % lanes) : std::string()});
  }
  return made;
}

class InboxRaceTest : public testing::Test {
 protected:
  InboxNode& node(int i) { return i % 2 == 0 ? *one_ : *two_; }

  // Deadlocks resolved by the server. A backend's counters are visible once it has ended, so this
  // stops the nodes.
  int deadlocks() {
    one_.reset();
    two_.reset();
    witness_.wait_until("count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()");
    return witness_.number(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
  }

  PostgresDatabase database_;
  std::optional<InboxNode> one_{std::in_place, database_.url(), 1};
  std::optional<InboxNode> two_{std::in_place, database_.url(), 2};
  Witness witness_{database_.connect()};
};

TEST_F(InboxRaceTest, SixteenThreadsOnTwoNodesAcknowledgeEachDeliveryOnce) {
  const int wanted = rounds(50'000);
  for (int i = 0; i < wanted; i += 250) EXPECT_EQ(one_->admit(posts(i, 250, 0)), 250);
  std::mutex mutex;
  std::map<std::string, int> acked;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int empty = 0; empty < 3;) {
        const std::vector<Leased> leases = node(i).lease(32);
        empty = leases.empty() ? empty + 1 : 0;
        const std::vector<Settled> settled = node(i).ack(leases);
        const std::lock_guard lock(mutex);
        for (std::size_t n = 0; n < settled.size(); ++n) {
          if (settled[n] == Settled::ok) ++acked[leases[n].event.id];
        }
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(acked.size(), static_cast<std::size_t>(wanted));
  for (const auto& [id, times] : acked) ASSERT_EQ(times, 1) << id;
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.queue"), 0);
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.attempt"), wanted);
  EXPECT_EQ(deadlocks(), 0);
}

// Records the order of each lane across both nodes.
constexpr const char* kNoteLanes =
    "CREATE TABLE public.placed (lane bytea, place bigint, event bigint);"
    "CREATE FUNCTION note_place() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " INSERT INTO public.placed VALUES (NEW.lane, NEW.lane_seq, NEW.event); RETURN NULL; END $$;"
    "CREATE TRIGGER note_place AFTER INSERT ON hapax.queue"
    " FOR EACH ROW EXECUTE FUNCTION note_place()";

TEST_F(InboxRaceTest, OverlappingAdmitsAndLanesOnTwoNodesKeepTheirOrderWithoutDeadlocks) {
  witness_.text(kNoteLanes);
  constexpr int kLanes = 40;
  const int count = rounds(2000);
  std::barrier round_start(4);
  std::atomic<int> fresh = 0;
  std::atomic<int> admitting = 4;
  std::mutex mutex;
  std::map<std::string, std::vector<std::int64_t>> order;  // of first leases, by lane
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {  // both nodes post the same ids, one of them backwards
      for (int round = 0; round < count; ++round) {
        round_start.arrive_and_wait();
        std::vector<Post> batch = posts(round * 40 + i / 2 * 10, 50, kLanes);
        if (i % 2 == 1) std::reverse(batch.begin(), batch.end());
        fresh += node(i).admit(batch);
      }
      --admitting;
    });
    threads.emplace_back([&, i] {
      SeededRandom random(static_cast<std::uint64_t>(i));
      for (int empty = 0; empty < 20;) {
        const std::vector<Leased> leases = node(i).lease(20);
        empty = leases.empty() && admitting == 0 ? empty + 1 : 0;
        std::vector<Disposition> dispositions;
        {
          const std::lock_guard lock(mutex);
          for (const Leased& each : leases) {
            const std::string lane = std::to_string(std::stoi(each.event.id.substr(3)) % kLanes);
            if (each.attempt == 1) order[lane].push_back(each.event.no.value());
            const bool retry = random.below(5) == 0;
            dispositions.push_back(retry ? Disposition(RetryIn{}) : Disposition(Ack{}));
          }
        }
        for (const Settled each : node(i).settle(leases, dispositions))
          EXPECT_EQ(each, Settled::ok);
      }
    });
  }
  for (std::thread& each : threads) each.join();

  std::size_t delivered = 0;
  for (const auto& [lane, events] : order) {
    delivered += events.size();
    std::string text;
    for (const std::int64_t each : events) {
      text += (text.empty() ? "" : ",") + std::to_string(each);
    }
    EXPECT_EQ(text,
              witness_.text("SELECT string_agg(event::text, ',' ORDER BY place) FROM public.placed"
                            " WHERE lane = (SELECT lane FROM public.placed WHERE event = " +
                            std::to_string(events.front()) + ")"))
        << "lane " << lane;
  }
  EXPECT_EQ(delivered, static_cast<std::size_t>(fresh));
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.queue"), 0);
  const int resolved = deadlocks();
  std::cout << "  delivered in order: " << delivered << "\n  deadlocks: " << resolved << "\n";
  EXPECT_EQ(resolved, 0);
}

}  // namespace
}  // namespace hapax::test
