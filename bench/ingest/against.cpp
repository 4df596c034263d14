// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/ingest/against.hpp"

#include "identify/id_parts.hpp"
#include "store/inbox.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace hapax::bench {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kSorted = 500'000;  // ids that are written in one transaction

struct Side {
  std::string binary;
  RunningServer served;
  std::vector<double> rates;
  std::vector<double> ratios;
  std::vector<double> cpu_us;
};

void execute(sqlite3* db, const std::string& sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error("fill the store: " + std::string(sqlite3_errmsg(db)));
  }
}

// Claims of the source "demo" whose events are gone, with ids as make_requests() makes them.
void fill(const std::string& path, std::size_t count) {
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) throw std::runtime_error("open " + path);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> close(db, sqlite3_close);
  execute(db, "PRAGMA journal_mode=DELETE; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
  const IdPart start{.number = false, .text = "msg_"};
  const std::string key = store::event_claim_key(SourceNo(1), "", id_key({&start, 1}));
  std::string hex;
  for (const char each : key) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(each));
    hex += digits;
  }
  for (std::size_t done = 0; done < count; done += kSorted) {
    const std::string some = std::to_string(std::min(kSorted, count - done));
    execute(db,
            "INSERT INTO hapax_event_id(key, event, expires_ms)"
            " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                some + ") SELECT CAST(x'" + hex + "' || lower(hex(randomblob(14))) AS BLOB), i + " +
                std::to_string(done) + ", 4000000000000 FROM n ORDER BY 1");
  }
  execute(db, "UPDATE hapax_sweep SET floor = 1 << 40");
}

Load run(Servers& servers, const Side& side, const Against& options, double seconds) {
  const Requests requests = servers.make_requests(options.ids, seconds, false);
  return servers.load(*side.served.process, side.served.port, requests, options.connections,
                      seconds);
}

void start(Servers& servers, Side& side, const Against& options) {
  side.served.process.reset();
  const std::string name = fs::path(side.binary).filename().string() + ".db";
  for (const char* each : {"", "-wal", "-shm"}) fs::remove(servers.file(name + each));
  const std::string url = "sqlite:" + name;
  side.served = servers.start_hapax("kind = \"pull\"\n", url, side.binary);
  if (options.remembered > 0) {
    side.served.process.reset();
    fill(servers.file(name), options.remembered);
    side.served = servers.start_hapax("kind = \"pull\"\n", url, side.binary);
  }
  if (options.warm_up_seconds > 0) run(servers, side, options, options.warm_up_seconds);
}

void print(const Side& side) {
  const auto [least, most] = std::minmax_element(side.ratios.begin(), side.ratios.end());
  std::printf("%-40s %5.2f  (%.2f to %.2f)  %7.0f/s  CPU %.1f us  batch %.0f  %.0f MiB\n",
              side.binary.c_str(), median(side.ratios), *least, *most, median(side.rates),
              median(side.cpu_us), side.served.batch_size(),
              resident_mib(side.served.process->pid()));
  std::fflush(stdout);
}

}  // namespace

void compare_binaries(Servers& servers, const Against& options) {
  std::vector<Side> sides;
  for (const std::string& binary : options.binaries) {
    sides.emplace_back().binary = binary;
    if (!options.fresh) start(servers, sides.back(), options);
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      // Another one begins each round: what comes first finds another machine than what comes last.
      Side& side = sides[(i + static_cast<std::size_t>(round)) % sides.size()];
      if (options.fresh) start(servers, side, options);
      const Load load = run(servers, side, options, options.seconds);
      if (load.bad > 0) throw std::runtime_error(side.binary + " refused some requests");
      side.rates.push_back(load.rate);
      side.cpu_us.push_back(load.cpu_us);
    }
    for (Side& side : sides) side.ratios.push_back(side.rates.back() / sides[0].rates.back());
  }
  for (const Side& side : sides) print(side);
}

}  // namespace hapax::bench
