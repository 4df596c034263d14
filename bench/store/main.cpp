// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/report.hpp"
#include "bench/store/cases.hpp"
#include "bench/store/remembered.hpp"
#include "bench/store/retention.hpp"

#include <hapax/hapax.hpp>

#include <sqlite3.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <iostream>
#include <stdexcept>

// Compares the stores and once() with hand-written statements and prints a table. A missed budget
// is only reported in the table: the exit code is nonzero only if the measurement failed.
namespace hapax::bench {

namespace {

constexpr int kTurns = 4;
// A checkpoint in hapax's background thread ends in this time rather than in the next turn of the
// other side.
constexpr Seconds kPause(0.02);

struct Arguments {
  std::string directory = ".";
  std::string only;
  int rounds = 7;
  double seconds = 0.3;
  bool json = false;
  bool choices = false;
  std::size_t remembered = 0;  // 0: not requested
  std::size_t page_size = 0;   // 0: hapax's default
  std::size_t retention = 0;   // 0: not requested
  std::size_t claims = 1'000'000;
};

// The places where the cases create their stores.
struct Places {
  WorkDirectory directory;
  std::optional<PostgresPlace> postgres = PostgresPlace::find();
};

std::vector<Case> all_cases(Places& places) {
  std::vector<Case> cases;
  const auto add = [&](std::vector<Case> more) {
    for (Case& each : more) cases.push_back(std::move(each));
  };
  add(dedup_cases(places.directory));
  add(once_cases(places.directory));
  add(inbox_cases(places.directory));
  if (!places.postgres) return cases;
  add(postgres_dedup_cases(*places.postgres));
  add(postgres_once_cases(*places.postgres));
  add(postgres_inbox_cases(*places.postgres));
  return cases;
}

std::vector<Case> cases_for(const Arguments& arguments, Places& places, Remembered& remembered) {
  if (arguments.remembered > 0) return remembered.cases();
  return arguments.choices ? choice_cases(places.directory) : all_cases(places);
}

Setting setting(const Arguments& arguments, const Places& places) {
  return {{"hapax", std::string(version())},
          {"sqlite", sqlite3_libversion()},
          {"postgres", places.postgres ? places.postgres->version() : "left out"},
          {"rounds", std::to_string(arguments.rounds)},
          {"seconds", std::to_string(arguments.seconds)}};
}

// On a busy disk every ratio approaches 1. The time of a sync right before and after the case shows
// whether the result is reliable.
std::string sync_note(Seconds before, Seconds after) {
  const auto us = [](Seconds time) { return std::to_string(std::lround(time.count() * 1e6)); };
  return us(before) + "," + us(after);
}

Outcome measure(const Case& what, const Plan& plan, WorkDirectory& directory) {
  const Seconds before = time_of_sync(directory.fresh_file());
  Outcome outcome = compare(what, plan);
  outcome.note = sync_note(before, time_of_sync(directory.fresh_file()));
  return outcome;
}

void measure_retention_only(const Arguments& arguments) {
  std::optional<PostgresPlace> place = PostgresPlace::find();
  if (!place) throw std::runtime_error("there is no PostgreSQL: run it with tools/with_postgres");
  measure_retention(*place, arguments.retention, arguments.claims, std::cout);
}

void measure_all(const Arguments& arguments) {
  const Plan plan{.rounds = arguments.rounds,
                  .turns = kTurns,
                  .round = Seconds(arguments.seconds),
                  .pause = kPause};
  Places places{.directory = WorkDirectory(arguments.directory)};
  Remembered remembered(places.directory, arguments.remembered, arguments.page_size);
  std::vector<Outcome> outcomes;
  if (!arguments.json) print_head(std::cout, {"hand-written", "hapax"}, "sync us");
  for (const Case& each : cases_for(arguments, places, remembered)) {
    if (each.name.find(arguments.only) == std::string::npos) continue;
    outcomes.push_back(measure(each, plan, places.directory));
    if (!arguments.json) print_line(std::cout, outcomes.back());
  }
  if (arguments.json) {
    print_json(std::cout, setting(arguments, places), outcomes);
  } else if (arguments.remembered > 0) {
    remembered.print_sizes(std::cout);
  } else if (!places.postgres && !arguments.choices) {
    std::cout << "PostgreSQL was left out: run it with tools/with_postgres\n";
  }
}

int run(int count, char** words) {
  Arguments arguments;
  CLI::App app("Measures hapax's stores beside the same written by hand");
  app.add_option("--dir", arguments.directory, "Where the files go: on a disk, not in memory")
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "Rounds of each case")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--seconds", arguments.seconds,
                 "About how long a round of the hand-written side lasts")
      ->check(CLI::Range(0.001, 600.0))
      ->capture_default_str();
  app.add_option("--only", arguments.only, "Only the cases with this text in their name");
  app.add_flag("--choices", arguments.choices,
               "Measure each pragma, index and kind of table of the SQLite inbox instead: with it "
               "undone, and as it is");
  app.add_option(
      "--remembered", arguments.remembered,
      "Measure the SQLite inbox with this many remembered ids beside 10,000 instead, and "
      "say what they take of memory and disk");
  app.add_option("--page-size", arguments.page_size, "With --remembered: bytes of a page");
  app.add_option("--retention", arguments.retention,
                 "Measure retention on PostgreSQL with this many events instead");
  app.add_option("--claims", arguments.claims, "With --retention: how many claims of ids");
  app.add_flag("--json", arguments.json, "Print JSON, with every round");
  CLI11_PARSE(app, count, words);
  if (arguments.retention > 0) {
    measure_retention_only(arguments);
  } else {
    measure_all(arguments);
  }
  return 0;
}

}  // namespace

}  // namespace hapax::bench

int main(int count, char** words) {
  try {
    return hapax::bench::run(count, words);
  } catch (const std::exception& failure) {
    std::cerr << "bench/store: " << failure.what() << '\n';
    return 1;
  }
}
