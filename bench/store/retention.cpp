// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/retention.hpp"

#include "bench/must.hpp"

#include <hapax/store.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace hapax::bench {

namespace {

using Stopwatch = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr const char* kPeriods =
    "ARRAY[1::bigint], ARRAY[2592000000::bigint], ARRAY[2592000000::bigint], 86400000, 500, NULL)";

// Adds delivered events, spread evenly over 20 days.
void add_events(PGconn* connection, std::size_t count) {
  const std::string made =
      "CREATE TABLE public.made AS SELECT (((extract(epoch FROM now() - interval '20 days'"
      " - timestamptz '2024-01-01 00:00:00+00') * 1000)::bigint + n * 20 * 86400000 / " +
      std::to_string(count) +
      ") << 22) + n % 4096 AS no, n, now() - interval '20 days' * (1 - n / " +
      std::to_string(count) + ".0) AS at FROM generate_series(0, " + std::to_string(count - 1) +
      "::bigint) AS n";
  execute(connection, made.c_str());
  execute(connection,
          "SELECT hapax._need_days(ARRAY(SELECT DISTINCT (no >> 22) / 86400000 FROM public.made))");
  execute(connection,
          "INSERT INTO hapax.event (no, source, would, received_at, tenant, id, type, order_key,"
          " digest, headers, body) SELECT no, 1, 0, at, '', int8send(n), 'invoice.paid', '',"
          " sha256(int8send(n)), '', '{}' FROM public.made");
  execute(connection,
          "INSERT INTO hapax.attempt (event, delivery, fence, destination, listen, outcome,"
          " settled_at, began_us, took_ms, status, error, excerpt)"
          " SELECT no, 1, n + 1, 1, false, 0, at, 0, 0, 200, '', '' FROM public.made");
  execute(connection,
          "INSERT INTO hapax.claim (key, event, expires_at) SELECT sha256(int8send(n)), no,"
          " at + interval '30 days' FROM public.made");
  execute(connection, "DROP TABLE public.made");
}

struct Pass {
  int calls = 0;
  Milliseconds time{};
};

// Calls `sql` until its first column, `done`, is true.
Pass run_to_the_end(PGconn* connection, const std::string& sql) {
  Pass pass;
  for (bool done = false; !done; ++pass.calls) {
    const auto begin = Stopwatch::now();
    const PgResult result = execute(connection, sql.c_str());
    pass.time += Stopwatch::now() - begin;
    done = std::string_view(PQgetvalue(result.get(), 0, 0)) == "t";
  }
  return pass;
}

Pass whole_pass(PGconn* connection) {
  Pass sum;
  for (const std::string& part :
       {std::string("_retain_events(") + kPeriods,
        std::string("_retain_attempts(86400000, 500, NULL)"),
        std::string("_retain_claims(2, 500, NULL)"), std::string("_retain_lanes(500, NULL)")}) {
    const Pass pass = run_to_the_end(connection, "SELECT done FROM hapax." + part);
    sum.calls += pass.calls;
    sum.time += pass.time;
  }
  return sum;
}

void print(std::ostream& out, const char* what, const Pass& pass) {
  out << "  " << what << ": " << pass.calls << " calls, " << pass.time.count() << " ms\n";
}

void measure_pass(PGconn* connection, std::size_t events, std::ostream& out) {
  add_events(connection, events);
  execute(connection, "VACUUM (ANALYZE)");
  out << "a pass of retention over " << events << " events with nothing to remove\n";
  const Pass before =
      run_to_the_end(connection, std::string("SELECT done FROM hapax._sweep(") + kPeriods);
  print(out, "migration 0006", before);
  print(out, "the first one, which scans every event", whole_pass(connection));
  const Pass after = whole_pass(connection);
  print(out, "those after it", after);
  out << "  1 / " << before.time.count() / after.time.count() << " of what it was\n";
}

// The durations of all steps, in their order.
std::vector<double> steps(PGconn* connection, const std::string& sql) {
  std::vector<double> times;
  for (bool done = false; !done;) {
    const auto begin = Stopwatch::now();
    const PgResult result = execute(connection, sql.c_str());
    times.push_back(Milliseconds(Stopwatch::now() - begin).count());
    done = std::string_view(PQgetvalue(result.get(), 0, 0)) == "t";
  }
  return times;
}

void print_steps(std::ostream& out, const char* what, std::vector<double> times) {
  if (times.empty()) return;
  const double first = times.front();
  std::vector<double> last(times.end() - std::min<std::ptrdiff_t>(20, std::ssize(times)),
                           times.end());
  std::sort(last.begin(), last.end());
  std::sort(times.begin(), times.end());
  out << "  " << what << ": " << times.size() << " steps, the first " << first << " ms, the median "
      << times[times.size() / 2] << " ms, of the last 20 " << last[last.size() / 2]
      << " ms, the longest " << times.back() << " ms\n";
}

void measure_claims(PGconn* connection, std::size_t claims, std::ostream& out) {
  const std::string add =
      "INSERT INTO hapax.claim (key, token, expires_at) SELECT sha256(int8send(n)), '',"
      " now() + CASE n % 20 WHEN 0 THEN interval '-1 day' ELSE interval '20 days' END"
      " FROM generate_series(1, " +
      std::to_string(claims) + "::bigint) AS n";
  execute(connection, "TRUNCATE hapax.claim");
  execute(connection, add.c_str());
  execute(connection, "VACUUM (ANALYZE) hapax.claim");
  out << "steps of 500 through " << claims
      << " claims of two different remember, a twentieth of them over\n";
  print_steps(out, "while there are some to remove",
              steps(connection, "SELECT done FROM hapax._retain_claims(4, 500, NULL)"));
  execute(connection, "VACUUM hapax.claim");
  print_steps(out, "when they are gone",
              steps(connection, "SELECT done FROM hapax._retain_claims(4, 500, NULL)"));
  print_steps(out, "a step of migration 0006 then",
              steps(connection, "SELECT hapax._purge(500, NULL) < 500"));
}

}  // namespace

void measure_retention(PostgresPlace& place, std::size_t events, std::size_t claims,
                       std::ostream& out) {
  const std::string url = place.fresh_url();
  must(migrate(url));
  const PgHandle connection = connect(url);
  measure_pass(connection.get(), events, out);
  measure_claims(connection.get(), claims, out);
}

}  // namespace hapax::bench
