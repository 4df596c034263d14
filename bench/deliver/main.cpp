// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/servers.hpp"

#include <hapax/env.hpp>

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

// Measures ingest and delivery of `hapax serve`, end to end, compared with nginx: the same
// requests, sent by the same wrk. nginx is also the destination.
namespace hapax::bench {

namespace {

struct Arguments {
  std::string hapax = "build/release/hapax";
  std::string dir = "build";
  std::string store;  // URL of another store; empty: SQLite in `dir`
  std::string only;
  int rounds = 3;
  double seconds = 3;
  int connections = 64;
  int concurrency = 64;
  std::size_t backlog = 1'000'000;
  std::size_t nodes_events = 50'000;
};

class Bench : public Servers {
 public:
  explicit Bench(const Arguments& arguments)
      : Servers(arguments.dir, arguments.hapax), arguments_(arguments) {}

  // `rate` 0: unlimited.
  RunningServer start(double rate, const std::string& store) {
    std::string work = "url = \"http://127.0.0.1:" + std::to_string(kNginxPort) +
                       "/sink\"\nconcurrency = " + std::to_string(arguments_.concurrency) + "\n";
    if (rate > 0) work += "rate = \"" + std::to_string(static_cast<long>(rate)) + "/s\"\n";
    return start_hapax(work, store);
  }
  Load run(const Process& server, int port, Ids ids, double seconds) {
    const Requests requests = make_requests(ids, seconds);
    const Load done = load(server, port, requests, arguments_.connections, seconds);
    if (done.bad > 0) throw std::runtime_error("some were refused; see hapax*.out.err");
    return done;
  }
  Load run(const RunningServer& hapax) {
    return run(*hapax.process, hapax.port, Ids::ordered, arguments_.seconds);
  }
  // POST /v1/destinations/work/...
  void tell(const RunningServer& hapax, const std::string& what) const {
    const std::string token = contents_of(file("admin.token"));
    const std::string command = "curl -sf -o /dev/null -X POST -H 'Authorization: Bearer " +
                                token.substr(0, token.find('\n')) +
                                "' http://127.0.0.1:" + hapax.admin_port +
                                "/v1/destinations/work/" + what;
    if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot " + what + " work");
  }

  double now() const { return 1e-6 * static_cast<double>(clock_->since_boot().count()); }
  const Arguments& arguments() const { return arguments_; }

 private:
  Arguments arguments_;
  std::unique_ptr<Clock> clock_ = make_system_clock();
};

double count_of(const RunningServer& hapax, const std::string& outcome) {
  return hapax.metric(R"(hapax_attempts_total\{destination="work",outcome=")" + outcome +
                      R"("\} ([\d.e+]+))");
}

double completed(const std::vector<RunningServer>& nodes) {
  double sum = 0;
  for (const RunningServer& each : nodes) sum += count_of(each, "completed");
  return sum;
}

// Waits until `wanted` deliveries are completed. Throws if there is no progress for 30 seconds.
void wait_for(const std::vector<RunningServer>& nodes, double wanted, const Bench& bench) {
  constexpr double kStandstill = 30;
  double last = -1;
  double since = bench.now();
  for (double have = completed(nodes); have < wanted; have = completed(nodes)) {
    if (have > last) {
      last = have;
      since = bench.now();
    }
    if (bench.now() - since > kStandstill) throw std::runtime_error("deliveries stand still");
    usleep(10'000);
  }
}

void end_to_end(Bench& bench, Process& nginx) {
  std::vector<RunningServer> nodes;
  nodes.push_back(bench.start(0, bench.arguments().store));
  std::vector<double> ratios;
  double accepted = 0;
  for (int round = 0; round < bench.arguments().rounds; ++round) {
    const Load theirs =
        bench.run(nginx, Bench::kNginxPort, Ids::ordered, bench.arguments().seconds);
    const Load ours = bench.run(nodes.front());
    accepted += ours.requests;
    const double drained = bench.now();
    wait_for(nodes, accepted, bench);
    const double rest = bench.now() - drained;
    const double rate = ours.requests / (ours.seconds + rest);
    ratios.push_back(rate / theirs.rate);
    std::printf("end to end  %7.0f/s  (accepted at %7.0f/s, then %.1f s)  nginx %7.0f/s  %.2f\n",
                rate, ours.rate, rest, theirs.rate, ratios.back());
    std::fflush(stdout);
  }
  std::printf("end to end  %.2f of nginx (asked 0.20, budget 0.30)  batch %.0f  %.0f MiB\n",
              median(ratios), nodes.front().batch_size(),
              resident_mib(nodes.front().process->pid()));
  if (count_of(nodes.front(), "retried") > 0) std::printf("end to end  some were retried\n");
}

// Measures how a backlog that drains slowly affects ingest.
void backlog(Bench& bench) {
  double alone = 0;
  {
    const RunningServer idle = bench.start_hapax("kind = \"pull\"\n", "sqlite:alone.db");
    alone = bench.run(idle).rate;
  }
  std::vector<RunningServer> nodes;
  nodes.push_back(bench.start(alone / 4, ""));
  double accepted = 0;
  bench.tell(nodes.front(), "pause");
  while (accepted < static_cast<double>(bench.arguments().backlog)) {
    accepted += bench.run(nodes.front()).requests;
  }
  bench.tell(nodes.front(), "resume");
  std::vector<double> ratios;
  for (int round = 0; round < bench.arguments().rounds; ++round) {
    const double before = completed(nodes);
    const double start = bench.now();
    const Load beside = bench.run(nodes.front());
    accepted += beside.requests;
    // The time includes the generation of the requests, during which the backlog drains as well.
    const double drained = (completed(nodes) - before) / (bench.now() - start);
    const RunningServer idle =
        bench.start_hapax("kind = \"pull\"\n", "sqlite:alone" + std::to_string(round) + ".db");
    bench.tell(nodes.front(), "pause");
    const Load without = bench.run(idle);
    bench.tell(nodes.front(), "resume");
    ratios.push_back(beside.rate / without.rate);
    std::printf("backlog     %8.0f wait  in %7.0f/s  out %6.0f/s  alone %7.0f/s  %.2f\n",
                accepted - completed(nodes), beside.rate, drained, without.rate, ratios.back());
    std::fflush(stdout);
  }
  std::printf("backlog     %.2f of the rate without one (asked 0.67)  %.0f MiB\n", median(ratios),
              resident_mib(nodes.front().process->pid()));
}

// The throughput of `count` nodes that drain the same backlog on one PostgreSQL.
double drain(Bench& bench, int count) {
  std::vector<RunningServer> nodes;
  for (int i = 0; i < count; ++i) nodes.push_back(bench.start(0, bench.arguments().store));
  bench.tell(nodes.front(), "pause");
  double accepted = 0;
  while (accepted < static_cast<double>(bench.arguments().nodes_events)) {
    accepted += bench.run(nodes.front()).requests;
  }
  const double before = completed(nodes);
  const double start = bench.now();
  bench.tell(nodes.front(), "resume");
  wait_for(nodes, accepted, bench);
  return (accepted - before) / (bench.now() - start);
}

void nodes(Bench& bench) {
  if (bench.arguments().store.compare(0, 8, "postgres") != 0) return;
  const double one = drain(bench, 1);
  const double two = drain(bench, 2);
  std::printf("nodes       one %7.0f/s  two %7.0f/s  %.2f\n", one, two, two / one);
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Measures what hapax serve accepts and delivers, beside nginx.");
  app.add_option("--hapax", arguments.hapax, "The binary")->capture_default_str();
  app.add_option("--dir", arguments.dir, "Where the store is made")->capture_default_str();
  app.add_option("--store", arguments.store, "A store of your own, such as postgres://...");
  app.add_option("--only", arguments.only, "end-to-end, backlog or nodes");
  app.add_option("--rounds", arguments.rounds)->capture_default_str();
  app.add_option("--seconds", arguments.seconds, "Of each side in a round")->capture_default_str();
  app.add_option("--connections", arguments.connections)->capture_default_str();
  app.add_option("--concurrency", arguments.concurrency)->capture_default_str();
  app.add_option("--backlog", arguments.backlog, "Events")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  Bench bench(arguments);
  const auto nginx = bench.start_nginx();
  const auto wants = [&](std::string_view name) {
    return arguments.only.empty() || arguments.only == name;
  };
  if (wants("end-to-end")) end_to_end(bench, *nginx);
  if (wants("backlog") && arguments.store.empty()) backlog(bench);
  if (wants("nodes")) nodes(bench);
  return 0;
}

}  // namespace

}  // namespace hapax::bench

int main(int argc, char** argv) {
  try {
    return hapax::bench::run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "bench/deliver: " << failure.what() << '\n';
    return 1;
  }
}
