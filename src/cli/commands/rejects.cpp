// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/filter.hpp"
#include "cli/pages.hpp"
#include "cli/percent.hpp"
#include "cli/table.hpp"
#include "cli/text_layout.hpp"

#include <array>

namespace hapax::cli {

namespace {

namespace json = boost::json;

struct RejectsArguments {
  AdminArguments admin;
  std::string source, reason, since, until;
  std::uint64_t limit = 50;
  std::string reject;
  bool body = false;
  bool all = false;
  bool dry_run = false;
};

Parameters filter_of(const RejectsArguments& arguments) {
  return {{"source", arguments.source},
          {"reason", arguments.reason},
          {"since", arguments.since},
          {"until", arguments.until}};
}

// The numbers of kept, evicted and dropped rejects, one line for each source that lost some.
std::string not_kept(const json::array& counts) {
  std::string text;
  for (const json::value& each : counts) {
    const std::string evicted = member_text(each, "evicted");
    const std::string dropped = member_text(each, "dropped");
    if (evicted == "0" && dropped == "0") continue;
    text += '\n';
    text += member_text(each, "source");
    text += ": ";
    text += member_text(each, "kept");
    text += " kept, ";
    text += evicted;
    text += " evicted, ";
    text += dropped;
    text += " dropped";
  }
  return text;
}

Result<int> list_rejects(const RejectsArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(listed, read_pages(arguments.admin, "/v1/rejects", "rejects",
                                      query_of(filter_of(arguments)), arguments.limit));
  const std::string counts = not_kept(list_or_none(listed.last, "counts"));
  constexpr std::array<std::string_view, 7> kColumns{"reject",  "received_at", "source", "reason",
                                                     "address", "size",        "detail"};
  print_table(output, kColumns, listed.rows, "No such rejects.", counts);
  return kDone;
}

std::string reject_in_lines(const json::value& reject) {
  constexpr std::size_t kWidth = 13;
  std::string text;
  for (const std::string_view each : {"reject", "source", "tenant", "reason", "detail",
                                      "received_at", "address", "method", "target", "size"}) {
    add_line(text, kWidth, each, member_text(reject, each));
  }
  add_headers(text, reject);
  const json::value* now = member_in(reject, "now");
  const bool admissible = now != nullptr && member_text(*now, "admissible") == "true";
  text += admissible ? "It would be accepted now.\n" : "It would be rejected now";
  if (!admissible && now != nullptr) {
    text += ": " + member_text(*now, "reason") + ", " + member_text(*now, "detail") + "\n";
  }
  for (const json::value& each : list_or_none(reject, "explanation")) {
    if (!each.is_string()) continue;
    text += "  " + without_controls({each.get_string().data(), each.get_string().size()}) + "\n";
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Result<int> show_reject(const RejectsArguments& arguments, const Output& output) {
  return print_record(arguments.admin, "/v1/rejects/" + percent_encoded(arguments.reject),
                      arguments.body, reject_in_lines, output);
}

Result<int> admit_one(const RejectsArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments.admin));
  const std::string target = "/v1/rejects/" + percent_encoded(arguments.reject) + "/admit";
  HAPAX_TRY_ASSIGN(answer, admin.post_json(target, ""));
  const bool duplicate = member_text(answer, "duplicate") == "true";
  const std::string event = member_text(answer, "event");
  const std::string what = event.empty()
                               ? "Admitted: " + member_text(answer, "accepted") + " events, " +
                                     member_text(answer, "duplicates") + " duplicates."
                               : "Admitted as " + event + ".";
  output.answer(duplicate ? "A duplicate of " + event + "." : what, json::serialize(answer));
  return kDone;
}

// Totals over all pages of the request.
struct Sums {
  std::array<std::uint64_t, 4> counts{};
  json::object reasons;
};
constexpr std::array<std::string_view, 4> kCounts{"matched", "admitted", "duplicates",
                                                  "still_invalid"};

std::uint64_t number_in(const json::value& object, std::string_view name) {
  return static_cast<std::uint64_t>(member_number(object, name));
}

void add(Sums& sums, const json::value& answer) {
  for (std::size_t i = 0; i < kCounts.size(); ++i) sums.counts[i] += number_in(answer, kCounts[i]);
  const json::value* reasons = member_in(answer, "reasons");
  if (reasons == nullptr || !reasons->is_object()) return;
  for (const auto& each : reasons->get_object()) {
    const std::string_view name(each.key().data(), each.key().size());
    const std::uint64_t before = number_in(sums.reasons, name);
    sums.reasons[each.key()] = static_cast<std::int64_t>(before + number_in(*reasons, name));
  }
}

Result<Sums> all_steps(const RejectsArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments.admin));
  Sums sums;
  json::object request{{"filter", object_of(filter_of(arguments))}, {"dry_run", arguments.dry_run}};
  for (;;) {
    HAPAX_TRY_ASSIGN(answer, admin.post_json("/v1/rejects/admit", json::serialize(request)));
    add(sums, answer);
    output.progress(std::to_string(sums.counts[0]) + " rejects processed");
    const std::string next = member_text(answer, "next");
    if (next.empty()) return sums;
    request["after"] = json::string_view(next.data(), next.size());
  }
}

Result<int> admit_many(const RejectsArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(sums, all_steps(arguments, output));
  json::object answer{{"dry_run", arguments.dry_run}};
  for (std::size_t i = 0; i < kCounts.size(); ++i) {
    answer[kCounts[i]] = static_cast<std::int64_t>(sums.counts[i]);
  }
  answer["reasons"] = sums.reasons;
  const auto count = [&](std::size_t i) { return std::to_string(sums.counts[i]); };
  std::string text = (arguments.dry_run ? "Would be admitted: " : "Admitted: ") + count(1) +
                     ". Duplicates: " + count(2) + ". Still invalid: " + count(3) + ".";
  for (const auto& each : sums.reasons) {
    text += "\n  " + std::string(each.key()) + " " + json::serialize(each.value());
  }
  output.answer(text, json::serialize(answer));
  return kDone;
}

Result<int> admit(const RejectsArguments& arguments, const Output& output) {
  const bool filtered = arguments.all || !query_of(filter_of(arguments)).empty();
  if (arguments.reject.empty() == !filtered) {
    return output.wrong_usage(
        "give one reject, or a filter: --source, --reason, --since, --until, --all");
  }
  return filtered ? admit_many(arguments, output) : admit_one(arguments, output);
}

std::vector<Option> filter_options(RejectsArguments& given) {
  return {{"--source", &given.source, "Filter by source"},
          {"--reason", &given.reason, "Filter by reason, such as signature-invalid"},
          {"--since", &given.since, "Received at or after (RFC 3339): 2025-10-09T08:53:20Z"},
          {"--until", &given.until, "Received before (RFC 3339)"}};
}

}  // namespace

Command rejects_command() {
  auto given = std::make_shared<RejectsArguments>();
  return {
      .name = "rejects",
      .help = "List, explain and re-admit rejected requests of a running server",
      .shared = {given->admin.options(), filter_options(*given)},
      .options = {{"--limit", &given->limit, "Maximum number", between(1, 1'000'000)}},
      .run = run_with(given, list_rejects),
      .subcommands =
          {{.name = "show",
            .help = "Show one reject and its reason",
            .options = {{"reject", &given->reject, "As 'hapax rejects' lists it", kRequired},
                        {"--body", &given->body, "Write only the body"}},
            .run = run_with(given, show_reject)},
           {.name = "admit",
            .help = "Verify again with the current configuration as of the time of receipt",
            .shared = {filter_options(*given)},
            .options = {{"reject", &given->reject,
                         "One reject; or select several with the options"},
                        {"--all", &given->all, "All rejects"},
                        {"--dry-run", &given->dry_run, "Dry run: report what would be admitted"}},
            .run = run_with(given, admit)}},
  };
}

}  // namespace hapax::cli
