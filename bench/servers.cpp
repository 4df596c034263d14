// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/servers.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace hapax::bench {

namespace fs = std::filesystem;

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

namespace {

constexpr double kMostPerSecond = 160'000;  // more than nginx can answer here
constexpr double kMostOfHapax = 80'000;

const char* const kEachOnce = R"(
function request()
  at = at + 1
  if at > count then at = count; wrk.thread:stop() end
  return requests[at]
end
)";

// The output of a command.
std::string output_of(const std::string& command) {
  std::string out;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) out += part.data();
  pclose(pipe);
  return out;
}

}  // namespace

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

std::string found(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "";
}

double number(const std::string& text) {
  return text.empty() ? 0 : std::stod(text);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double RunningServer::metric(const std::string& pattern) const {
  return number(found(output_of("curl -s http://127.0.0.1:" + admin_port + "/metrics"), pattern));
}

double RunningServer::batch_size() const {
  return metric(R"(hapax_commit_batch_size_sum ([\d.e+]+))") /
         std::max(1.0, metric(R"(hapax_commit_batch_size_count (\d+))"));
}

Servers::Servers(const std::string& dir, std::string hapax)
    : place_(fs::absolute(dir) / "bench-servers"), hapax_(std::move(hapax)) {
  fs::remove_all(place_);
  fs::create_directories(place_);
  write_file(file("wrk.lua"), kReadRequests + kEachOnce);
  fast_ = fs::exists("/dev/shm") ? "/dev/shm/hapax-bench-requests" : file("requests");
}

Servers::~Servers() {
  fs::remove(fast_);
  fs::remove_all(place_);
}

std::unique_ptr<Process> Servers::start_nginx() {
  write_file(file("nginx.conf"),
             "daemon off; worker_processes auto; pid " + file("nginx.pid") +
                 "; error_log stderr; events { worker_connections 1024; }\n"
                 "http { access_log off; keepalive_requests 100000000; client_max_body_size 2m;\n"
                 "client_body_temp_path " +
                 file("t1") + "; proxy_temp_path " + file("t2") + "; fastcgi_temp_path " +
                 file("t3") + "; uwsgi_temp_path " + file("t4") + "; scgi_temp_path " + file("t5") +
                 "; server { listen unix:" + file("unused.sock") + "; listen 127.0.0.1:" +
                 std::to_string(kNginxPort) + "; location / { return 200 'ok'; } } }\n");
  return std::make_unique<Process>(
      std::vector<std::string>{"nginx", "-p", place_, "-c", file("nginx.conf")}, file("nginx.out"));
}

RunningServer Servers::start_hapax(std::string_view work, const std::string& store,
                                   const std::string& binary) {
  const std::string name = "hapax" + std::to_string(++started_);
  if (store.empty()) {
    for (const char* each : {".db", ".db-wal", ".db-shm"})
      fs::remove(file("hapax" + std::string(each)));
  }
  write_file(file(name + ".toml"),
             "[server]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n[store]\nurl = \"" +
                 (store.empty() ? "sqlite:hapax.db" : store) +
                 "\"\n[[source]]\nname = \"demo\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
                 std::string(kSecret) +
                 "\"]\ndeliver_to = [\"work\"]\n[[destination]]\nname = \"work\"\n" +
                 std::string(work));
  RunningServer served;
  served.process =
      std::make_unique<Process>(std::vector<std::string>{binary.empty() ? hapax_ : binary, "serve",
                                                         "-c", file(name + ".toml")},
                                file(name + ".out"));
  const std::string ready = first_line_of(file(name + ".out"));
  served.port = std::stoi(found(ready, R"re("listen_port":(\d+))re"));
  served.admin_port = found(ready, R"re("admin_port":(\d+))re");
  return served;
}

Requests Servers::make_requests(Ids ids, double seconds, bool with_nginx) {
  const double most = with_nginx ? kMostPerSecond : kMostOfHapax;
  return write_requests(fast_, std::string(kSecret), ids, static_cast<std::size_t>(seconds * most));
}

Load Servers::load(const Process& server, int port, const Requests& requests, int connections,
                   double seconds) {
  const double before = cpu_seconds(server.pid());
  Process wrk({"wrk", "-t1", "-c" + std::to_string(connections),
               "-d" + std::to_string(static_cast<int>(seconds)) + "s", "--latency", "-s",
               file("wrk.lua"), "http://127.0.0.1:" + std::to_string(port), "--", requests.path,
               std::to_string(requests.size)},
              file("wrk.out"));
  if (wrk.wait() != 0) throw std::runtime_error("wrk failed; see " + file("wrk.out.err"));
  const std::string out = contents_of(file("wrk.out"));
  Load load;
  load.rate = number(found(out, R"(Requests/sec:\s+([\d.]+))"));
  load.requests = number(found(out, R"((\d+) requests in)"));
  load.seconds = load.requests / std::max(1.0, load.rate);
  load.p50 = found(out, R"(\n\s+50%\s+(\S+))");
  load.p99 = found(out, R"(\n\s+99%\s+(\S+))");
  load.bad = number(found(out, R"(Non-2xx or 3xx responses: (\d+))"));
  load.cpu_us = 1e6 * (cpu_seconds(server.pid()) - before) / std::max(1.0, load.requests);
  return load;
}

}  // namespace hapax::bench
