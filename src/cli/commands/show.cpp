// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/percent.hpp"
#include "cli/table.hpp"
#include "cli/text_layout.hpp"
#include "store/batch.hpp"

#include <algorithm>
#include <map>

namespace hapax::cli {

namespace {

namespace json = boost::json;

struct ShowArguments {
  AdminArguments admin;
  std::string event;
  bool body = false;
};

bool is_set(const json::value& object, std::string_view member) {
  return member_text(object, member) == "true";
}

// Formats an RFC 3339 time in UTC as "2025-10-09 08:53:20"; returns other text unchanged.
std::string utc_of(const json::value& object, std::string_view member) {
  constexpr std::size_t kDate = 10;
  constexpr std::size_t kSeconds = 19;
  std::string text = member_text(object, member);
  if (text.size() <= kSeconds || text[kDate] != 'T' || text.back() != 'Z') return text;
  text[kDate] = ' ';
  return text.substr(0, kSeconds);
}

// "12 ms", "1.2 s", "2m 5s"
std::string span_of(std::int64_t ms) {
  if (ms < 1000) return std::to_string(ms) + " ms";
  if (ms < 60'000) {
    return std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 / 100) + " s";
  }
  return std::to_string(ms / 60'000) + "m " + std::to_string(ms % 60'000 / 1000) + "s";
}

// Collapses whitespace, so that text of several lines fits one.
std::string in_one_line(const json::value& object, std::string_view member) {
  const json::value* found = member_in(object, member);
  if (found == nullptr || !found->is_string()) return {};
  std::string text;
  for (const char each : found->get_string()) {
    const bool space = each == ' ' || each == '\n' || each == '\r' || each == '\t';
    if (!space) text += each;
    if (space && !text.empty() && text.back() != ' ') text += ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  return without_controls(text);
}

// Removes columns without any value.
Rows without_empty_columns(Rows rows) {
  for (std::size_t i = rows.front().size(); i-- > 0;) {
    const auto is_empty = [i](const auto& row) { return row[i].empty(); };
    if (!std::all_of(rows.begin() + 1, rows.end(), is_empty)) continue;
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return rows;
}

void add_table(std::string& text, std::string_view title, Rows rows) {
  if (rows.size() < 2) return;
  text += std::string(title) + "\n" + aligned(without_empty_columns(std::move(rows)), "  ") + "\n";
}

std::string status_of(const json::value& delivery) {
  const std::string status = member_text(delivery, "status");
  const std::string reason = member_text(delivery, "reason");
  return status + (reason.empty() || reason == status ? "" : " (" + reason + ")");
}

std::string next_or_ended(const json::value& delivery) {
  if (const std::string ended = utc_of(delivery, "ended_at"); !ended.empty()) {
    return "ended " + ended + (is_set(delivery, "blocking") ? ", blocks its lane" : "");
  }
  if (const std::string until = utc_of(delivery, "lease_until"); !until.empty()) {
    return "leased until " + until;
  }
  if (is_set(delivery, "waiting")) return "waiting in its lane";
  const std::string due = utc_of(delivery, "due_at");
  return due.empty() ? "" : "due " + due;
}

// The number of listed attempts of each delivery.
using Counts = std::map<std::string, std::size_t>;

std::string attempts_of(const json::value& delivery, const Counts& listed, bool all) {
  const auto found = listed.find(member_text(delivery, "delivery"));
  std::string text = std::to_string(found == listed.end() ? 0 : found->second) + (all ? "" : "+");
  const std::int64_t abandons = member_number(delivery, "abandons");
  return abandons == 0 ? text : text + ", " + std::to_string(abandons) + " abandoned";
}

// The status code, the error, or both if the error adds information.
std::string result_of(const json::value& attempt) {
  const std::string status = member_text(attempt, "http_status");
  const std::string error = in_one_line(attempt, "error");
  if (status.empty()) return error.empty() ? member_text(attempt, "outcome") : error;
  return error.empty() || error == "status" ? status : status + " " + error;
}

void add_deliveries(std::string& text, const json::value& event) {
  const json::array& deliveries = list_or_none(event, "deliveries");
  const json::array& attempts = list_or_none(event, "attempts");
  const bool all = attempts.size() < store::kMaxShownAttempts;
  Counts listed;
  Rows tried{{"delivery", "number", "when (UTC)", "took", "result", "excerpt"}};
  for (const json::value& each : attempts) {
    const std::string delivery = member_text(each, "delivery");
    tried.push_back({deliveries.size() == 1 ? "" : delivery, std::to_string(++listed[delivery]),
                     utc_of(each, "at"), span_of(member_number(each, "took_ms")), result_of(each),
                     in_one_line(each, "excerpt")});
  }
  std::stable_sort(tried.begin() + 1, tried.end(),
                   [](const auto& a, const auto& b) { return a.front() < b.front(); });
  Rows rows{{"delivery", "destination", "status", "attempts", "next or ended (UTC)", "replay of"}};
  for (const json::value& each : deliveries) {
    rows.push_back({member_text(each, "delivery"), member_text(each, "destination"),
                    status_of(each), attempts_of(each, listed, all), next_or_ended(each),
                    member_text(each, "replay_of")});
  }
  add_table(text, "deliveries", std::move(rows));
  add_table(
      text,
      all ? "attempts" : "attempts, the last " + std::to_string(attempts.size()) + " of this event",
      std::move(tried));
}

void add_variants(std::string& text, const json::value& event) {
  const json::array& variants = list_or_none(event, "variants");
  if (!variants.empty()) text += "changed bodies under the same id: received (UTC), sha256\n";
  for (const json::value& each : variants) {
    text += "  " + utc_of(each, "at") + "  " + member_text(each, "sha256") + "\n";
  }
}

std::string event_in_lines(const json::value& event) {
  constexpr std::size_t kWidth = 12;
  std::string text;
  for (const std::string_view each :
       {"event", "source", "tenant", "id", "type", "order_key", "version", "received_at", "status",
        "size", "sha256", "duplicates", "would"}) {
    add_line(text, kWidth, each, member_text(event, each));
  }
  add_headers(text, event);
  add_deliveries(text, event);
  add_variants(text, event);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Result<int> show_event(const ShowArguments& arguments, const Output& output) {
  return print_record(arguments.admin, "/v1/events/" + percent_encoded(arguments.event),
                      arguments.body, event_in_lines, output);
}

}  // namespace

Command show_command() {
  auto given = std::make_shared<ShowArguments>();
  return {
      .name = "show",
      .help = "Show one event of a running server, with its deliveries and their attempts",
      .shared = {given->admin.options()},
      .options = {{"event", &given->event, "Event id, as listed by 'hapax events'", kRequired},
                  {"--body", &given->body, "Write only the original body"}},
      .run = run_with(given, show_event),
  };
}

}  // namespace hapax::cli
