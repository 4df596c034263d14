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

// nginx, hapax and wrk beside each other, in a directory of their own. All of it throws when
// something cannot be started.
namespace hapax::bench {

inline constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

struct Load {
  double rate = 0;  // answers per second
  double requests = 0;
  double seconds = 0;
  std::string p50;
  std::string p99;
  double bad = 0;     // not 2xx, or no answer
  double cpu_us = 0;  // of the server for each request
};

// hapax serve, as it was started.
struct RunningServer {
  std::unique_ptr<Process> process;
  int port = 0;
  std::string admin_port;

  // What it says of itself, since it was started: the first group of the pattern in /metrics.
  double metric(const std::string& pattern) const;
  double batch_size() const;
};

class Servers {
 public:
  // `dir` is on the disk that is measured.
  Servers(const std::string& dir, std::string hapax);
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  std::string file(const std::string& name) const { return place_ / name; }

  std::unique_ptr<Process> start_nginx();  // answers everything with 200, on kNginxPort
  // With a source "demo" of Standard Webhooks whose secret is kSecret, which delivers to "work".
  // `work` is the rest of that destination's table. An empty `store` is a fresh SQLite file, an
  // empty `binary` the one that this was made with.
  RunningServer start_hapax(std::string_view work, const std::string& store = {},
                            const std::string& binary = {});

  // Enough that wrk does not run out of them in that time, also with nginx or only with hapax.
  Requests make_requests(Ids ids, double seconds, bool with_nginx = true);
  // Each request once, by wrk -t1.
  Load load(const Process& server, int port, const Requests& requests, int connections,
            double seconds);

  static constexpr int kNginxPort = 18421;

 private:
  std::filesystem::path place_;
  WarmMemory warm_;
  std::string fast_;  // where requests are read from
  std::string hapax_;
  int started_ = 0;
};

void write_file(const std::string& path, const std::string& text);
// The first group, or nothing.
std::string found(const std::string& text, const std::string& pattern);
double number(const std::string& text);  // 0 for an empty one
double median(std::vector<double> values);

// A script for wrk: reads the requests of a file (arguments: path, size of one, pause in ms).
extern const std::string kReadRequests;

}  // namespace hapax::bench
