// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/reason.hpp>

#include "env/token_bucket.hpp"
#include "gateway/source.hpp"
#include "store/inbox.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hapax::gateway {

// A refused request on its way to the store, with nothing secret in it.
struct KeptReject {
  SourceNo source{};
  std::string source_name = {};
  std::string tenant = {};  // declared; one that the request names is not to be believed
  Reason reason = Reason::none;
  std::string detail = {};
  WallTime received{};
  std::string method = {};
  std::string target = {};  // of the request line
  std::string headers = {};
  std::string proof = {};
  std::string body = {};
  std::string address = {};
  std::optional<RejectNo> no = {};  // when it has been given one

  std::size_t size() const { return target.size() + headers.size() + body.size() + detail.size(); }
};

// Whom a refused request is charged to, and what is kept of its sender: an IPv4 address; of IPv6
// the network of 64 bits ("2001:db8:1:2::/64"), in which one sender has as many addresses as it
// likes.
std::string network_of(std::string_view address);

// Bounded queue of rejects not yet written to the store: a flood of forged requests grows neither
// it nor the store. It is also limited per second and source. A source may use at most the free
// space, so a flood of one leaves room for the others (declared tenants share their source's part).
// Excess is counted and dropped; unwritten rejects are lost at a crash. Never blocks. Thread-safe.
class RejectQueue {
 public:
  static constexpr std::size_t kMaxRejects = 32'768;
  static constexpr std::size_t kMaxBytes = std::size_t{32} * 1024 * 1024;
  // Of one source, in units of one reject and of 4 KiB of it: at once, and for each second. One
  // sender alone fills the ring of the store (three quarters of this are as many); the last quarter
  // is for addresses that have not taken as much.
  static constexpr std::size_t kUnitBytes = 4096;
  static constexpr double kBurst = store::kMaxRejects * 4.0 / 3.0 + 1;
  static constexpr double kPerSecond = 250;
  static constexpr std::size_t kMaxAddresses = 256;  // told apart; the others are one

  explicit RejectQueue(Clock& clock) : clock_(clock) {}

  // Whether there is room for a reject of about `bytes`, which must then be passed to add();
  // otherwise counts it as dropped. Called before anything is copied.
  bool reserve(const Source& source, std::string_view address, std::size_t bytes);
  void add(KeptReject reject);

  struct Dropped {
    std::string source_name;
    std::uint64_t count = 0;
  };
  struct Batch {
    std::vector<KeptReject> rejects;      // in the order they came
    std::map<SourceNo, Dropped> dropped;  // since the last batch
    bool more = false;
  };
  Batch take(std::size_t most, std::size_t most_bytes);

 private:
  struct Usage {
    std::size_t rejects = 0;  // also those that are reserved
    std::size_t bytes = 0;
  };
  struct Allowance {
    std::string source_name;
    Usage usage;
    TokenBucket bucket{kBurst};
    std::map<std::string, double, std::less<>> taken;  // units by address, since it was whole
    std::uint64_t dropped = 0;
  };

  bool has_room(const Allowance& allowance) const;
  bool allow(Allowance& allowance, std::string_view address, std::size_t bytes);

  Clock& clock_;
  std::mutex mutex_;
  std::map<SourceNo, Allowance> allowances_;
  std::deque<KeptReject> rejects_;
  Usage usage_;  // of all sources
};

}  // namespace hapax::gateway
