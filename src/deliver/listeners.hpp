// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "deliver/destination.hpp"
#include "store/contract.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::deliver {

inline constexpr std::size_t kMaxListeners = 16;
inline constexpr std::size_t kMaxListenerName = 64;
inline constexpr std::size_t kMaxFormerListeners = 100;     // names that are remembered
inline constexpr std::chrono::hours kDropListener{7 * 24};  // without contact
inline constexpr std::chrono::seconds kListenAgain{10};     // after a handler that failed

// A development machine: a pull destination that is not configured. Events that come from now on
// have a delivery for it, which never holds back retention. Kept in the store, so it misses nothing
// while it is away, until it has been away for too long.
struct Listener {
  std::string name;
  std::vector<std::string> sources = {};  // none: all
  WallTime seen{};                        // when it last registered
  bool ended = false;  // only its name is remembered: what still waits under it was for a listener

  bool subscribes_to(std::string_view source) const;
};

// Letters, digits, '.', '_' and '-'.
bool is_listener_name(std::string_view name);

// How it is leased from; `no` is left to be filled in.
Destination destination_of(const Listener& listener);

// The registrations in the store. Thread-safe; asks the store and blocks.
class Listeners {
 public:
  // `changed` is called after a registration that is new or other than before, so that this node
  // heeds it at once; others look from time to time.
  Listeners(store::Driver& driver, Clock& clock, Random& random, std::function<void()> changed);

  Result<std::vector<Listener>> all();  // by name; without those that were away for too long
  // Registers it, or says that it is still there. store_full: there are kMaxListeners others.
  Result<Listener> add(Listener listener);
  Result<bool> remove(std::string_view name);  // false: there was none
  // Whether something is left to be done under this name that was not for a listener: for a
  // destination that the configuration had once. Who has, or had, the name as a listener may have
  // it.
  Result<bool> is_taken(std::string_view name);
  // Forgets names that `configured` says of that they are destinations of the configuration now,
  // and the oldest of too many former ones.
  Result<void> drop_old(const std::function<bool(std::string_view)>& configured = {});

 private:
  bool is_expired(const Listener& listener) const;
  Result<void> make_room(std::string_view name);

  store::Driver& driver_;
  Clock& clock_;
  Random& random_;
  const std::function<void()> changed_;
};

}  // namespace hapax::deliver
