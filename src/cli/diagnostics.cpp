// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/diagnostics.hpp"

#include "base/calendar.hpp"
#include "cli/admin_client.hpp"
#include "cli/store_names.hpp"
#include "model/ids.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

namespace hapax::cli {

namespace {

using std::chrono::microseconds;

constexpr microseconds kSlowSync = std::chrono::milliseconds(20);
constexpr microseconds kClockOff = std::chrono::seconds(5);
constexpr std::size_t kSyncs = 21;

std::string in_ms(microseconds span) {
  const auto tenths = span.count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

// Reports whether others have any permission in `forbidden`. Write access is always a problem;
// other access is reported as `otherwise`.
void inspect_file(const std::string& what, const std::string& path, mode_t forbidden,
                  Diagnostic::Level otherwise, Diagnostics& diagnostics) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return;
  const mode_t open = status.st_mode & forbidden;
  if (open == 0) return diagnostics.ok("permissions", what + " " + path + " has safe permissions");
  const bool can_write = (open & (S_IWGRP | S_IWOTH)) != 0;
  std::string text = "others can " + std::string(can_write ? "change" : "read") + " " + what + " " +
                     path + "; run chmod " + (S_ISDIR(status.st_mode) ? "700" : "600") + " on it";
  otherwise == Diagnostic::Level::problem || can_write
      ? diagnostics.problem("permissions", std::move(text))
      : diagnostics.warning("permissions", std::move(text));
}

// Sorted durations of small synced writes; incomplete if the directory cannot be written.
std::vector<microseconds> synced_writes(const std::string& directory, Clock& clock) {
  std::string name = directory + "/doctor-XXXXXX";
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return {};
  unlink(name.c_str());
  std::vector<microseconds> times;
  const std::array<char, 4096> page{};
  for (std::size_t i = 0; i < kSyncs; ++i) {
    const BootTime start = clock.since_boot();
    if (write(fd, page.data(), page.size()) != static_cast<ssize_t>(page.size())) break;
    if (fdatasync(fd) != 0) break;
    times.push_back(clock.since_boot() - start);
  }
  close(fd);
  std::sort(times.begin(), times.end());
  return times;
}

void check_clock(const store::StoreSummary& summary, WallTime wall, Diagnostics& diagnostics) {
  const microseconds off = summary.now - wall;
  const microseconds distance = off < microseconds(0) ? -off : off;
  if (distance <= kClockOff) {
    return diagnostics.ok("clock", "the clocks of the store and the machine agree within " +
                                       std::to_string(distance / std::chrono::seconds(1) + 1) +
                                       " s");
  }
  const std::string text = "the store's clock is " + about(distance) +
                           (off.count() > 0 ? " ahead of" : " behind") + " the machine's";
  // The store's clock is behind if time was not counted because a clock was unreliable. It is ahead
  // if the wall clock was ahead at boot: docs/adr/0006.
  diagnostics.warning(
      "clock",
      off.count() > 0
          ? text +
                ": the machine's clock was ahead at boot, so leases and claims expired early by "
                "that much, or it is slow now; synchronize it by NTP before hapax starts"
          : text +
                ": pauses, restored snapshots and clock changes are not counted. Leases and claims "
                "follow the store's clock and expire no earlier; displayed times are off. "
                "Signature windows follow the machine's clock: synchronize it by NTP");
}

void check_claims(const store::ClaimFaults& faults, Diagnostics& diagnostics) {
  if (faults.doubled == 0) return diagnostics.ok("claims", "no event id was claimed twice");
  diagnostics.problem("claims", std::to_string(faults.doubled) +
                                    " event ids were claimed twice, most recently by events " +
                                    to_text(faults.event) + " and " + to_text(faults.other) +
                                    ". Both were delivered: undo one and report a bug in hapax");
}

void check_silence(const store::StoreSummary& summary, const daemon::Config& config,
                   std::chrono::milliseconds silent, Diagnostics& diagnostics) {
  for (const gateway::Source& source : config.sources) {
    const auto known =
        std::find_if(summary.sources.begin(), summary.sources.end(),
                     [&](const store::KnownName& each) { return each.name == source.name; });
    const auto seen =
        known == summary.sources.end()
            ? summary.seen.end()
            : std::find_if(summary.seen.begin(), summary.seen.end(), [&](const auto& each) {
                return each.source == SourceNo(known->number);
              });
    if (seen == summary.seen.end()) {
      diagnostics.ok("silence", source.name + " has never sent an event");
      continue;
    }
    const microseconds since = summary.now - seen->last_seen;
    std::string text = source.name + " last sent an event " + about(since) + " ago (" +
                       format_rfc3339(seen->last_seen) + ")";
    since > silent ? diagnostics.warning("silence", text + "; is it still enabled there?")
                   : diagnostics.ok("silence", std::move(text));
  }
}

}  // namespace

void Diagnostics::ok(std::string_view check, std::string text) {
  list_.push_back({Diagnostic::Level::ok, check, std::move(text)});
}
void Diagnostics::warning(std::string_view check, std::string text) {
  list_.push_back({Diagnostic::Level::warning, check, std::move(text)});
}
void Diagnostics::problem(std::string_view check, std::string text) {
  list_.push_back({Diagnostic::Level::problem, check, std::move(text)});
}
bool Diagnostics::good() const {
  return std::none_of(list_.begin(), list_.end(), [](const Diagnostic& each) {
    return each.level == Diagnostic::Level::problem;
  });
}

std::string about(microseconds span) {
  const auto seconds = span / std::chrono::seconds(1);
  if (seconds >= 2 * 86400) return std::to_string(seconds / 86400) + " d";
  if (seconds >= 2 * 3600) return std::to_string(seconds / 3600) + " h";
  if (seconds >= 120) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds) + " s";
}

void check_permissions(const std::string& file, const daemon::Config& config,
                       Diagnostics& diagnostics) {
  constexpr mode_t kChange = S_IWGRP | S_IWOTH;
  constexpr mode_t kAnything = S_IRWXG | S_IRWXO;
  inspect_file("the configuration", file, kChange, Diagnostic::Level::problem, diagnostics);
  for (const std::string& each : config.secret_files) {
    inspect_file("the secret in", each, S_IRWXO | S_IWGRP, Diagnostic::Level::problem, diagnostics);
  }
  if (config.listen.tls) {
    inspect_file("the TLS key", config.listen.tls->key, S_IRWXO | S_IWGRP,
                 Diagnostic::Level::problem, diagnostics);
  }
  inspect_file("the admin token", config.data_dir + "/admin.token", kAnything,
               Diagnostic::Level::problem, diagnostics);
  if (access(config.data_dir.c_str(), W_OK | X_OK) == 0) {
    inspect_file("data_dir", config.data_dir, kChange, Diagnostic::Level::problem, diagnostics);
  } else {
    diagnostics.problem("permissions", "data_dir " + config.data_dir +
                                           " cannot be written: " + std::strerror(errno) +
                                           "; create it or change its owner");
  }
  const std::string database = config.store_url.path;
  if (!database.empty()) {
    inspect_file("the database", database, S_IRWXO | S_IWGRP, Diagnostic::Level::warning,
                 diagnostics);
  }
}

void check_store(const daemon::Config& config, Clock& clock, std::chrono::milliseconds silent,
                 Diagnostics& diagnostics) {
  const Result<std::optional<store::StoreSummary>> summary = store::inspect(config.store_url, {});
  if (!summary) return diagnostics.problem("store", summary.error().detail());
  if (!*summary) {
    const bool memory = config.store_url.kind == store::StoreUrl::Kind::memory;
    return diagnostics.warning("store", memory ? "the store is in memory and not persistent"
                                               : "no store yet; 'hapax serve' creates it");
  }
  const store::StoreSummary& seen = **summary;
  const std::string version = std::to_string(seen.version);
  if (seen.version > seen.known) {
    return diagnostics.problem("store", "the schema has version " + version +
                                            ", newer than this hapax (" +
                                            std::to_string(seen.known) + "); upgrade hapax");
  }
  if (seen.version < seen.known) {
    return diagnostics.warning("store",
                               "the schema has version " + version +
                                   "; run 'hapax serve' or 'hapax migrate' to upgrade to " +
                                   std::to_string(seen.known));
  }
  diagnostics.ok("store", "the store is readable; its schema has version " + version);
  for (const std::string& each : seen.risks) diagnostics.warning("database", each);
  check_clock(seen, clock.wall(), diagnostics);
  for (const std::string& each : seen.problems) diagnostics.problem("store", each);
  check_claims(seen.faults, diagnostics);
  for (std::string& each : names_without_file(seen, config)) {
    diagnostics.warning("names", std::move(each));
  }
  check_silence(seen, config, silent, diagnostics);
}

void check_observe(const daemon::Config& config, Diagnostics& diagnostics) {
  for (const gateway::Source& each : config.sources) {
    if (each.enforce) continue;
    diagnostics.warning("observe",
                        each.name +
                            " is in observe mode (enforce = false): forged and duplicate requests "
                            "are delivered; remove the line to enforce");
  }
}

void check_sync(const daemon::Config& config, Clock& clock, Diagnostics& diagnostics) {
  const std::string database = config.store_url.path;
  std::string directory = std::filesystem::path(database).parent_path().string();
  if (database.empty()) directory = config.data_dir;
  if (directory.empty()) directory = ".";
  const std::vector<microseconds> times = synced_writes(directory, clock);
  if (times.size() < kSyncs) {
    return diagnostics.problem(
        "fsync", "cannot write and sync a file in " + directory + ": " + std::strerror(errno));
  }
  const microseconds median = times[times.size() / 2];
  std::string text = "a sync in " + directory + " takes " + in_ms(median) + " (at most " +
                     in_ms(times.back()) + ")";
  median > kSlowSync ? diagnostics.warning("fsync", text + "; every acknowledgement waits for one")
                     : diagnostics.ok("fsync", std::move(text));
}

namespace {

// Reports the use of one secret of a source or tenant. `any`: at least one of its secrets was used.
void check_secret(const std::string& which, const std::string& used, bool any,
                  Diagnostics& diagnostics) {
  if (!used.empty()) {
    diagnostics.ok("secrets", which + " was last used at " + used);
  } else if (any) {
    diagnostics.warning("secrets",
                        which + " was not used since the server started; remove it if it is old");
  } else {
    diagnostics.ok("secrets", which + " was not used since the server started, nor any other");
  }
}

}  // namespace

void check_secrets(const boost::json::value& sources, Diagnostics& diagnostics) {
  namespace json = boost::json;
  for (const json::value& source : list_or_none(sources, "sources")) {
    std::map<std::string, std::vector<std::string>> by_tenant;  // time of last use of each secret
    for (const json::value& each : list_or_none(source, "secrets")) {
      by_tenant[member_text(each, "tenant")].push_back(member_text(each, "last_used_at"));
    }
    for (const auto& [tenant, all] : by_tenant) {
      const bool any = std::any_of(all.begin(), all.end(),
                                   [](const std::string& used) { return !used.empty(); });
      const std::string whose =
          member_text(source, "name") + (tenant.empty() ? std::string() : "/" + tenant);
      for (std::size_t i = 0; i < all.size(); ++i) {
        check_secret("secret " + std::to_string(i + 1) + " of " + whose, all[i], any, diagnostics);
      }
    }
  }
}

}  // namespace hapax::cli
