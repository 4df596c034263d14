// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "maintenance/reject_writer.hpp"

#include "gateway/source_of.hpp"
#include "maintenance/faulty_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <set>

// Steps of the writer on a manual clock, without the thread unless it is under test.
namespace hapax::maintenance {
namespace {

using gateway::KeptReject;
using gateway::RejectQueue;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Fault = store::fault::Fault;
using testing::HasSubstr;

constexpr const char* kAddress = "192.0.2.1";
constexpr std::size_t kMiB = std::size_t{1024} * 1024;

// A store that does not support rejects.
class NoRejects final : public store::Rejects {
 public:
  Result<std::size_t> add_rejects(const store::RejectBatch&) override { return never(); }
  Result<store::RejectPage> rejects(const store::RejectQuery&) override { return never(); }
  Result<std::vector<store::RejectCounts>> reject_counts() override { return never(); }
  Result<std::optional<store::StoredReject>> reject(RejectNo) override { return never(); }
  Result<bool> remove_reject(RejectNo) override { return never(); }
  Result<void> remove_rejects(std::span<const RejectNo>) override { return never(); }

 private:
  static Error never() { return Error(Code::misconfigured, "this store takes no rejects"); }
};

class RejectWriterTest : public testing::Test {
 protected:
  RejectWriterTest() { numbers_.assign(NodeNo(1), BootTime::max()); }

  // Adds `number` rejects; the detail of each is its number.
  void refuse(int number, const std::string& address = kAddress) {
    refuse_of(source_, number, address);
  }
  void refuse_of(const gateway::Source& source, int number, const std::string& address = kAddress) {
    for (int i = 0; i < number; ++i) add(source, {.detail = std::to_string(refused_)}, address);
  }
  void refuse(KeptReject reject) { add(source_, std::move(reject), kAddress); }
  void add(const gateway::Source& source, KeptReject reject, const std::string& address) {
    ASSERT_TRUE(queue_.reserve(source, address, reject.size()));
    reject.source = source.no;
    reject.source_name = source.name;
    reject.reason = Reason::signature_invalid;
    reject.address = address;
    queue_.add(std::move(reject));
    ++refused_;
  }

  void write_all() {
    do {
      store_.calls();
      writer_.step();
    } while (!store_.calls().empty());
  }

  std::size_t kept() { return counts().kept; }
  store::RejectCounts counts() {
    const auto all = store_.without_faults().rejects->reject_counts().value();
    return all.empty() ? store::RejectCounts() : all.front();
  }
  // The details of all rejects in the store, including repeated ones.
  std::multiset<std::string> texts() {
    std::multiset<std::string> found;
    store::RejectQuery query{.oldest_first = true, .limit = store::kMaxPage};
    for (;;) {
      const store::RejectPage page = store_.without_faults().rejects->rejects(query).value();
      for (const store::RejectRow& each : page.rejects) found.insert(each.detail);
      if (!page.next) return found;
      query.after = *page.next;
    }
  }
  // The details of all rejects that refuse() has added.
  std::multiset<std::string> all_texts() const {
    std::multiset<std::string> all;
    for (int i = 0; i < refused_; ++i) all.insert(std::to_string(i));
    return all;
  }

  std::string metric(const std::string& series) const {
    const std::string text = "\n" + metrics_.text();
    const std::size_t line = text.find("\n" + series + " ");
    if (line == std::string::npos) return "";
    const std::size_t value = line + series.size() + 2;
    return text.substr(value, text.find('\n', value) - value);
  }

  RejectWriter::Deps deps(store::Rejects& rejects) {
    return {rejects, numbers_, queue_, metrics_, store_.clock, log_};
  }

  test::FaultyStore store_;
  test::LinesLog log_;
  gateway::NodeNumbers numbers_{store_.clock};
  RejectQueue queue_{store_.clock};
  gateway::Metrics metrics_;
  RejectWriter writer_{deps(store_.driver())};
  const gateway::Source source_ = test::source_of("demo", 1);
  const gateway::Source other_source_ = test::source_of("other", 2);
  int refused_ = 0;
};

TEST_F(RejectWriterTest, ARejectIsWrittenUnchanged) {
  const WallTime received = store_.clock.wall();
  refuse({.tenant = "acme",
          .detail = "why",
          .received = received,
          .method = "POST",
          .target = "/in/demo",
          .headers = "headers",
          .proof = "proof",
          .body = "body"});
  writer_.step();
  const store::RejectPage page = store_.without_faults().rejects->rejects({}).value();
  ASSERT_EQ(page.rejects.size(), 1);
  const store::RejectRow& row = page.rejects.front();
  EXPECT_EQ(row.source, source_.no);
  EXPECT_EQ(row.tenant, "acme");
  EXPECT_EQ(row.reason, "signature-invalid");
  EXPECT_EQ(row.detail, "why");
  EXPECT_EQ(row.received, received);
  EXPECT_EQ(row.address, kAddress);
  const auto whole = store_.without_faults().rejects->reject(row.no).value();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->method, "POST");
  EXPECT_EQ(whole->url, "/in/demo");
  EXPECT_EQ(whole->headers, "headers");
  EXPECT_EQ(whole->proof, "proof");
  EXPECT_EQ(whole->body, "body");
}

TEST_F(RejectWriterTest, TooLongTextsAreTruncated) {
  refuse({.detail = std::string(2 * store::kMaxRejectText, 'x')});
  writer_.step();
  EXPECT_THAT(texts(), testing::ElementsAre(std::string(store::kMaxRejectText, 'x')));
}

TEST_F(RejectWriterTest, ABatchIsBoundedByCount) {
  refuse(300);
  writer_.step();
  EXPECT_EQ(kept(), RejectWriter::kAtOnce);
  writer_.step();
  EXPECT_EQ(texts(), all_texts());
}

TEST_F(RejectWriterTest, ABatchIsBoundedByBytes) {
  for (int i = 0; i < 3; ++i) {
    refuse({.detail = std::to_string(i), .body = std::string(3 * kMiB, 'x')});
  }
  writer_.step();
  EXPECT_EQ(kept(), 2) << "the second reject exceeds the 4 MiB of a batch";
  writer_.step();
  EXPECT_EQ(texts(), all_texts());
}

TEST_F(RejectWriterTest, WithoutRejectsTheStoreIsNotCalled) {
  EXPECT_EQ(writer_.step(), RejectWriter::kLook);
  EXPECT_TRUE(store_.calls().empty());
}

TEST_F(RejectWriterTest, ThePauseIsAMultipleOfTheWriteTime) {
  milliseconds takes{0};
  store_.during("add_rejects", [&] { store_.clock.advance(takes); });
  const auto pause_after = [&](milliseconds taken, int number) {
    takes = taken;
    refuse(number);
    return writer_.step();
  };
  EXPECT_EQ(pause_after(milliseconds(50), 1), milliseconds(450));
  EXPECT_EQ(pause_after(milliseconds(3000), 1), RejectWriter::kLongestRest);
  EXPECT_EQ(pause_after(milliseconds(0), 1), RejectWriter::kLook);
  EXPECT_EQ(pause_after(milliseconds(0), 300), milliseconds(1)) << "more rejects are queued";
  EXPECT_EQ(pause_after(milliseconds(2), 1000), milliseconds(18));
  store_.fail("add_rejects");
  EXPECT_EQ(pause_after(milliseconds(0), 0), RejectWriter::kLook) << "no immediate retry";
}

class RejectWriterFault : public RejectWriterTest, public testing::WithParamInterface<Fault> {};

TEST_P(RejectWriterFault, AFailedWriteIsRetriedWithoutLossOrRepetition) {
  refuse(300);
  store_.fail("add_rejects", GetParam());
  writer_.step();
  writer_.step();
  refuse(10);
  store_.recover();
  for (int i = 0; i < 3; ++i) writer_.step();
  EXPECT_EQ(texts(), all_texts());
  EXPECT_EQ(metric(R"(hapax_rejects_total{reason="signature-invalid",source="demo"})"), "310");
}

INSTANTIATE_TEST_SUITE_P(Each, RejectWriterFault,
                         testing::Values(Fault::fail, Fault::lose_answer, Fault::lose_request),
                         [](const auto& each) {
                           if (each.param == Fault::fail) return "Fail";
                           return each.param == Fault::lose_answer ? "LoseAnswer" : "LoseRequest";
                         });

TEST_F(RejectWriterTest, WithoutANodeNumberRejectsStayQueued) {
  numbers_.assign(NodeNo(1), store_.clock.since_boot());
  refuse(3);
  writer_.step();
  EXPECT_EQ(kept(), 0);
  EXPECT_TRUE(store_.calls().empty());
  numbers_.assign(NodeNo(1), BootTime::max());
  writer_.step();
  EXPECT_EQ(texts(), all_texts());
}

TEST_F(RejectWriterTest, AnInvalidRejectDoesNotBlockOthers) {
  refuse({.detail = "before"});
  refuse({.detail = "bad", .method = std::string(2 * store::kMaxRejectText, 'x')});
  refuse({.detail = "after"});
  writer_.step();
  EXPECT_EQ(texts(), (std::multiset<std::string>{"before", "after"}));
  EXPECT_EQ(log_.of("rejects not stored").size(), 1);
}

TEST_F(RejectWriterTest, RejectsThatTheStoreCannotStoreAreDropped) {
  NoRejects without;
  RejectWriter writer(deps(without));
  refuse(1);
  writer.step();
  EXPECT_EQ(log_.of("rejects not stored").size(), 1);
  store_.clock.advance(seconds(2));
  writer.step();
  EXPECT_EQ(log_.of("rejects not stored").size(), 1) << "the write is not retried";
}

TEST_F(RejectWriterTest, DroppedRejectsAreCounted) {
  while (queue_.reserve(source_, kAddress, 0)) {
    queue_.add({.source = source_.no, .source_name = source_.name});
  }
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(queue_.reserve(source_, kAddress, 0));
  store_.fail("add_rejects");
  writer_.step();
  EXPECT_EQ(counts().dropped, 0);
  store_.recover();
  writer_.step();
  writer_.step();
  EXPECT_EQ(counts().dropped, 5);
  EXPECT_EQ(metric(R"(hapax_rejects_dropped_total{source="demo"})"), "5");
}

TEST_F(RejectWriterTest, EvictedRejectsAreCounted) {
  refuse(static_cast<int>(store::kMaxRejects));
  refuse(7, "198.51.100.1");
  write_all();
  EXPECT_EQ(counts().evicted, 7);
  EXPECT_EQ(metric("hapax_rejects_evicted_total"), "7");
}

TEST_F(RejectWriterTest, AnUnavailableStoreIsLoggedOncePerSecond) {
  store_.fail("add_rejects");
  refuse(1);
  for (int i = 0; i < 10; ++i) writer_.step();
  ASSERT_EQ(log_.of("rejects not stored").size(), 1);
  EXPECT_THAT(log_.of("rejects not stored").front()["error"], HasSubstr("store-unavailable"));
  store_.clock.advance(seconds(1));
  writer_.step();
  ASSERT_EQ(log_.of("rejects not stored").size(), 2);
  EXPECT_EQ(log_.of("rejects not stored").back()["more"], "9");
}

TEST_F(RejectWriterTest, TheThreadWrites) {
  std::latch written(1);
  store_.during("add_rejects", [&] { written.count_down(); });
  refuse(1);
  writer_.start();
  written.wait();
  writer_.stop();
  EXPECT_EQ(texts(), all_texts());
}

TEST_F(RejectWriterTest, StopWritesTheQueue) {
  writer_.start();
  refuse(5 * static_cast<int>(RejectWriter::kAtOnce));
  writer_.stop();
  EXPECT_EQ(texts(), all_texts());
}

TEST_F(RejectWriterTest, StopWritesAFullQueue) {
  constexpr std::size_t kLarge = RejectQueue::kMaxBytes / 2 / RejectWriter::kBytesAtOnce - 1;
  for (std::size_t i = 0; i < kLarge; ++i) {
    refuse(
        {.detail = std::to_string(refused_), .body = std::string(RejectWriter::kBytesAtOnce, 'x')});
  }
  refuse_of(other_source_, static_cast<int>(store::kMaxRejects));
  refuse(static_cast<int>(store::kMaxRejects / 2));
  writer_.start();
  writer_.stop();
  EXPECT_EQ(texts(), all_texts());
}

TEST_F(RejectWriterTest, StopRetriesAnEarlierFailedWrite) {
  store_.fail("add_rejects");
  std::latch tried(1);
  std::latch may_fail(1);
  store_.during("add_rejects", [&] {
    tried.count_down();
    may_fail.wait();
  });
  refuse(1);
  writer_.start();
  tried.wait();
  refuse(1);
  store_.during("add_rejects", [&] { store_.recover(); });
  may_fail.count_down();
  writer_.stop();
  EXPECT_EQ(texts(), all_texts());
}

TEST_F(RejectWriterTest, StopTimesOutWhenTheStoreIsUnavailable) {
  store_.fail("add_rejects");
  refuse(5 * static_cast<int>(RejectWriter::kAtOnce));
  writer_.start();
  writer_.stop();
  EXPECT_EQ(kept(), 0);
  EXPECT_LT(store_.calls().size(), 1000) << "stop() does not retry";
}

}  // namespace
}  // namespace hapax::maintenance
