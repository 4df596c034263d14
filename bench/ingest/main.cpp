// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/ingest/requests.hpp"
#include "bench/process.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <stdexcept>

// What `hapax serve` takes in beside what nginx answers with `return 200`: the same requests, sent
// by the same wrk, one after the other in every round. Prints a line for each case.
namespace hapax::bench {

namespace {

namespace fs = std::filesystem;

const std::string kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string kForgersSecret = "whsec_Rk9SR0VERk9SR0VERk9SR0VERk9SR0VERk8=";

struct Arguments {
  std::string hapax = "build/release/hapax";
  std::string dir = "build";  // where the store is: on the disk that is measured
  std::string store;          // another one than SQLite in `dir`
  std::string only;
  int rounds = 5;
  double seconds = 3;
  int connections = 64;
  std::size_t soak = 0;  // events
  int attack = 0;        // forged requests per second
};

struct Load {
  double rate = 0;  // answers per second
  double requests = 0;
  std::string p50;
  std::string p99;
  double bad = 0;  // not 2xx, or no answer
  double cpu_us = 0;
};

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

// What the program printed.
std::string output_of(const std::string& command) {
  std::string out;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) out += part.data();
  pclose(pipe);
  return out;
}

std::string found(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "";
}

double number(const std::string& text) {
  return text.empty() ? 0 : std::stod(text);
}

const std::string kReadRequests = R"(
function init(args)
  local file, size = io.open(args[1], "rb"), tonumber(args[2])
  requests, count, at, pause = {}, 0, 0, tonumber(args[3])
  while true do
    local one = file:read(size)
    if not one then break end
    count = count + 1
    requests[count] = one
  end
end
)";

const char* const kEachOnce = R"(
function request()
  at = at + 1
  if at > count then at = count; wrk.thread:stop() end
  return requests[at]
end
)";

// Over and over, so many per second on kForgers connections.
const char* const kFlood = R"(
function delay() return pause end
function request()
  at = at % count + 1
  return requests[at]
end
)";
constexpr int kForgers = 64;

class Bench {
 public:
  explicit Bench(const Arguments& arguments)
      : arguments_(arguments), place_(fs::absolute(arguments.dir) / "bench-ingest") {
    fs::remove_all(place_);
    fs::create_directories(place_);
    write_file(file("wrk.lua"), kReadRequests + kEachOnce);
    write_file(file("flood.lua"), kReadRequests + kFlood);
    fast_ = fs::exists("/dev/shm") ? "/dev/shm/hapax-bench-requests" : file("requests");
  }
  ~Bench() {
    fs::remove(fast_);
    fs::remove_all(place_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  std::string file(const std::string& name) const { return place_ / name; }

  std::unique_ptr<Process> start_nginx() {
    write_file(file("nginx.conf"),
               "daemon off; worker_processes auto; pid " + file("nginx.pid") +
                   "; error_log stderr; events { worker_connections 1024; }\n"
                   "http { access_log off; keepalive_requests 100000000; client_max_body_size 2m;\n"
                   "client_body_temp_path " +
                   file("t1") + "; proxy_temp_path " + file("t2") + "; fastcgi_temp_path " +
                   file("t3") + "; uwsgi_temp_path " + file("t4") + "; scgi_temp_path " +
                   file("t5") + "; server { listen unix:" + file("unused.sock") +
                   "; listen 127.0.0.1:" + std::to_string(kNginxPort) +
                   "; location / { return 200 'ok'; } } }\n");
    auto nginx = std::make_unique<Process>(
        std::vector<std::string>{"nginx", "-p", place_, "-c", file("nginx.conf")},
        file("nginx.out"));
    return nginx;
  }

  std::unique_ptr<Process> start_hapax(int& port) {
    const std::string store = arguments_.store.empty() ? "sqlite:hapax.db" : arguments_.store;
    write_file(
        file("hapax.toml"),
        "[server]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n[store]\nurl = \"" + store +
            "\"\n[[source]]\nname = \"demo\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
            kSecret +
            "\"]\ndeliver_to = [\"work\"]\n[[destination]]\nname = \"work\"\n"
            "kind = \"pull\"\n");
    for (const char* each : {"hapax.db", "hapax.db-wal", "hapax.db-shm"}) fs::remove(file(each));
    auto hapax = std::make_unique<Process>(
        std::vector<std::string>{arguments_.hapax, "serve", "-c", file("hapax.toml")},
        file("hapax.out"));
    const std::string ready = first_line_of(file("hapax.out"));
    port = std::stoi(found(ready, R"re("listen_port":(\d+))re"));
    admin_port_ = found(ready, R"re("admin_port":(\d+))re");
    return hapax;
  }

  // What hapax says of itself, since it was started.
  double metric(const std::string& pattern) const {
    return number(
        found(output_of("curl -s http://127.0.0.1:" + admin_port_ + "/metrics"), pattern));
  }
  double batch_size() const {
    return metric(R"(hapax_commit_batch_size_sum ([\d.e+]+))") /
           std::max(1.0, metric(R"(hapax_commit_batch_size_count (\d+))"));
  }
  double duplicates() const { return metric(R"(outcome="duplicate",source="demo"\} ([\d.e+]+))"); }

  Requests make_requests(Ids ids) {
    const auto count = static_cast<std::size_t>(arguments_.seconds * kMostPerSecond);
    return write_requests(fast_, kSecret, ids, count);
  }

  Load load(const Process& server, int port, const Requests& requests) {
    const double before = cpu_seconds(server.pid());
    Process wrk({"wrk", "-t1", "-c" + std::to_string(arguments_.connections),
                 "-d" + std::to_string(static_cast<int>(arguments_.seconds)) + "s", "--latency",
                 "-s", file("wrk.lua"), "http://127.0.0.1:" + std::to_string(port), "--",
                 requests.path, std::to_string(requests.size)},
                file("wrk.out"));
    if (wrk.wait() != 0) throw std::runtime_error("wrk failed; see " + file("wrk.out.err"));
    const std::string out = contents_of(file("wrk.out"));
    Load load;
    load.rate = number(found(out, R"(Requests/sec:\s+([\d.]+))"));
    load.requests = number(found(out, R"((\d+) requests in)"));
    load.p50 = found(out, R"(50%\s+(\S+))");
    load.p99 = found(out, R"(99%\s+(\S+))");
    load.bad = number(found(out, R"(Non-2xx or 3xx responses: (\d+))"));
    load.cpu_us = 1e6 * (cpu_seconds(server.pid()) - before) / std::max(1.0, load.requests);
    return load;
  }

  // Forged requests for as long as load() takes.
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
    double bytes = 0;
    for (const char* each : {"hapax.db", "hapax.db-wal"}) {
      if (fs::exists(file(each))) bytes += static_cast<double>(fs::file_size(file(each)));
    }
    return bytes / 1048576.0;
  }

  static constexpr int kNginxPort = 18421;

 private:
  static constexpr double kMostPerSecond = 90'000;

  Arguments arguments_;
  fs::path place_;
  std::string fast_;
  std::string admin_port_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(Bench& bench, const Arguments& arguments, const char* name, Ids ids, double budget) {
  if (name != arguments.only && !arguments.only.empty()) return;
  int port = 0;
  const auto nginx = bench.start_nginx();
  const auto hapax = bench.start_hapax(port);
  std::vector<double> ratios;
  Load ours;
  Load theirs;
  for (int round = 0; round < arguments.rounds; ++round) {
    const Requests requests = bench.make_requests(ids);
    theirs = bench.load(*nginx, Bench::kNginxPort, requests);
    ours = bench.load(*hapax, port, requests);
    ratios.push_back(ours.rate / theirs.rate);
    if (ours.bad > 0) throw std::runtime_error("hapax refused some; see hapax.out.err");
  }
  if (ids != Ids::same && bench.duplicates() > 0) {
    throw std::runtime_error("an id was sent twice: the requests ran out");
  }
  std::printf(
      "%-18s %6.2f  (%.2f to %.2f, budget %.2f)  hapax %7.0f/s  nginx %7.0f/s  p50 %s p99 %s"
      "  CPU %.1f us (nginx %.1f)  batch %.0f  %.0f MiB\n",
      name, median(ratios), *std::min_element(ratios.begin(), ratios.end()),
      *std::max_element(ratios.begin(), ratios.end()), budget, ours.rate, theirs.rate,
      ours.p50.c_str(), ours.p99.c_str(), ours.cpu_us, theirs.cpu_us, bench.batch_size(),
      resident_mib(hapax->pid()));
  std::fflush(stdout);
}

// Memory over many events: it must not grow with them.
void soak(Bench& bench, const Arguments& arguments) {
  int port = 0;
  const auto hapax = bench.start_hapax(port);
  std::size_t events = 0;
  while (events < arguments.soak) {
    const Load load = bench.load(*hapax, port, bench.make_requests(Ids::ordered));
    events += static_cast<std::size_t>(load.requests);
    std::printf("%9zu events  %7.0f/s  %.0f MiB\n", events, load.rate, resident_mib(hapax->pid()));
    std::fflush(stdout);
  }
}

// What true requests get with forged ones beside them, and without, in turns.
void attack(Bench& bench, const Arguments& arguments) {
  int port = 0;
  const auto hapax = bench.start_hapax(port);
  const Requests forged = bench.make_forged();
  std::vector<double> ratios;
  double sum = 0;
  for (int round = 0; round < arguments.rounds; ++round) {
    const Load alone = bench.load(*hapax, port, bench.make_requests(Ids::ordered));
    const Requests requests = bench.make_requests(Ids::ordered);
    const auto flood = bench.flood(port, forged);
    const Load beside = bench.load(*hapax, port, requests);
    flood->wait();
    if (alone.bad + beside.bad > 0) throw std::runtime_error("hapax refused true requests");
    sum += bench.forged_so_far();
    ratios.push_back(beside.rate / alone.rate);
    std::printf(
        "attack  alone %7.0f/s  beside %7.0f/s  %.2f  forged %8.0f  p99 %s and %s"
        "  %.0f MiB  disk %.0f MiB\n",
        alone.rate, beside.rate, ratios.back(), sum, alone.p99.c_str(), beside.p99.c_str(),
        resident_mib(hapax->pid()), bench.disk_mib());
    std::fflush(stdout);
  }
  std::printf("attack  %.2f (goal 0.80)  rejects kept %.0f  dropped %.0f  evicted %.0f\n",
              median(ratios), bench.metric(R"(hapax_rejects_total\{[^}]*\} ([\d.e+]+))"),
              bench.metric(R"(hapax_rejects_dropped_total\{[^}]*\} ([\d.e+]+))"),
              bench.metric(R"(hapax_rejects_evicted_total ([\d.e+]+))"));
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
  CLI11_PARSE(app, argc, argv);
  Bench bench(arguments);
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
