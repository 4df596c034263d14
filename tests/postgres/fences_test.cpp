// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/server.hpp"
#include "postgres/witness.hpp"
#include "store/inspect.hpp"
#include "support/callers.hpp"

#include <atomic>
#include <iostream>
#include <thread>

// Fences, lane numbers and message numbers only grow, even if their sequence moved backwards: after
// a failover that lost WAL, on a logical copy, and in a restored database.
namespace hapax::test {
namespace {

using store::Leased;

// Simulates such a server: the sequence is behind, and the recorded server start is another one's.
// The lock makes sure that no number is drawn in between: transactions that compared the record
// have ended, and new ones wait.
constexpr const char* kFailOver =
    "BEGIN; LOCK TABLE hapax.epoch IN ACCESS EXCLUSIVE MODE;"
    " SELECT setval('hapax.fence', 1000), setval('hapax.message_no_seq', 1000);"
    " UPDATE hapax.epoch SET started = '2020-01-01'; COMMIT";

struct Draws {
  const char* name;
  void (*draw)(InboxNode& node, const Leased& lease);
};

void PrintTo(const Draws& draws, std::ostream* out) {
  *out << draws.name;
}

class FenceTest : public testing::Test {
 protected:
  FenceTest() {
    for (const char* id : {"a", "b", "c"}) node_.admit(std::vector<Post>{{id, "lane"}, {id}});
    node_.admit(std::vector<Post>{{"d"}, {"e"}});
    leased_ = node_.lease(2);
    before_ = last();
  }
  std::int64_t last(const std::string& sequence = "fence") const {
    return std::stoll(witness_.text("SELECT last_value FROM hapax." + sequence));
  }

  PostgresDatabase database_;
  InboxNode node_{database_.url(), 1};
  Witness witness_{database_.connect()};
  std::vector<Leased> leased_;
  std::int64_t before_ = 0;
};

constexpr Draws kDraws[] = {
    {"Admit", [](InboxNode& node, const Leased&) { node.admit(std::vector<Post>{{"new"}}); }},
    {"AdmitToALane",
     [](InboxNode& node, const Leased&) {
       node.admit(std::vector<Post>{{"new", "lane"}});
     }},
    {"Lease", [](InboxNode& node, const Leased&) { EXPECT_FALSE(node.lease(1).empty()); }},
    {"Settle",
     [](InboxNode& node, const Leased& lease) {
       node.settle(std::span(&lease, 1), std::vector<Disposition>{RetryIn{}});
     }},
    {"Cancel",
     [](InboxNode& node, const Leased& lease) {
       EXPECT_TRUE(node.driver().queue->cancel({lease.event.no, lease.delivery}));
     }},
    {"Replay",
     [](InboxNode& node, const Leased& lease) {
       node.ack(std::span(&lease, 1));
       EXPECT_TRUE(node.driver().queue->replay(
           {.event = lease.event.no, .how = {.as = store::ReplayAs::as_new}}));
     }},
    {"Release",
     [](InboxNode& node, const Leased&) {
       EXPECT_TRUE(node.driver().queue->release_holder({.kind = Holder::Kind::push, .limit = 10}));
     }},
    {"MoveMessages",
     [](InboxNode& node, const Leased&) {
       ASSERT_TRUE(
           node.driver().queue->enqueue(MessageId{{4}}, {.destination = "m", .payload = "p"}));
       EXPECT_TRUE(node.driver().queue->move_messages(std::vector{EventNo(1000)}));
     }},
};

class FencesTest : public FenceTest, public testing::WithParamInterface<Draws> {};

TEST_P(FencesTest, ASequenceThatMovedBackwardsIsRaisedBeforeAFenceIsDrawn) {
  ASSERT_GT(before_, 1'000'000) << "the sequence starts at the clock";
  witness_.text(kFailOver);
  GetParam().draw(node_, leased_.front());
  EXPECT_GT(last(), before_);
}

INSTANTIATE_TEST_SUITE_P(By, FencesTest, testing::ValuesIn(kDraws),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_F(FenceTest, ALaterLeaseHasALargerFenceAndAnOldFenceIsStale) {
  const std::vector<Leased> old = node_.lease(1);
  ASSERT_EQ(old.size(), 1U);
  witness_.text(kFailOver);
  EXPECT_EQ(node_.settle(old, std::vector<Disposition>{RetryIn{}}),
            std::vector{store::Settled::ok});
  for (const Leased& each : node_.lease(10)) EXPECT_GT(each.fence, old.front().fence);
  EXPECT_EQ(node_.ack(old), std::vector{store::Settled::stale});
}

TEST_F(FenceTest, ANewConnectionRaisesTheSequences) {
  witness_.text(kFailOver);
  const InboxNode other(database_.url(), 2);
  EXPECT_GT(last(), before_);
  EXPECT_GT(last("message_no_seq"), 1'000'000);
}

TEST_F(FenceTest, ARestoredTableIsRecognizedOnTheSameServer) {
  witness_.text("SELECT setval('hapax.fence', 1000)");
  witness_.text("UPDATE hapax.epoch SET noted = 1");
  node_.lease(1);
  EXPECT_GT(last(), before_);
}

TEST_F(FenceTest, ASequenceAheadOfTheClockStays) {
  constexpr std::int64_t kAhead = 1LL << 60;
  witness_.text(kFailOver);
  witness_.text("SELECT setval('hapax.fence', " + std::to_string(kAhead) + ")");
  node_.lease(1);
  EXPECT_GT(last(), kAhead);
}

TEST_F(FenceTest, NothingIsWrittenOnTheSameServer) {
  const std::string note = witness_.text("SELECT xmin FROM hapax.epoch");
  node_.admit(std::vector<Post>{{"new"}});
  const InboxNode other(database_.url(), 2);
  EXPECT_EQ(witness_.text("SELECT xmin FROM hapax.epoch"), note);
}

// A caller's transaction may stay open for long or roll back, so it does not raise the sequences.
TEST_F(FenceTest, ACallersTransactionFailsAsBusyAndTheNextOneRaisesTheSequences) {
  const PgHandle connection = database_.connect();
  PostgresSession session = PostgresSession::attach(connection.get()).value();
  witness_.text(kFailOver);
  {
    PostgresTransaction transaction = session.begin().value();
    const Result<Enqueued> refused = outbox(transaction).enqueue({.destination = "m"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::store_busy) << refused.error().to_string();
    EXPECT_EQ(refused.error().outcome(), Outcome::did_not_happen);
  }
  EXPECT_EQ(last("message_no_seq"), 1000);
  PostgresTransaction transaction = session.begin().value();
  EXPECT_TRUE(outbox(transaction).enqueue({.destination = "m"}));
  EXPECT_TRUE(transaction.commit());
  EXPECT_GT(std::stoll(witness_.text("SELECT max(no) FROM hapax.message")), 1'000'000);
}

TEST_F(FenceTest, ALaterErrorInTheTransactionDoesNotHideThatTheSequencesAreBehind) {
  const PgHandle connection = database_.connect();
  PostgresSession session = PostgresSession::attach(connection.get()).value();
  witness_.text(kFailOver);
  {
    PostgresTransaction transaction = session.begin().value();
    PQclear(PQexec(connection.get(), "SAVEPOINT mine"));
    ASSERT_FALSE(outbox(transaction).enqueue({.destination = "m"}));
    PQclear(PQexec(connection.get(), "ROLLBACK TO mine; SET LOCAL ROLE pg_monitor"));
    const Result<Enqueued> forbidden = outbox(transaction).enqueue({.destination = "m"});
    ASSERT_FALSE(forbidden);
    EXPECT_NE(forbidden.error().code(), Code::store_busy) << forbidden.error().to_string();
  }
  PostgresTransaction transaction = session.begin().value();
  EXPECT_TRUE(outbox(transaction).enqueue({.destination = "m"}));
}

TEST_F(FenceTest, AttachingRaisesTheSequences) {
  const PgHandle connection = database_.connect();
  witness_.text(kFailOver);
  PostgresSession session = PostgresSession::attach(connection.get()).value();
  PostgresTransaction transaction = session.begin().value();
  EXPECT_TRUE(outbox(transaction).enqueue({.destination = "m"}));
  EXPECT_TRUE(transaction.commit());
  EXPECT_GT(std::stoll(witness_.text("SELECT max(no) FROM hapax.message")), 1'000'000);
}

TEST_F(FenceTest, ASummaryReportsFencesAheadOfTheSequence) {
  EXPECT_TRUE(store::inspect(store::StoreUrl::parse(database_.url()).value(), {})
                  ->value()
                  .problems.empty());
  witness_.text("SELECT setval('hapax.fence', 1000)");
  const store::StoreSummary summary =
      store::inspect(store::StoreUrl::parse(database_.url()).value(), {})->value();
  ASSERT_EQ(summary.problems.size(), 1U);
  EXPECT_NE(summary.problems.front().find("fences moved backwards"), std::string::npos);
}

// Records every fence that is smaller, and every lane number that is not greater, than the one
// before it. The lane's row is locked when a member is added.
constexpr const char* kNoteSmaller =
    "CREATE TABLE public.smaller (what text, old bigint, new bigint);"
    "CREATE TABLE public.highest (destination int, lane bytea, seq bigint,"
    " PRIMARY KEY (destination, lane));"
    "CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$"
    " DECLARE seen bigint; BEGIN"
    " IF TG_OP = 'UPDATE' THEN"
    "  IF NEW.fence < OLD.fence THEN"
    "   INSERT INTO public.smaller VALUES ('fence', OLD.fence, NEW.fence); END IF;"
    " ELSIF NEW.lane IS NOT NULL THEN"
    "  SELECT h.seq INTO seen FROM public.highest AS h"
    "   WHERE h.destination = NEW.destination AND h.lane = NEW.lane;"
    "  IF seen >= NEW.lane_seq THEN"
    "   INSERT INTO public.smaller VALUES ('lane', seen, NEW.lane_seq); END IF;"
    "  INSERT INTO public.highest VALUES (NEW.destination, NEW.lane, NEW.lane_seq)"
    "   ON CONFLICT (destination, lane) DO UPDATE SET seq = excluded.seq;"
    " END IF; RETURN NULL; END $$;"
    "CREATE TRIGGER note AFTER INSERT OR UPDATE ON hapax.queue"
    " FOR EACH ROW EXECUTE FUNCTION public.note()";

// Admits, leases and settles until stopped. Requests rejected by a restarting server are dropped.
void work(InboxNode& node, EventNumbers& numbers, SourceNo source, int thread,
          const std::atomic<bool>& stop, std::atomic<int>& done) {
  SeededRandom random(static_cast<std::uint64_t>(thread));
  const store::Target target{node.destination()};
  for (int n = 0; !stop; ++n) {
    const std::string id = std::to_string(thread) + "-" + std::to_string(n);
    const std::string lane = "lane-" + std::to_string(n % 7);
    const store::Arrival arrival{.no = numbers.next(),
                                 .source = source,
                                 .key = id,
                                 .id = id,
                                 .order_key = n % 3 == 0 ? std::string_view() : lane,
                                 .body = "body",
                                 .targets = std::span(&target, 1)};
    const store::Admit admit{std::span(&arrival, 1)};
    if (node.driver().queue->write({.admit = std::span(&admit, 1)}).admit.front()) ++done;
    const store::LeaseRequest request{
        node.destination(), 4, std::chrono::seconds(30), {Holder::Kind::push, 1}};
    const store::Answers answers = node.driver().queue->write({.lease = std::span(&request, 1)});
    if (!answers.lease) continue;
    std::vector<store::Settlement> settlements;
    for (const Leased& each : answers.lease->front().deliveries) {
      const bool retry = random.below(3) == 0;
      settlements.push_back({{each.event.no, each.delivery},
                             each.fence,
                             retry ? Disposition(RetryIn{}) : Disposition(Ack{})});
    }
    static_cast<void>(node.driver().queue->write({.settle = settlements}).settle.has_value());
  }
}

TEST(FencesUnderLoadTest, FencesOnlyGrowOn64ConnectionsThroughRestarts) {
  constexpr int kNodes = 8;
  constexpr int kThreads = 64;
  PostgresServer server;
  std::vector<std::unique_ptr<InboxNode>> nodes;
  for (int i = 0; i < kNodes; ++i) {
    nodes.push_back(std::make_unique<InboxNode>(server.url(), i + 1));
  }
  ask(server.connect().get(), kNoteSmaller);
  const SourceNo source(
      nodes[0]->driver().catalog->number_of(store::NameKind::source, "src").value());
  std::vector<std::unique_ptr<Clock>> clocks;
  std::vector<std::unique_ptr<EventNumbers>> numbers;
  for (int i = 0; i < kThreads; ++i) {
    clocks.push_back(make_system_clock());
    numbers.push_back(std::make_unique<EventNumbers>(*clocks.back(), NodeNo(100 + i)));
  }
  std::atomic<bool> stop = false;
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      work(*nodes[static_cast<std::size_t>(i % kNodes)], *numbers[static_cast<std::size_t>(i)],
           source, i, stop, done);
    });
  }
  const int restarts = rounds(20);
  for (int i = 0; i < restarts; ++i) {
    const int before = done;
    EXPECT_TRUE(eventually([&] { return done > before + 200; })) << "no progress";
    ask(server.connect().get(), kFailOver);
    EXPECT_TRUE(eventually([&] { return done > before + 400; })) << "no progress";
    server.restart(i % 2 == 0 ? PostgresServer::Stop::fast : PostgresServer::Stop::immediate);
    ask(server.connect().get(), kFailOver);
  }
  stop = true;
  for (std::thread& each : threads) each.join();
  const PgHandle connection = server.connect();
  std::cout << "  admitted: " << done << "\n  restarts: " << restarts << "\n";
  EXPECT_EQ(ask(connection.get(),
                "SELECT count(*) || ' ' || coalesce(min(what), '') FROM public.smaller"),
            "0 ");
}

}  // namespace
}  // namespace hapax::test
