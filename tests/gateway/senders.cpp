// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/senders.hpp"

#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <optional>

namespace hapax::test {

namespace {

constexpr std::chrono::minutes kGuard{10};

std::string body_of(const std::string& id) {
  return "{\"id\":\"" + id + "\",\"note\":\"" + std::string(200 + id.size() * 7 % 400, 'n') + "\"}";
}

}  // namespace

Senders::Senders(const Serve& serve, int count) : serve_(serve) {
  const auto size = static_cast<std::size_t>(count);
  counts_.refused_of.resize(size);
  counts_.acknowledged_of.resize(size);
  for (std::size_t i = 0; i < size; ++i) threads_.emplace_back([this, i] { run(i); });
}

Senders::~Senders() {
  stop();
}

void Senders::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (std::thread& each : threads_) {
    if (each.joinable()) each.join();
  }
}

Senders::Counts Senders::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

bool Senders::wait_until(const std::function<bool(const Counts&)>& holds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kGuard, [&] { return holds(counts_); });
}

bool Senders::wait_for_more(std::vector<std::size_t> Counts::*which, std::size_t more) {
  const std::vector<std::size_t> before = counts().*which;
  return wait_until([&](const Counts& now) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if ((now.*which)[i] < before[i] + more) return false;
    }
    return true;
  });
}

bool Senders::wait_for_acknowledgements(std::size_t more) {
  return wait_for_more(&Counts::acknowledged_of, more);
}

bool Senders::wait_for_refusals() {
  return wait_for_more(&Counts::refused_of, 1);
}

void Senders::run(std::size_t thread) {
  auto client = std::make_unique<RawClient>(serve_.port());
  bool stopping = false;
  for (int i = 0; !stopping; ++i) {
    const std::string id = "s" + std::to_string(thread) + "-" + std::to_string(i);
    // eventually() pauses before a retry, as a sender does.
    const auto is_acknowledged = [&] {
      if (!send_once(*client, thread, id)) client = std::make_unique<RawClient>(serve_.port());
      const std::lock_guard lock(mutex_);
      stopping = stopping_;
      return stopping || acknowledged_.count(id) != 0;
    };
    EXPECT_TRUE(eventually(is_acknowledged, 2 * kGuard)) << id;
  }
}

// Returns whether the connection stays open.
bool Senders::send_once(RawClient& client, std::size_t thread, const std::string& id) {
  const std::string body = body_of(id);
  {
    const std::lock_guard lock(mutex_);
    sent_.insert(id);
  }
  const HttpAnswer answer = serve_.post(client, id, body);
  if (answer.status == 503) {
    EXPECT_FALSE(answer.header("Retry-After").empty()) << answer.head;
    EXPECT_FALSE(answer.problem().empty()) << answer.body;
  } else if (answer.status != 0) {
    EXPECT_EQ(answer.status, 200) << answer.head << answer.body;
  }
  const std::lock_guard lock(mutex_);
  if (answer.status == 200) {
    ++counts_.acknowledged;
    ++counts_.acknowledged_of[thread];
    if (answer.body.find("\"duplicate\":true") != std::string::npos) ++counts_.again;
    acknowledged_[id] = body;
  } else {
    ++(answer.status == 0 ? counts_.broken : counts_.refused);
    if (answer.status != 0) ++counts_.refused_of[thread];
  }
  changed_.notify_all();
  return answer.status != 0 && answer.header("Connection") != "close";
}

void Senders::expect_all_in(StoreView& store) {
  const std::map<std::string, std::string> stored = store.bodies();
  for (const auto& [id, body] : acknowledged_) {
    const auto found = stored.find(id);
    ASSERT_NE(found, stored.end()) << id << " was acknowledged and is lost";
    EXPECT_EQ(found->second, body);
  }
  for (const auto& [id, body] : stored) EXPECT_EQ(sent_.count(id), 1U) << id;
  const Result<store::Stats> stats = store.driver().catalog->stats();
  ASSERT_TRUE(stats);
  ASSERT_EQ(stats->destinations.size(), 1U);
  EXPECT_EQ(stats->destinations[0].pending, stored.size()) << "one delivery per event";
  std::cout << "  " << counts_.acknowledged << " acknowledged (" << counts_.again
            << " as duplicates), " << stored.size() << " stored, " << counts_.refused
            << " responses 503, " << counts_.broken << " connections broken\n";
}

}  // namespace hapax::test
