// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sha256.hpp"
#include "bench/compare.hpp"
#include "bench/store/hand_written.hpp"
#include "bench/store/ids.hpp"
#include "bench/store/undone.hpp"

#include <hapax/env.hpp>
#include <hapax/store.hpp>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

// The sides of a comparison of the inbox: hapax's own, and the same by hand.
namespace hapax::bench {

inline constexpr std::int64_t kSource = 1;
inline constexpr std::int64_t kDestination = 1;

// A request with one event, as a gateway hands it over: an id of 36 characters, 240 bytes of
// headers, 1 KiB of body.
struct Request {
  std::int64_t no = 0;
  std::string id;
  std::string order_key;
};

// Makes requests; two of the same order make the same ones.
class Requests {
 public:
  explicit Requests(IdOrder order) : ids_(order) {}

  // Goes on as if that many had been made.
  void skip(std::size_t count) { ids_.skip(count); }

  // `lanes` of 0: none; otherwise they go to that many lanes in turn.
  std::vector<Request> next(std::size_t count, std::size_t lanes = 0);

  static const std::string& headers();
  static const std::string& body();
  static const Digest& digest();

  // The days of all numbers it makes, as PostgreSQL's partitions count them.
  using Days = std::array<std::int64_t, 2>;
  static Days days();

 private:
  static constexpr std::int64_t kFirst = std::int64_t{1} << 58;  // as many bits as in use

  Ids ids_;
  std::int64_t last_number_ = kFirst;
};

// What both ways of doing it can do. Each call is one transaction; for hapax on PostgreSQL a turn
// is three.
class InboxWay {
 public:
  struct Held {
    std::int64_t event = 0;
    std::int64_t delivery = 0;
    std::int64_t fence = 0;
  };
  virtual ~InboxWay() = default;

  virtual std::size_t admit(std::span<const Request> requests) = 0;  // how many were fresh
  virtual std::vector<Held> lease(std::size_t max) = 0;
  virtual void ack(std::span<const Held> leases) = 0;
  // All three at once: what was leased before is acknowledged, others are leased.
  virtual std::vector<Held> turn(std::span<const Held> acks, std::span<const Request> requests,
                                 std::size_t max) = 0;
};

std::unique_ptr<InboxWay> inbox_of_hapax(const std::string& path, const Undone& undone = {});
std::unique_ptr<InboxWay> inbox_by_hand(const std::string& path, const Undone& undone = {});
std::unique_ptr<InboxWay> postgres_inbox_of_hapax(const std::string& url);
std::unique_ptr<InboxWay> postgres_inbox_by_hand(const std::string& url);

// Admits what is new, or (again) what was admitted before the measurement. The first `skip` ids are
// left out.
std::unique_ptr<Side> admit_side(std::unique_ptr<InboxWay> way, IdOrder order, std::size_t batch,
                                 bool again, std::size_t skip = 0);
// Admits ids of which 9 in 10 were admitted before the measurement.
std::unique_ptr<Side> mostly_again_side(std::unique_ptr<InboxWay> way, std::size_t batch);
// Leases and acknowledges what was admitted before.
std::unique_ptr<Side> delivery_side(std::unique_ptr<InboxWay> way, std::size_t batch);
// Admits, leases and acknowledges, with one transaction for all three or with three.
enum class Sharing : std::uint8_t { one_transaction, three_transactions };
std::unique_ptr<Side> life_side(std::unique_ptr<InboxWay> way, std::size_t batch, Sharing sharing,
                                std::size_t lanes);

// With that many deliveries behind the head of a lane that waits for a retry.
std::unique_ptr<InboxWay> inbox_with_blocked(const std::string& path, std::size_t deliveries,
                                             const Undone& undone = {});

// Adds rejects to a store that has all it keeps of `sources` sources.
std::unique_ptr<Side> reject_side(const std::string& path, std::size_t sources, std::size_t batch,
                                  const Undone& undone = {});
std::unique_ptr<InboxWay> postgres_inbox_with_blocked(const std::string& url,
                                                      std::size_t deliveries);

// The ways on one kind of store, each time on a fresh one.
struct InboxWays {
  std::string prefix;  // of the names of its cases
  std::function<std::unique_ptr<InboxWay>()> by_hand;
  std::function<std::unique_ptr<InboxWay>()> hapax;
  std::function<std::unique_ptr<InboxWay>(std::size_t)> hapax_with_blocked;
};
std::vector<Case> inbox_cases_of(const InboxWays& ways);

}  // namespace hapax::bench
