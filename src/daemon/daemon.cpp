// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/daemon.hpp"

#include <hapax/hapax.hpp>

#include "async/group_commit_queue.hpp"
#include "base/json_text.hpp"
#include "base/try.hpp"
#include "daemon/admin.hpp"
#include "daemon/delivery.hpp"
#include "daemon/files.hpp"
#include "daemon/ingest.hpp"
#include "daemon/limits.hpp"
#include "daemon/maintenance.hpp"
#include "daemon/serving.hpp"
#include "store/open.hpp"

#include <unistd.h>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
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

void log_restart_required(const Config& now, const Config& next, Log& log) {
  const auto check = [&](bool changed, std::string_view what) {
    if (changed) log.line(Level::warning, "restart required", {{"setting", what}});
  };
  check(next.listen != now.listen, "server.listen");
  check(next.admin != now.admin, "server.admin");
  check(next.limits != now.limits, "connections and time-outs of [server]");
  check(next.store_url != now.store_url, "store.url");
  check(next.store_timeout != now.store_timeout, "store.timeout");
  check(next.data_dir != now.data_dir, "server.data_dir");
  check(next.admin_token != now.admin_token, "admin.token");
}

DescriptorBudget budget_descriptors(const Config& config, Log& log) {
  const DescriptorBudget budget =
      descriptor_budget(config.limits, raise_descriptor_limit(), outgoing_of(config.destinations));
  const std::size_t most = budget.listen.limiter.connections;
  if (most < config.limits.connections) {
    log.line(Level::warning,
             "connections limited below max_connections; raise the limit on open files",
             {{"connections", std::to_string(most)}});
  }
  return budget;
}

}  // namespace

// What all parts share, then the parts. The pools outlive the server, to which they post results.
// The parts are destroyed before it: once its threads have ended, no request refers to them.
struct Daemon::Impl {
  Impl(Config given, Log& given_log, std::unique_ptr<store::Opened> opened)
      : config(std::move(given)),
        log(given_log),
        store(std::move(opened)),
        numbers(store->world.clock),
        async_store(*store->driver.queue, store->world.clock, queue_limits(config),
                    [this](const GroupCommitQueue::BatchStats& batch) { note(batch); }),
        pool(kAdminThreads),
        verifying(verifying_threads()),
        server(store->world.clock, io_threads()) {}

  Result<void> begin();
  void note(const GroupCommitQueue::BatchStats& batch);

  Config config;
  Log& log;
  std::optional<FileLock> lock;  // outlives the store's handles
  std::unique_ptr<store::Opened> store;
  gateway::Metrics metrics;
  gateway::NodeNumbers numbers;
  DeliveryNotifier notifier;
  admin::ServerState state;
  GroupCommitQueue async_store;
  boost::asio::thread_pool pool;
  boost::asio::thread_pool verifying;
  http::Server server;

  const PartDeps deps{.server = server,
                      .claims = *store->driver.claims,
                      .queue = *store->driver.queue,
                      .catalog = *store->driver.catalog,
                      .rejects = *store->driver.rejects,
                      .node = *store->driver.node,
                      .async_store = async_store,
                      .notifier = notifier,
                      .numbers = numbers,
                      .metrics = metrics,
                      .state = state,
                      .pool = pool,
                      .verifying = verifying,
                      .clock = store->world.clock,
                      .random = store->world.random,
                      .log = log};
  Ingest ingest{deps};
  Delivery delivery{deps, config.store_url.kind == store::StoreUrl::Kind::sqlite};
  Admin admin{deps, ingest, delivery};
  Maintenance maintenance{deps, ingest, delivery};
};

void Daemon::Impl::note(const GroupCommitQueue::BatchStats& batch) {
  metrics.batch(batch);
  if (state.store_reachable == batch.failed) state.store_reachable = !batch.failed;
}

Result<void> Daemon::Impl::begin() {
  const DescriptorBudget budget = budget_descriptors(config, log);
  HAPAX_TRY(maintenance.begin());
  HAPAX_TRY_ASSIGN(sources, ingest.begin(config));
  HAPAX_TRY_ASSIGN(view, config_view_of(config, *sources, deps.catalog));
  maintenance.apply(*sources);
  HAPAX_TRY(delivery.begin(view, sources));
  HAPAX_TRY(ingest.listen(config.listen, budget.listen));
  return admin.begin(config, budget.admin);
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
  impl_->delivery.start(impl_->config.destinations);
  impl_->server.start();
}

std::string Daemon::ready_line() const {
  const Impl& impl = *impl_;
  std::string line = R"({"ready":true,"listen":)";
  append_json(line, address(impl.config.listen.host, impl.ingest.port()));
  line += R"(,"admin":)";
  append_json(line, address(impl.config.admin.host, impl.admin.port()));
  line += R"(,"listen_port":)" + std::to_string(impl.ingest.port());
  line += R"(,"admin_port":)" + std::to_string(impl.admin.port());
  line += R"(,"pid":)" + std::to_string(getpid()) + R"(,"version":)";
  append_json(line, version());
  return line + "}";
}

Result<void> Daemon::reload(Config config) {
  Impl& impl = *impl_;
  HAPAX_TRY_ASSIGN(sources, impl.ingest.prepare(config));
  HAPAX_TRY_ASSIGN(view, config_view_of(config, *sources, impl.deps.catalog));
  // Nothing below can fail.
  log_restart_required(impl.config, config, impl.log);
  impl.admin.apply(config);
  impl.delivery.apply(*view, sources, config.destinations);
  impl.maintenance.apply(*sources);
  impl.ingest.apply(sources);
  impl.log.line(Level::info, "reloaded", {});
  return {};
}

void Daemon::stop() {
  if (!impl_) return;
  impl_->admin.stop();
  impl_->delivery.stop(impl_->deps.clock.since_boot() + kGrace);
  impl_->server.stop(kGrace);  // its threads end once no delivery is in flight
  impl_->maintenance.stop();
}

}  // namespace hapax::daemon
