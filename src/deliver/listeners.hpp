// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "deliver/destination.hpp"
#include "store/catalog.hpp"
#include "store/node.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::deliver {

inline constexpr std::size_t kMaxListeners = 16;
inline constexpr std::size_t kMaxListenerName = 64;
inline constexpr std::size_t kMaxFormerListeners = 100;     // whose names are kept
inline constexpr std::chrono::hours kDropListener{7 * 24};  // without contact
inline constexpr std::chrono::seconds kListenAgain{10};     // retry delay after a failure

// A development machine: a pull destination that registers itself instead of being configured. New
// events get a delivery for it, which never delays retention. The registration is stored, so
// deliveries accumulate while the machine is offline, for up to kDropListener.
struct Listener {
  std::string name;
  std::vector<std::string> sources = {};  // none: all
  WallTime seen{};                        // when it last registered
  bool ended = false;  // only the name is kept: its pending deliveries belong to a listener

  bool subscribes_to(std::string_view source) const;
};

// Letters, digits, '.', '_' and '-'.
bool is_listener_name(std::string_view name);

// The destination that its deliveries are leased from. `no` is not set.
Destination destination_of(const Listener& listener);

// The registrations in the store. Thread-safe. Calls block on the store.
class Listeners {
 public:
  // `changed` is called after a listener was added, changed or removed, so that this node applies
  // it at once. Other nodes poll.
  Listeners(store::Catalog& catalog, store::Node& node, Clock& clock, Random& random,
            std::function<void()> changed);

  Result<std::vector<Listener>> all();  // by name, without expired and unreadable ones
  // Adds or renews a registration. store_full: kMaxListeners others are registered.
  Result<Listener> add(Listener listener);
  Result<bool> remove(std::string_view name);  // false: not registered
  // Whether pending, leased or dead deliveries under this name belong to a destination that was
  // once configured. The name of a present or former listener is not taken.
  Result<bool> is_taken(std::string_view name);
  // Deletes registrations with the name of a configured destination, and the oldest former ones
  // above kMaxFormerListeners. Returns the names of the registrations that this version cannot
  // read: they are kept, because a newer version may use them.
  Result<std::vector<std::string>> drop_old(
      const std::function<bool(std::string_view)>& configured = {});

 private:
  bool is_expired(const Listener& listener) const;
  Result<void> make_room(std::string_view name);

  store::Catalog& catalog_;
  store::Node& node_;
  Clock& clock_;
  Random& random_;
  const std::function<void()> changed_;
};

}  // namespace hapax::deliver
