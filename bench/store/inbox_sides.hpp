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

// The sides of a comparison of the inbox: hapax, and hand-written statements.
namespace hapax::bench {

inline constexpr std::int64_t kSource = 1;
inline constexpr std::int64_t kDestination = 1;

// A request with one event, as the gateway passes it to the store: an id of 36 characters, 240
// bytes of headers, 1 KiB of body.
struct Request {
  std::int64_t no = 0;
  std::string id;
  std::string order_key;
};

// Generates requests. The sequence depends only on the order.
class Requests {
 public:
  explicit Requests(IdOrder order) : ids_(order) {}

  // Skips that many requests.
  void skip(std::size_t count) { ids_.skip(count); }

  // `lanes` 0: none. Otherwise the requests are assigned to that many lanes in rotation.
  std::vector<Request> next(std::size_t count, std::size_t lanes = 0);

  static const std::string& headers();
  static const std::string& body();
  static const Digest& digest();

  // The days of all generated numbers, as in the partitions of PostgreSQL.
  using Days = std::array<std::int64_t, 2>;
  static Days days();

 private:
  static constexpr std::int64_t kFirst = std::int64_t{1} << 58;  // as many bits as in production

  Ids ids_;
  std::int64_t last_number_ = kFirst;
};

// The operations of both implementations. Each call is one transaction, except that turn() of hapax
// on PostgreSQL uses three.
class InboxWay {
 public:
  struct Held {
    std::int64_t event = 0;
    std::int64_t delivery = 0;
    std::int64_t fence = 0;
  };
  virtual ~InboxWay() = default;

  virtual std::size_t admit(std::span<const Request> requests) = 0;  // number of new ids
  virtual std::vector<Held> lease(std::size_t max) = 0;
  virtual void ack(std::span<const Held> leases) = 0;
  // Acknowledges earlier leases, admits requests and leases deliveries.
  virtual std::vector<Held> turn(std::span<const Held> acks, std::span<const Request> requests,
                                 std::size_t max) = 0;
};

std::unique_ptr<InboxWay> inbox_of_hapax(const std::string& path, const Undone& undone = {});
std::unique_ptr<InboxWay> inbox_by_hand(const std::string& path, const Undone& undone = {});
std::unique_ptr<InboxWay> postgres_inbox_of_hapax(const std::string& url);
std::unique_ptr<InboxWay> postgres_inbox_by_hand(const std::string& url);

// Admits new events, or (`again`) events admitted before the measurement. Skips the first `skip`
// ids.
std::unique_ptr<Side> admit_side(std::unique_ptr<InboxWay> way, IdOrder order, std::size_t batch,
                                 bool again, std::size_t skip = 0);
// Admits events of which 9 in 10 were admitted before the measurement.
std::unique_ptr<Side> mostly_again_side(std::unique_ptr<InboxWay> way, std::size_t batch);
// Leases and acknowledges deliveries admitted before the measurement.
std::unique_ptr<Side> delivery_side(std::unique_ptr<InboxWay> way, std::size_t batch);
// Admits, leases and acknowledges, in one transaction or in three.
enum class Sharing : std::uint8_t { one_transaction, three_transactions };
std::unique_ptr<Side> life_side(std::unique_ptr<InboxWay> way, std::size_t batch, Sharing sharing,
                                std::size_t lanes);

// An inbox with that many deliveries behind the head of a lane that waits for a retry.
std::unique_ptr<InboxWay> inbox_with_blocked(const std::string& path, std::size_t deliveries,
                                             const Undone& undone = {});

// Adds rejects to a store with the maximum number of rejects for each of `sources` sources.
std::unique_ptr<Side> reject_side(const std::string& path, std::size_t sources, std::size_t batch,
                                  const Undone& undone = {});
std::unique_ptr<InboxWay> postgres_inbox_with_blocked(const std::string& url,
                                                      std::size_t deliveries);

// Both implementations on one kind of store, each time with a new store.
struct InboxWays {
  std::string prefix;  // prefix of the case names
  std::function<std::unique_ptr<InboxWay>()> by_hand;
  std::function<std::unique_ptr<InboxWay>()> hapax;
  std::function<std::unique_ptr<InboxWay>(std::size_t)> hapax_with_blocked;
};
std::vector<Case> inbox_cases_of(const InboxWays& ways);

}  // namespace hapax::bench
