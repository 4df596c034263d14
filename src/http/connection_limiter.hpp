// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace hapax::http {

// Limits of one listener, for all clients together and per address. An IPv6 address counts as its
// /64, which is what one customer gets.
struct ConnectionLimits {
  std::size_t connections = 16'384;
  std::size_t connections_per_address = 12'288;
  std::size_t bytes = 256 * 1024 * 1024;  // of requests larger than 16 KiB
  std::size_t bytes_per_address = 192 * 1024 * 1024;
};

// Limits connections, and the request memory they hold while a request is read and answered.
// Thread-safe; called once per connection, and again only for large requests.
class ConnectionLimiter {
 public:
  class Permit;

  explicit ConnectionLimiter(const ConnectionLimits& limits) : limits_(limits) {}
  ConnectionLimiter(const ConnectionLimiter&) = delete;
  ConnectionLimiter& operator=(const ConnectionLimiter&) = delete;

  // `address` is a result of key_of_address(). Returns nullopt if the limit of all connections or
  // of this address is reached.
  std::optional<Permit> try_acquire(std::uint64_t address);

  std::size_t active() const { return active_.load(std::memory_order_relaxed); }
  std::size_t rejected() const { return rejected_.load(std::memory_order_relaxed); }

 private:
  struct Caller {
    std::size_t connections = 0;  // guarded by mutex_
    std::atomic<std::size_t> bytes = 0;
  };
  using Callers = std::unordered_map<std::uint64_t, Caller>;

  const ConnectionLimits limits_;
  std::atomic<std::size_t> active_ = 0;
  std::atomic<std::size_t> rejected_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
  std::mutex mutex_;
  Callers callers_;
};

// One open connection. Used by one thread at a time.
class ConnectionLimiter::Permit {
 public:
  Permit(Permit&& other) noexcept;
  Permit& operator=(Permit&&) = delete;
  ~Permit();

  // Raises the reservation to `bytes` in total. Returns false, and changes nothing, if over a
  // limit.
  bool try_reserve(std::size_t bytes);
  void release_bytes();

 private:
  friend class ConnectionLimiter;
  Permit(ConnectionLimiter& limiter, Callers::value_type& caller)
      : limiter_(&limiter), caller_(&caller) {}

  ConnectionLimiter* limiter_;  // null if moved from
  Callers::value_type* caller_;
  std::size_t reserved_ = 0;
};

// The key of an address of 4 or 16 bytes in network order.
std::uint64_t key_of_address(std::string_view bytes);

}  // namespace hapax::http
