// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/deliveries.hpp"

#include "async/run_on.hpp"
#include "base/try.hpp"
#include "deliver/http_transport.hpp"
#include "deliver/push_dispatcher.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <set>

namespace hapax::daemon {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kMaxReleases = 1'000'000;  // steps

}  // namespace

// Source names by number. Another node may have a source that this one does not configure: then the
// names are read from the store, once.
class Deliveries::KnownSources final : public deliver::SourceNames {
 public:
  KnownSources(asio::thread_pool& pool, store::Catalog& catalog) : pool_(pool), catalog_(catalog) {}

  void learn(std::vector<store::KnownName> names) {
    const std::lock_guard lock(mutex_);
    for (store::KnownName& each : names) by_number_[each.number] = std::move(each.name);
  }

  Task<Result<std::string>> of(SourceNo source) override {
    std::optional<std::string> known = find(source);
    if (!known) {
      const std::function<Names()> work = [this] {
        return catalog_.names(store::NameKind::source);
      };
      Names names = co_await run_on(pool_, work);
      if (!names) co_return names.error();
      learn(*std::move(names));
      known = find(source);
    }
    if (!known) co_return Error(Code::invalid_argument, "unknown source in the store");
    co_return *std::move(known);
  }

 private:
  using Names = Result<std::vector<store::KnownName>>;

  std::optional<std::string> find(SourceNo source) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_number_.find(source.value());
    return found == by_number_.end() ? std::nullopt : std::optional(found->second);
  }

  asio::thread_pool& pool_;
  store::Catalog& catalog_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::string> by_number_;
};

// The resources of the dispatchers on one I/O thread. Only that thread uses it once it runs.
struct Deliveries::Station {
  std::size_t thread;
  Executor executor;
  std::unique_ptr<TimerFactory> timers;
  std::unique_ptr<deliver::HttpTransport> transport;
  std::size_t dispatchers = 0;  // running
  bool stopping = false;

  // Responses that are still being read would delay the end of the thread.
  void close_if_done() const {
    if (stopping && dispatchers == 0) transport->abort_all();
  }
};

struct Deliveries::Running {
  std::shared_ptr<const deliver::Destination> destination;
  std::shared_ptr<deliver::PushDispatcher> dispatcher;
  Station* station = nullptr;
  gateway::DestinationMetrics* counts = nullptr;
};

Deliveries::Deliveries(const PartDeps& deps)
    : deps_(deps), names_(std::make_unique<KnownSources>(deps.pool, deps.catalog)) {}

Deliveries::~Deliveries() = default;

Result<void> Deliveries::begin(bool alone) {
  HAPAX_TRY_ASSIGN(names, deps_.catalog.names(store::NameKind::source));
  names_->learn(std::move(names));
  HAPAX_TRY_ASSIGN(tls, http::ClientTls::make());
  for (std::size_t i = 0; i < deps_.server.threads(); ++i) {
    const Executor executor = deps_.server.executor(i);
    const deliver::HttpTransport::Deps transport{executor, deps_.clock, *names_, tls};
    auto station =
        std::make_unique<Station>(Station{i, executor, make_timer_factory(executor, deps_.clock),
                                          std::make_unique<deliver::HttpTransport>(transport)});
    stations_.push_back(std::move(station));
  }
  for (std::size_t step = 0; alone && step < kMaxReleases; ++step) {
    HAPAX_TRY_ASSIGN(released, deps_.queue.release_holder({.kind = Holder::Kind::push}));
    if (released.done) break;
  }
  return {};
}

void Deliveries::serve(const std::vector<deliver::Destination>& destinations) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  std::set<std::string_view> wanted;
  for (const deliver::Destination& each : destinations) {
    if (each.kind != deliver::Destination::Kind::http) continue;
    wanted.insert(each.name);
    const auto found = running_.find(each.name);
    if (found == running_.end()) {
      start(each);
    } else if (*found->second.destination != each) {
      Running& running = found->second;
      running.destination = std::make_shared<const deliver::Destination>(each);
      deps_.server.post(
          running.station->thread,
          [dispatcher = running.dispatcher, to = running.destination] { dispatcher->change(to); });
    }
  }
  const BootTime now = deps_.clock.since_boot();
  std::erase_if(leaving_, [](const Running& each) { return each.dispatcher.use_count() == 1; });
  for (auto each = running_.begin(); each != running_.end();) {
    Running& running = each->second;
    if (wanted.contains(each->first)) {
      ++each;
      continue;
    }
    const BootTime until = now + running.destination->timeout;
    deps_.server.post(running.station->thread,
                      [dispatcher = running.dispatcher, until] { dispatcher->stop(until); });
    leaving_.push_back(std::move(running));
    each = running_.erase(each);
  }
}

void Deliveries::start(const deliver::Destination& destination) {
  Station& station = *stations_[next_++ % stations_.size()];
  gateway::DestinationMetrics& counts = deps_.metrics.of_destination(destination.name);
  const deliver::PushDispatcher::Deps deps{
      station.executor,
      deps_.async_store,
      *station.transport,
      *station.timers,
      deps_.notifier,
      deps_.clock,
      deps_.random,
      deps_.log,
      [this] { return deps_.numbers.node().value_or(NodeNo()).value(); },
      [&counts](const deliver::Attempted& each) { counts.attempted(each.outcome, each.took); }};
  Running running{std::make_shared<const deliver::Destination>(destination), nullptr, &station,
                  &counts};
  running.dispatcher = std::make_shared<deliver::PushDispatcher>(deps, running.destination);
  deps_.server.post(station.thread, [&station, dispatcher = running.dispatcher] {
    ++station.dispatchers;
    asio::co_spawn(station.executor, dispatcher->run(), [&station](const std::exception_ptr&) {
      --station.dispatchers;
      station.close_if_done();
    });
  });
  running_.emplace(destination.name, std::move(running));
}

void Deliveries::stop(BootTime until) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(stopped_, true)) return;
  const auto stop_it = [&](const Running& each) {
    deps_.server.post(each.station->thread,
                      [dispatcher = each.dispatcher, until] { dispatcher->stop(until); });
  };
  for (const auto& [name, each] : running_) stop_it(each);
  for (const Running& each : leaving_) stop_it(each);
  for (const auto& each : stations_) {
    deps_.server.post(each->thread, [station = each.get()] {
      station->stopping = true;
      station->close_if_done();
    });
  }
}

void Deliveries::every_second() {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  for (const auto& [name, each] : running_) {
    each.counts->under_way.Set(static_cast<double>(each.dispatcher->under_way()));
    each.counts->breaker.Set(static_cast<double>(each.dispatcher->breaker()));
  }
  for (const auto& each : stations_) {
    deps_.server.post(each->thread,
                      [transport = each->transport.get()] { transport->close_idle(); });
  }
}

std::optional<admin::DestinationStatus> Deliveries::status(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(name);
  if (found == running_.end()) return std::nullopt;
  const deliver::PushDispatcher& dispatcher = *found->second.dispatcher;
  return admin::DestinationStatus{std::string(deliver::name(dispatcher.breaker())),
                                  dispatcher.under_way()};
}

}  // namespace hapax::daemon
