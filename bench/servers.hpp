// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/process.hpp"
#include "bench/requests.hpp"
#include "bench/warm_memory.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Runs nginx, hapax and wrk in a directory of their own. Everything throws if a process cannot be
// started.
namespace hapax::bench {

inline constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

struct Load {
  double rate = 0;  // responses per second
  double requests = 0;
  double seconds = 0;
  std::string p50;
  std::string p99;
  double bad = 0;     // not 2xx, or no response
  double cpu_us = 0;  // CPU time of the server per request
};

// A running `hapax serve`.
struct RunningServer {
  std::unique_ptr<Process> process;
  int port = 0;
  std::string admin_port;

  // A value from /metrics: the first group of the pattern.
  double metric(const std::string& pattern) const;
  double batch_size() const;
};

class Servers {
 public:
  // `dir` is on the disk to measure.
  Servers(const std::string& dir, std::string hapax);
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  std::string file(const std::string& name) const { return place_ / name; }

  std::unique_ptr<Process> start_nginx();  // responds 200 to everything, on kNginxPort
  // Starts hapax with a source "demo" of Standard Webhooks, with the secret kSecret, which delivers
  // to "work". `work` is the rest of the table of that destination. An empty `store` is a new
  // SQLite file; an empty `binary` is the one passed to the constructor.
  RunningServer start_hapax(std::string_view work, const std::string& store = {},
                            const std::string& binary = {});

  // Generates enough requests for wrk in that time, also for nginx or only for hapax.
  Requests make_requests(Ids ids, double seconds, bool with_nginx = true);
  // Sends each request once, with wrk -t1.
  Load load(const Process& server, int port, const Requests& requests, int connections,
            double seconds);

  static constexpr int kNginxPort = 18421;

 private:
  std::filesystem::path place_;
  WarmMemory warm_;
  std::string fast_;  // file of the requests, in memory if possible
  std::string hapax_;
  int started_ = 0;
};

void write_file(const std::string& path, const std::string& text);
// The first group of the match, or an empty string.
std::string found(const std::string& text, const std::string& pattern);
double number(const std::string& text);  // 0 for an empty text
double median(std::vector<double> values);

// A script for wrk that reads requests from a file (arguments: path, size of a request, pause in
// ms).
extern const std::string kReadRequests;

}  // namespace hapax::bench
