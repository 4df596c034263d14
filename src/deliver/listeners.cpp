// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/listeners.hpp"

#include "base/ascii.hpp"
#include "base/try.hpp"
#include "deliver/record_json.hpp"
#include "env/chance.hpp"

#include <algorithm>
#include <utility>

namespace hapax::deliver {

template <class Each>
void for_each_member(Listener& listener, const Each& each) {
  each("sources", listener.sources);
  each("seen", listener.seen);
  each("ended", listener.ended, kMayBeMissing);
}

namespace {

constexpr std::string_view kListenPrefix = "listen/";
constexpr int kListenTries = 20;

std::string record_name(std::string_view name) {
  return std::string(kListenPrefix) + std::string(name);
}

std::string name_in(const store::Record& record) {
  return record.name.substr(kListenPrefix.size());
}

// nullopt: unreadable. During an upgrade a node of a newer version may have written it.
std::optional<Listener> listener_in(const store::Record& record) {
  return record_from(record.content, Listener{.name = name_in(record)});
}

}  // namespace

bool Listener::subscribes_to(std::string_view source) const {
  return sources.empty() || std::find(sources.begin(), sources.end(), source) != sources.end();
}

bool is_listener_name(std::string_view name) {
  const auto allowed = [](char c) { return is_alphanumeric_or("._-", c); };
  return !name.empty() && name.size() <= kMaxListenerName &&
         std::all_of(name.begin(), name.end(), allowed);
}

Destination destination_of(const Listener& listener) {
  Destination made;
  made.name = listener.name;
  made.kind = Destination::Kind::pull;
  made.retry.assign(kDropListener / kListenAgain, kListenAgain);  // until it expires
  made.max_abandons = 0;  // no limit: a closed laptop is not a failure
  return made;
}

Listeners::Listeners(store::Catalog& catalog, store::Node& node, Clock& clock, Random& random,
                     std::function<void()> changed)
    : catalog_(catalog),
      node_(node),
      clock_(clock),
      random_(random),
      changed_(std::move(changed)) {}

bool Listeners::is_expired(const Listener& listener) const {
  return listener.ended || clock_.wall() - listener.seen >= kDropListener;
}

Result<std::vector<Listener>> Listeners::all() {
  HAPAX_TRY_ASSIGN(records, node_.records(kListenPrefix));
  std::vector<Listener> found;
  for (const store::Record& each : records) {
    std::optional<Listener> listener = listener_in(each);
    if (listener && !is_expired(*listener)) found.push_back(*std::move(listener));
  }
  return found;
}

Result<void> Listeners::make_room(std::string_view name) {
  HAPAX_TRY(drop_old());
  HAPAX_TRY_ASSIGN(listeners, all());
  const auto others = std::count_if(listeners.begin(), listeners.end(),
                                    [&](const Listener& each) { return each.name != name; });
  if (static_cast<std::size_t>(others) < kMaxListeners) return {};
  return Error(Code::store_full,
               std::to_string(others) +
                   " listeners are registered; end one with hapax listen --name NAME --end");
}

Result<Listener> Listeners::add(Listener listener) {
  HAPAX_TRY(make_room(listener.name));
  listener.seen = clock_.wall();
  for (int i = 0; i < kListenTries; ++i) {
    HAPAX_TRY_ASSIGN(before, node_.record(record_name(listener.name)));
    const std::optional<Listener> known = before ? listener_in(*before) : std::nullopt;
    const store::Record next{record_name(listener.name), random_number(random_),
                             record_text(listener)};
    HAPAX_TRY(check(next));
    HAPAX_TRY_ASSIGN(done, node_.put_record(next, before ? before->version : 0));
    if (!done) continue;
    if (!known || is_expired(*known) || known->sources != listener.sources) changed_();
    return listener;
  }
  return Error(Code::store_busy, "concurrent registration of this name; retry");
}

// Keeps the name, so that the listener can return to its pending deliveries.
Result<bool> Listeners::remove(std::string_view name) {
  for (int i = 0; i < kListenTries; ++i) {
    HAPAX_TRY_ASSIGN(before, node_.record(record_name(name)));
    if (!before) return false;
    Listener known =
        listener_in(*before).value_or(Listener{.name = std::string(name), .seen = clock_.wall()});
    if (is_expired(known)) return false;
    known.ended = true;
    const store::Record next{before->name, random_number(random_), record_text(known)};
    HAPAX_TRY_ASSIGN(done, node_.put_record(next, before->version));
    if (!done) continue;
    changed_();
    return true;
  }
  return Error(Code::store_busy, "concurrent registration of this name; retry");
}

Result<bool> Listeners::is_taken(std::string_view name) {
  HAPAX_TRY_ASSIGN(record, node_.record(record_name(name)));
  if (record) return false;
  HAPAX_TRY_ASSIGN(names, catalog_.names(store::NameKind::destination));
  const auto known = std::find_if(names.begin(), names.end(),
                                  [&](const store::KnownName& each) { return each.name == name; });
  if (known == names.end()) return false;
  HAPAX_TRY_ASSIGN(stats, catalog_.stats());
  return std::any_of(stats.destinations.begin(), stats.destinations.end(), [&](const auto& each) {
    return each.destination.value() == known->number && each.pending + each.leased + each.dead > 0;
  });
}

Result<std::vector<std::string>> Listeners::drop_old(
    const std::function<bool(std::string_view)>& configured) {
  HAPAX_TRY_ASSIGN(records, node_.records(kListenPrefix));
  std::vector<std::pair<WallTime, const store::Record*>> former;
  std::vector<std::string> unreadable;
  for (const store::Record& each : records) {
    const std::optional<Listener> listener = listener_in(each);
    if (configured && configured(name_in(each))) {
      HAPAX_TRY(node_.remove_record(each.name, each.version));
    } else if (!listener) {
      unreadable.push_back(name_in(each));
    } else if (is_expired(*listener)) {
      former.emplace_back(listener->seen, &each);
    }
  }
  std::sort(former.begin(), former.end());
  for (std::size_t left = former.size(); const auto& [seen, record] : former) {
    if (left-- <= kMaxFormerListeners) break;
    HAPAX_TRY(node_.remove_record(record->name, record->version));
  }
  return unreadable;
}

}  // namespace hapax::deliver
