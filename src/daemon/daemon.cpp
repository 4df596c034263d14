// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/daemon.hpp"

#include <hapax/version.hpp>

#include "admin/endpoint.hpp"
#include "async/group_commit_queue.hpp"
#include "base/json_text.hpp"
#include "base/try.hpp"
#include "daemon/deliveries.hpp"
#include "daemon/files.hpp"
#include "daemon/limits.hpp"
#include "daemon/listening.hpp"
#include "daemon/serving.hpp"
#include "deliver/replays.hpp"
#include "gateway/endpoint.hpp"
#include "gateway/readmit.hpp"
#include "http/server.hpp"
#include "maintenance/maintenance.hpp"
#include "maintenance/reject_writer.hpp"
#include "model/ids.hpp"
#include "store/open.hpp"

#include <unistd.h>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <mutex>
#include <thread>

namespace hapax::daemon {

namespace {

constexpr std::chrono::seconds kGrace{10};
constexpr std::size_t kMaxThreads = 64;
constexpr std::size_t kAdminThreads = 2;  // for blocking store calls of the admin API

std::size_t io_threads() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
}

// Verification of requests, which anyone can send, uses at most half of the processors.
std::size_t verifying_threads() {
  return std::max<std::size_t>(1, io_threads() / 2);
}

// SQLite has one writer. PostgreSQL commits concurrently.
std::size_t store_threads(const store::StoreUrl& url) {
  return url.kind == store::StoreUrl::Kind::postgres ? 4 : 1;
}

GroupCommitQueue::Limits queue_limits(const Config& config) {
  GroupCommitQueue::Limits limits{.threads = store_threads(config.store_url)};
  limits.max_wait = config.store_timeout.value_or(limits.max_wait);
  return limits;
}

OpenOptions store_options(const Config& config) {
  OpenOptions options;
  options.needs = {Capability::dedup, Capability::inbox};
  options.connections = store_threads(config.store_url) + 2;  // for commits and for reads
  options.timeout = config.store_timeout.value_or(options.timeout);
  options.busy_timeout = config.store_timeout.value_or(options.busy_timeout);
  return options;
}

std::string address(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

// A value published to other threads as an immutable snapshot. Thread-safe.
template <class T>
class Snapshot {
 public:
  void publish(std::shared_ptr<const T> next) {
    const std::lock_guard lock(mutex_);
    current_ = std::move(next);
  }
  std::shared_ptr<const T> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> current_;
};

store::StoreSecret make_secret(Random& random) {
  store::StoreSecret made{};
  random.fill(made);
  return made;
}

}  // namespace

struct Daemon::Impl {
  Impl(Config given, Log& given_log, std::unique_ptr<store::Opened> opened)
      : config(std::move(given)),
        log(given_log),
        store(std::move(opened)),
        rejects(clock()),
        numbers(clock()),
        unclaimed(clock()),
        async_store(*store->driver.queue, clock(), queue_limits(config),
                    [this](const GroupCommitQueue::BatchStats& batch) { note(batch); }),
        maintenance({*store->driver.claims, *store->driver.queue, *store->driver.node, numbers,
                     duplicates, clock(), log},
                    make_token(), [this] { every_second(); }),
        replays({*store->driver.queue, *store->driver.catalog, *store->driver.node, clock(),
                 store->world.random, notifier, log,
                 config.store_url.kind == store::StoreUrl::Kind::sqlite}),
        listeners(*store->driver.catalog, *store->driver.node, clock(), store->world.random,
                  [this] { static_cast<void>(refresh_listeners()); }),
        listening(listeners, *store->driver.catalog, clock(), log),
        reject_writer({*store->driver.rejects, numbers, rejects, metrics, clock(), log}),
        pool(kAdminThreads),
        verifying(verifying_threads()),
        server(clock(), io_threads()),
        deliveries({server, *store->driver.queue, *store->driver.catalog, async_store, notifier,
                    numbers, metrics, pool, clock(), store->world.random, log}) {}

  Clock& clock() { return store->world.clock; }
  Result<void> begin();
  Result<void> load_handshakes();
  Result<void> listen();
  Result<void> listen_for_admin();
  Result<void> refresh_listeners();
  void note(const GroupCommitQueue::BatchStats& batch);
  void every_second();
  void set_gauges();
  void report_claim_faults();
  void budget_descriptors();
  void log_restart_required(const Config& next);
  void publish_access(const Config& from);

  Config config;
  Log& log;
  std::optional<FileLock> lock;  // outlives the store's handles
  std::unique_ptr<store::Opened> store;
  gateway::Metrics metrics;
  gateway::DuplicateCounts duplicates;
  gateway::RejectQueue rejects;
  gateway::NodeNumbers numbers;
  gateway::UnclaimedRate unclaimed;
  DeliveryNotifier notifier;
  std::optional<gateway::Handshakes> handshakes;
  admin::ServerState state;
  GroupCommitQueue async_store;
  maintenance::Maintenance maintenance;
  deliver::Replays replays;
  deliver::Listeners listeners;
  std::mutex change;  // serializes reload() and refresh_listeners()
  Listening listening;
  maintenance::RejectWriter reject_writer;
  store::StoreSecret secret{};
  std::optional<gateway::Readmission> readmission;
  std::shared_ptr<const gateway::Sources> sources;
  std::vector<gateway::Endpoint*> endpoints;      // one per I/O thread, owned by the server
  std::vector<admin::Endpoint*> admin_endpoints;  // the same
  deliver::LeaseCache lease_cache;
  deliver::Polls polls;
  deliver::LeaseRoom lease_room;
  std::optional<admin::Pulling> pulling;
  std::string admin_token;
  Snapshot<admin::Access> access;
  Snapshot<admin::ConfigView> config_view;
  Snapshot<gateway::Sources> current_sources;  // for threads other than I/O threads
  DescriptorBudget budget;
  std::size_t rejected_connections = 0;  // already counted and logged
  boost::asio::thread_pool pool;         // outlives the server, to which it posts results
  boost::asio::thread_pool verifying;    // the same
  http::Server server;
  Deliveries deliveries;
  std::uint16_t port = 0;
  std::uint16_t admin_port = 0;
};

void Daemon::Impl::note(const GroupCommitQueue::BatchStats& batch) {
  metrics.batch(batch);
  if (state.store_reachable == batch.failed) state.store_reachable = !batch.failed;
}

void Daemon::Impl::every_second() {
  set_gauges();
  report_claim_faults();
  deliveries.every_second();
  static_cast<void>(refresh_listeners());  // retried every second
  listening.drop_old(config_view.current());
  // A failed store must be probed here: clients that honor /readyz send nothing.
  if (!state.store_reachable && maintenance.take_node()) state.store_reachable = true;
}

// Reloads the listeners of all nodes.
Result<void> Daemon::Impl::refresh_listeners() {
  const std::lock_guard guard(change);
  HAPAX_TRY_ASSIGN(changed, listening.refresh());
  if (changed) config_view.publish(listening.with_listeners(*config_view.current(), *sources));
  return {};
}

void Daemon::Impl::set_gauges() {
  metrics.queue_depth().Set(static_cast<double>(async_store.waiting()));
  metrics.connections().Set(static_cast<double>(server.connections()));
  const std::size_t more = server.rejected() - rejected_connections;
  if (more == 0) return;
  rejected_connections += more;
  metrics.connections_rejected().Increment(static_cast<double>(more));
  log.line(Level::warning, "connections rejected", {{"count", std::to_string(more)}});
}

// Errors of the store are ignored here: all other users of the store report them.
void Daemon::Impl::report_claim_faults() {
  const Result<store::ClaimFaults> faults = store->driver.catalog->claim_faults();
  if (!faults || !metrics.claim_faults(*faults)) return;
  log.line(Level::error, "event ids claimed twice",
           {{"count", std::to_string(faults->doubled)},
            {"event", to_text(faults->event)},
            {"other", to_text(faults->other)}});
}

void Daemon::Impl::budget_descriptors() {
  budget =
      descriptor_budget(config.limits, raise_descriptor_limit(), outgoing_of(config.destinations));
  const std::size_t most = budget.listen.limiter.connections;
  if (most >= config.limits.connections) return;
  log.line(Level::warning,
           "connections limited below max_connections; raise the limit on open files",
           {{"connections", std::to_string(most)}});
}

Result<void> Daemon::Impl::begin() {
  budget_descriptors();
  HAPAX_TRY(maintenance.take_node());
  HAPAX_TRY(load_handshakes());
  HAPAX_TRY_ASSIGN(made, sources_of(config, nullptr, *store->driver.catalog, *handshakes, metrics));
  sources = std::move(made);
  current_sources.publish(sources);
  HAPAX_TRY_ASSIGN(view, config_view_of(config, *sources, *store->driver.catalog));
  handshakes->use(*sources);
  config_view.publish(std::move(view));
  HAPAX_TRY_ASSIGN(own, store->driver.node->secret(make_secret(store->world.random)));
  secret = own;
  readmission.emplace(gateway::Readmission::Deps{
      *store->driver.catalog, *store->driver.rejects, async_store, numbers, duplicates, unclaimed,
      notifier, metrics, clock(), secret, [this] { return current_sources.current(); }});
  maintenance.set_retention(periods_of(*sources));
  HAPAX_TRY(deliveries.begin(lock.has_value()));
  HAPAX_TRY(refresh_listeners());
  HAPAX_TRY(listen());
  return listen_for_admin();
}

Result<void> Daemon::Impl::load_handshakes() {
  const std::string path = config.data_dir + "/handshake.secrets";
  HAPAX_TRY_ASSIGN(known, read_provisioned_secrets(path));
  handshakes.emplace(clock(), std::move(known),
                     [path](std::span<const gateway::ProvisionedSecret> secrets) {
                       return write_provisioned_secrets(path, secrets);
                     });
  return {};
}

Result<void> Daemon::Impl::listen() {
  const gateway::EndpointDeps deps{async_store, numbers, duplicates, unclaimed, notifier, metrics,
                                   log,         clock(), rejects,    secret,    verifying};
  const http::MakeHandler make_public = [&](std::size_t) {
    auto endpoint = std::make_unique<gateway::Endpoint>(deps, sources);
    endpoints.push_back(endpoint.get());
    return endpoint;
  };
  const http::Address where{config.listen.host, config.listen.port};
  HAPAX_TRY_ASSIGN(opened, server.listen(where, config.listen.tls, budget.listen, make_public));
  port = opened;
  return {};
}

Result<void> Daemon::Impl::listen_for_admin() {
  std::string token = config.admin_token.value_or("");
  if (token.empty()) {
    HAPAX_TRY_ASSIGN(found, token_in(config.data_dir + "/admin.token", store->world.random));
    token = std::move(found);
  }
  admin_token = std::move(token);
  publish_access(config);
  pulling.emplace(admin::Pulling{async_store, notifier, lease_cache, polls, lease_room, [this] {
                                   const std::optional<NodeNo> node = numbers.node();
                                   return node ? node->value() : 0;
                                 }});
  const admin::EndpointDeps deps{
      store->driver,
      metrics,
      log,
      clock(),
      store->world.random,
      pool,
      state,
      [this] { return access.current(); },
      *handshakes,
      [this] { return config_view.current(); },
      &*readmission,
      [this](const std::string& name) { return deliveries.status(name); },
      &notifier,
      &*pulling,
      &replays,
      &listeners};
  const http::MakeHandler make_admin = [&](std::size_t) {
    auto endpoint = std::make_unique<admin::Endpoint>(deps);
    admin_endpoints.push_back(endpoint.get());
    return endpoint;
  };
  const http::Address where{config.admin.host, config.admin.port};
  HAPAX_TRY_ASSIGN(opened, server.listen(where, config.admin.tls, budget.admin, make_admin));
  admin_port = opened;
  return {};
}

// Keeps the admin token from the start: a change needs a restart.
void Daemon::Impl::publish_access(const Config& from) {
  access.publish(std::make_shared<const admin::Access>(admin_token, from.admin_names, from.tokens));
}

void Daemon::Impl::log_restart_required(const Config& next) {
  const auto check = [&](bool changed, std::string_view what) {
    if (changed) log.line(Level::warning, "restart required", {{"setting", what}});
  };
  check(next.listen != config.listen, "server.listen");
  check(next.admin != config.admin, "server.admin");
  check(next.limits != config.limits, "connections and time-outs of [server]");
  check(next.store_url != config.store_url, "store.url");
  check(next.store_timeout != config.store_timeout, "store.timeout");
  check(next.data_dir != config.data_dir, "server.data_dir");
  check(next.admin_token != config.admin_token, "admin.token");
}

Daemon::Daemon(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Daemon::~Daemon() {
  stop();
}

Result<std::unique_ptr<Daemon>> Daemon::make(Config config, Log& log) {
  std::optional<FileLock> lock;
  if (config.store_url.kind == store::StoreUrl::Kind::sqlite) {
    HAPAX_TRY_ASSIGN(taken, FileLock::take(config.store_url.path));
    lock.emplace(std::move(taken));
  }
  HAPAX_TRY_ASSIGN(opened, store::open_store(config.store_url, store_options(config)));
  auto impl = std::make_unique<Impl>(std::move(config), log, std::move(opened));
  if (lock) impl->lock.emplace(std::move(*lock));
  HAPAX_TRY(impl->begin());
  return std::unique_ptr<Daemon>(new Daemon(std::move(impl)));
}

void Daemon::start() {
  impl_->maintenance.start();
  impl_->reject_writer.start();
  impl_->deliveries.serve(impl_->config.destinations);
  impl_->replays.start();
  impl_->server.start();
}

std::string Daemon::ready_line() const {
  const Impl& impl = *impl_;
  std::string line = R"({"ready":true,"listen":)";
  append_json(line, address(impl.config.listen.host, impl.port));
  line += R"(,"admin":)";
  append_json(line, address(impl.config.admin.host, impl.admin_port));
  line += R"(,"listen_port":)" + std::to_string(impl.port);
  line += R"(,"admin_port":)" + std::to_string(impl.admin_port);
  line += R"(,"pid":)" + std::to_string(getpid()) + R"(,"version":)";
  append_json(line, version());
  return line + "}";
}

Result<void> Daemon::reload(Config config) {
  Impl& impl = *impl_;
  const std::lock_guard lock(impl.change);
  store::Catalog& catalog = *impl.store->driver.catalog;
  HAPAX_TRY_ASSIGN(made,
                   sources_of(config, impl.sources.get(), catalog, *impl.handshakes, impl.metrics));
  HAPAX_TRY_ASSIGN(view, config_view_of(config, *made, catalog));
  // Nothing below can fail.
  impl.handshakes->use(*made);
  impl.log_restart_required(config);
  impl.publish_access(config);
  impl.sources = made;
  impl.current_sources.publish(made);
  impl.config_view.publish(impl.listening.with_listeners(*view, *made));
  impl.maintenance.set_retention(periods_of(*made));
  for (std::size_t i = 0; i < impl.endpoints.size(); ++i) {
    gateway::Endpoint* const endpoint = impl.endpoints[i];
    impl.server.post(i, [endpoint, made] { endpoint->serve(made); });
  }
  impl.deliveries.serve(config.destinations);
  impl.log.line(Level::info, "reloaded", {});
  return {};
}

void Daemon::stop() {
  if (!impl_) return;
  impl_->state.stopping = true;
  for (std::size_t i = 0; i < impl_->admin_endpoints.size(); ++i) {
    admin::Endpoint* const endpoint = impl_->admin_endpoints[i];
    impl_->server.post(i, [endpoint] { endpoint->stop(); });
  }
  impl_->replays.stop();
  impl_->deliveries.stop(impl_->clock().since_boot() + kGrace);
  impl_->server.stop(kGrace);   // its threads end once no delivery is in flight
  impl_->reject_writer.stop();  // before the node number is released
  impl_->async_store.finish();  // before the event loops are destroyed
  impl_->maintenance.stop();
}

}  // namespace hapax::daemon
