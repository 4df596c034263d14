// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/simulation.hpp"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

// hapax_sim <seed> [--seeds N] [--nodes N] [--events N] [--sqlite] [--trace]
namespace {

using hapax::sim::Options;
using hapax::sim::Report;

bool read(const char* text, std::uint64_t& number) {
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, number);
  return read.ec == std::errc() && read.ptr == end;
}

struct Arguments {
  Options options;
  std::uint64_t seeds = 1;  // number of seeds, starting with the first
};

bool read(int count, char** values, Arguments& arguments) {
  if (count < 2 || !read(values[1], arguments.options.seed)) return false;
  for (int i = 2; i < count; ++i) {
    const std::string_view word = values[i];
    if (word == "--trace") {
      arguments.options.show = [](const std::string& line) { std::puts(line.c_str()); };
      continue;
    }
    if (word == "--sqlite") {
      arguments.options.sqlite = true;
      continue;
    }
    std::uint64_t number = 0;
    if (++i == count || !read(values[i], number)) return false;
    if (word == "--seeds") {
      arguments.seeds = number;
    } else if (word == "--nodes") {
      arguments.options.nodes = number;
    } else if (word == "--events") {
      arguments.options.events = number;
    } else {
      return false;
    }
  }
  return true;
}

bool run(const Options& options) {
  const Report report = simulate(options);
  std::printf("seed %llu %s: %s, history %016llx\n", static_cast<unsigned long long>(options.seed),
              report.failure ? "FAILED" : "passed", report.summary.c_str(),
              static_cast<unsigned long long>(report.hash));
  if (!report.failure) return true;
  std::printf("oracle %s: %s\n", report.failure->oracle.c_str(), report.failure->detail.c_str());
  for (const std::string& each : report.last_lines) std::printf("  %s\n", each.c_str());
  return false;
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  if (!read(count, values, arguments)) {
    std::fputs(
        "usage: hapax_sim <seed> [--seeds N] [--nodes N] [--events N] [--sqlite] [--trace]\n",
        stderr);
    return 2;
  }
  std::uint64_t failed = 0;
  for (std::uint64_t i = 0; i < arguments.seeds; ++i, ++arguments.options.seed) {
    if (!run(arguments.options)) ++failed;
  }
  if (arguments.seeds > 1) {
    std::printf("%llu seeds, %llu failed\n", static_cast<unsigned long long>(arguments.seeds),
                static_cast<unsigned long long>(failed));
  }
  return failed == 0 ? 0 : 1;
}
