// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/verify.hpp>

#include "env/token_bucket.hpp"
#include "gateway/source.hpp"
#include "store/rejects.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hapax::gateway {

// A rejected request to be written to the store, with its secrets redacted.
struct KeptReject {
  SourceNo source{};
  std::string source_name = {};
  std::string tenant = {};  // declared; one named by the request is not trusted
  Reason reason = Reason::none;
  std::string detail = {};
  WallTime received{};
  std::string method = {};
  std::string target = {};  // of the request line
  std::string headers = {};
  std::string proof = {};
  std::string body = {};
  std::string address = {};
  std::optional<RejectNo> no = {};  // once assigned

  std::size_t size() const { return target.size() + headers.size() + body.size() + detail.size(); }
};

// The network that a rejected request is charged to and that is stored as its sender: an IPv4
// address, or the /64 network of an IPv6 address ("2001:db8:1:2::/64"), because a sender can use
// any address in it.
std::string network_of(std::string_view address);

// Bounded queue of rejects not yet written to the store: a flood of forged requests exhausts
// neither memory nor the store. The rate per source is limited too. A source may use at most as
// much as is free, so a flood of one leaves room for the others (declared tenants share their
// source's part). Excess is counted and dropped; unwritten rejects are lost at a crash. Never
// blocks. Thread-safe.
class RejectQueue {
 public:
  static constexpr std::size_t kMaxRejects = 32'768;
  static constexpr std::size_t kMaxBytes = std::size_t{32} * 1024 * 1024;
  // Per source: burst and rate, in units of one reject and of each 4 KiB of it. A single address
  // can fill the ring of the store (three quarters of the burst are as many rejects); the last
  // quarter is for addresses that have used at most a quarter.
  static constexpr std::size_t kUnitBytes = 4096;
  static constexpr double kBurst = store::kMaxRejects * 4.0 / 3.0 + 1;
  static constexpr double kPerSecond = 250;
  static constexpr std::size_t kMaxAddresses = 256;  // tracked separately; others share one entry

  explicit RejectQueue(Clock& clock) : clock_(clock) {}

  // Reserves room for a reject of about `bytes`, which must then be passed to add(). Returns false
  // if there is none, and counts the reject as dropped. Called before anything is copied.
  bool reserve(const Source& source, std::string_view address, std::size_t bytes);
  void add(KeptReject reject);

  struct Dropped {
    std::string source_name;
    std::uint64_t count = 0;
  };
  struct Batch {
    std::vector<KeptReject> rejects;      // in order of arrival
    std::map<SourceNo, Dropped> dropped;  // since the last batch
    bool more = false;
  };
  Batch take(std::size_t most, std::size_t most_bytes);

 private:
  struct Usage {
    std::size_t rejects = 0;  // including reserved ones
    std::size_t bytes = 0;
  };
  struct Allowance {
    std::string source_name;
    Usage usage;
    TokenBucket bucket{kBurst};
    std::map<std::string, double, std::less<>> taken;  // units by address, since it was full
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
