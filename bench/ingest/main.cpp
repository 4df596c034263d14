// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/ingest/against.hpp"
#include "bench/servers.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>

// Measures ingest of `hapax serve` compared with nginx and `return 200`: the same requests, sent by
// the same wrk, alternately in every round. Prints a line for each case.
namespace hapax::bench {

namespace {

const std::string kForgersSecret = "whsec_Rk9SR0VERk9SR0VERk9SR0VERk9SR0VERk8=";

struct Arguments {
  std::string hapax = "build/release/hapax";
  std::string dir = "build";  // directory of the store, on the disk to measure
  std::string store;          // URL of another store; empty: SQLite in `dir`
  std::string only;
  int rounds = 5;
  double seconds = 3;
  int connections = 64;
  std::size_t soak = 0;              // events
  int attack = 0;                    // forged requests per second
  std::vector<std::string> against;  // binaries
  std::size_t remembered = 0;
  double warm_up = 0;
  bool fresh = false;
};

// Repeats the requests at a fixed rate on kForgers connections.
const char* const kFlood = R"(
function delay() return pause end
function request()
  at = at % count + 1
  return requests[at]
end
)";
constexpr int kForgers = 64;

class Bench : public Servers {
 public:
  explicit Bench(const Arguments& arguments)
      : Servers(arguments.dir, arguments.hapax), arguments_(arguments) {
    write_file(file("flood.lua"), kReadRequests + kFlood);
  }

  RunningServer start() { return start_hapax("kind = \"pull\"\n", arguments_.store); }
  Requests requests(Ids ids) { return make_requests(ids, arguments_.seconds); }
  Requests requests_for_hapax() { return make_requests(Ids::ordered, arguments_.seconds, false); }
  Load run(const Process& server, int port, const Requests& requests) {
    return load(server, port, requests, arguments_.connections, arguments_.seconds);
  }

  // Sends forged requests for the duration of run().
  std::unique_ptr<Process> flood(int port, const Requests& forged) {
    const int pause_ms = std::max(1, 1000 * kForgers / std::max(1, arguments_.attack));
    return std::make_unique<Process>(
        std::vector<std::string>{
            "wrk", "-t1", "-c" + std::to_string(kForgers),
            "-d" + std::to_string(static_cast<int>(arguments_.seconds) + 1) + "s", "-s",
            file("flood.lua"), "http://127.0.0.1:" + std::to_string(port), "--", forged.path,
            std::to_string(forged.size), std::to_string(pause_ms)},
        file("flood.out"));
  }
  Requests make_forged() {
    constexpr std::size_t kCount = 5000;
    return write_requests(file("forged"), kForgersSecret, Ids::random, kCount);
  }
  double forged_so_far() const {
    return number(found(contents_of(file("flood.out")), R"((\d+) requests in)"));
  }
  double disk_mib() const {
    namespace fs = std::filesystem;
    double bytes = 0;
    for (const char* each : {"hapax.db", "hapax.db-wal"}) {
      if (fs::exists(file(each))) bytes += static_cast<double>(fs::file_size(file(each)));
    }
    return bytes / 1048576.0;
  }

 private:
  Arguments arguments_;
};

double duplicates(const RunningServer& hapax) {
  return hapax.metric(R"(outcome="duplicate",source="demo"\} ([\d.e+]+))");
}

void compare(Bench& bench, const Arguments& arguments, const char* name, Ids ids, double budget) {
  if (name != arguments.only && !arguments.only.empty()) return;
  const auto nginx = bench.start_nginx();
  const RunningServer hapax = bench.start();
  std::vector<double> ratios;
  Load ours;
  Load theirs;
  for (int round = 0; round < arguments.rounds; ++round) {
    const Requests requests = bench.requests(ids);
    theirs = bench.run(*nginx, Bench::kNginxPort, requests);
    ours = bench.run(*hapax.process, hapax.port, requests);
    ratios.push_back(ours.rate / theirs.rate);
    if (ours.bad > 0) throw std::runtime_error("hapax refused some; see hapax.out.err");
  }
  if (ids != Ids::same && duplicates(hapax) > 0) {
    throw std::runtime_error("an id was sent twice: the requests ran out");
  }
  std::printf(
      "%-18s %6.2f  (%.2f to %.2f, budget %.2f)  hapax %7.0f/s  nginx %7.0f/s  p50 %s p99 %s"
      "  CPU %.1f us (nginx %.1f)  batch %.0f  %.0f MiB\n",
      name, median(ratios), *std::min_element(ratios.begin(), ratios.end()),
      *std::max_element(ratios.begin(), ratios.end()), budget, ours.rate, theirs.rate,
      ours.p50.c_str(), ours.p99.c_str(), ours.cpu_us, theirs.cpu_us, hapax.batch_size(),
      resident_mib(hapax.process->pid()));
  std::fflush(stdout);
}

// Memory must not grow with the number of events.
void soak(Bench& bench, const Arguments& arguments) {
  const RunningServer hapax = bench.start();
  std::size_t events = 0;
  while (events < arguments.soak) {
    const Load load = bench.run(*hapax.process, hapax.port, bench.requests_for_hapax());
    events += static_cast<std::size_t>(load.requests);
    std::printf("%9zu events  %7.0f/s  %.0f MiB\n", events, load.rate,
                resident_mib(hapax.process->pid()));
    std::fflush(stdout);
  }
}

// Measures the throughput of valid requests, alternately with and without forged requests.
void attack(Bench& bench, const Arguments& arguments) {
  const RunningServer hapax = bench.start();
  const Requests forged = bench.make_forged();
  std::vector<double> ratios;
  double sum = 0;
  for (int round = 0; round < arguments.rounds; ++round) {
    const Load alone = bench.run(*hapax.process, hapax.port, bench.requests_for_hapax());
    const Requests requests = bench.requests_for_hapax();
    const auto flood = bench.flood(hapax.port, forged);
    const Load beside = bench.run(*hapax.process, hapax.port, requests);
    flood->wait();
    if (alone.bad + beside.bad > 0) throw std::runtime_error("hapax refused true requests");
    sum += bench.forged_so_far();
    ratios.push_back(beside.rate / alone.rate);
    std::printf(
        "attack  alone %7.0f/s  beside %7.0f/s  %.2f  forged %8.0f  p99 %s and %s"
        "  %.0f MiB  disk %.0f MiB\n",
        alone.rate, beside.rate, ratios.back(), sum, alone.p99.c_str(), beside.p99.c_str(),
        resident_mib(hapax.process->pid()), bench.disk_mib());
    std::fflush(stdout);
  }
  std::printf("attack  %.2f (goal 0.80)  rejects kept %.0f  dropped %.0f  evicted %.0f\n",
              median(ratios), hapax.metric(R"(hapax_rejects_total\{[^}]*\} ([\d.e+]+))"),
              hapax.metric(R"(hapax_rejects_dropped_total\{[^}]*\} ([\d.e+]+))"),
              hapax.metric(R"(hapax_rejects_evicted_total ([\d.e+]+))"));
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Measures hapax serve beside nginx under the same requests.");
  app.add_option("--hapax", arguments.hapax, "The binary")->capture_default_str();
  app.add_option("--dir", arguments.dir, "Where the store is made")->capture_default_str();
  app.add_option("--store", arguments.store, "A store of your own, such as postgres://...");
  app.add_option("--only", arguments.only, "random, ordered or duplicates");
  app.add_option("--rounds", arguments.rounds)->capture_default_str();
  app.add_option("--seconds", arguments.seconds, "Of each side in a round")->capture_default_str();
  app.add_option("--connections", arguments.connections)->capture_default_str();
  app.add_option("--soak", arguments.soak, "Only this: memory over so many events");
  app.add_option("--attack", arguments.attack,
                 "Only this: true requests beside so many forged ones per second");
  app.add_option("--against", arguments.against,
                 "Only this: these binaries beside --hapax, in alternating rounds");
  app.add_option("--remembered", arguments.remembered, "Ids in each store before --against");
  app.add_option("--warm-up", arguments.warm_up, "Seconds of load before --against");
  app.add_flag("--fresh", arguments.fresh, "New stores for each round of --against");
  CLI11_PARSE(app, argc, argv);
  Bench bench(arguments);
  if (!arguments.against.empty()) {
    arguments.against.insert(arguments.against.begin(), arguments.hapax);
    compare_binaries(bench, {.binaries = arguments.against,
                             .ids = arguments.only == "ordered" ? Ids::ordered : Ids::random,
                             .remembered = arguments.remembered,
                             .rounds = arguments.rounds,
                             .seconds = arguments.seconds,
                             .warm_up_seconds = arguments.warm_up,
                             .fresh = arguments.fresh,
                             .connections = arguments.connections});
    return 0;
  }
  if (arguments.soak > 0) {
    soak(bench, arguments);
    return 0;
  }
  if (arguments.attack > 0) {
    attack(bench, arguments);
    return 0;
  }
  compare(bench, arguments, "random", Ids::random, 0.50);
  compare(bench, arguments, "ordered", Ids::ordered, 0.55);
  compare(bench, arguments, "duplicates", Ids::same, 0.75);
  return 0;
}

}  // namespace

}  // namespace hapax::bench

int main(int argc, char** argv) {
  try {
    return hapax::bench::run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "bench/ingest: " << failure.what() << '\n';
    return 1;
  }
}
