// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/send_summary.hpp"

#include "cli/admin_client.hpp"

#include <boost/json.hpp>

#include <cstdio>

namespace hapax::cli {

namespace {

namespace json = boost::json;

std::string fixed(double number, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, number);
  return text.data();
}

double seconds_of(const Tally& tally) {
  return std::chrono::duration<double>(tally.took).count();
}

double per_second(const Tally& tally) {
  const double seconds = seconds_of(tally);
  return seconds > 0 ? static_cast<double>(tally.sent) / seconds : 0;
}

// The failure and its remedy.
std::string advice(const http::Failure& failure) {
  switch (failure.trouble) {
    case http::Trouble::refused:
      return failure.detail + "; is 'hapax serve' running there?";
    case http::Trouble::certificate:
      return failure.detail + "; give the certificate of its CA with --ca FILE";
    case http::Trouble::timed_out:
      return failure.detail + (failure.sent ? "; use --timeout to wait longer" : "");
    case http::Trouble::malformed:
      return failure.detail + "; is it http instead of https, or another program?";
    default:
      return failure.detail;
  }
}

std::string advice(const std::string& reason) {
  if (reason == "signature-invalid" || reason == "signature-missing") {
    return "are preset and secret those of this source?";
  }
  if (reason == "timestamp-outside-window") return "are the clocks of both machines synchronized?";
  if (reason == "source-unknown") return "does the URL end in /in/ and the source's name?";
  if (reason == "body-too-large") return "see max_body in hapax.toml";
  return {};
}

std::string in_lines(const Tally& tally) {
  std::string text = "sent       " + std::to_string(tally.sent) + "\naccepted   " +
                     std::to_string(tally.accepted) + "\nduplicate  " +
                     std::to_string(tally.duplicate) + "\nrefused    " +
                     std::to_string(tally.refusals());
  for (const auto& [reason, count] : tally.refused) {
    const std::string help = advice(reason);
    text += "\n  " + reason + " " + std::to_string(count) + (help.empty() ? "" : ": " + help);
  }
  text += "\nfailed     " + std::to_string(tally.failed);
  if (tally.first_failure) text += "\n  the first: " + advice(*tally.first_failure);
  if (tally.retried > 0) text += "\nretries    " + std::to_string(tally.retried);
  text += "\nseconds    " + fixed(seconds_of(tally), 3) + "\nper second " +
          fixed(per_second(tally), 0) + "\nlatency    p50 " + fixed(tally.latency_ms(50), 2) +
          " ms, p90 " + fixed(tally.latency_ms(90), 2) + " ms, p99 " +
          fixed(tally.latency_ms(99), 2) + " ms, max " + fixed(tally.latency_ms(100), 2) + " ms";
  return text;
}

std::string in_json(const Tally& tally) {
  std::string text = "{\"sent\":" + std::to_string(tally.sent) +
                     ",\"accepted\":" + std::to_string(tally.accepted) +
                     ",\"duplicate\":" + std::to_string(tally.duplicate) + ",\"refused\":{";
  for (const auto& [reason, count] : tally.refused) {
    text += (text.back() == '{' ? "" : ",") + json_string(reason) + ":" + std::to_string(count);
  }
  text += "},\"failed\":" + std::to_string(tally.failed) +
          ",\"retried\":" + std::to_string(tally.retried);
  if (tally.first_failure) text += ",\"failure\":" + json_string(advice(*tally.first_failure));
  return text + ",\"seconds\":" + fixed(seconds_of(tally), 6) +
         ",\"per_second\":" + fixed(per_second(tally), 1) +
         ",\"latency_ms\":{\"p50\":" + fixed(tally.latency_ms(50), 3) +
         ",\"p90\":" + fixed(tally.latency_ms(90), 3) +
         ",\"p99\":" + fixed(tally.latency_ms(99), 3) +
         ",\"max\":" + fixed(tally.latency_ms(100), 3) + "}}";
}

int exit_code(const Tally& tally) {
  return tally.failed == 0 && tally.refused.empty() ? kDone : kFailed;
}

std::string text_of(const json::value& answer, std::string_view name) {
  const json::value* found = member_in(answer, name);
  if (found == nullptr || !found->is_string()) return {};
  return std::string(found->get_string());
}

int say_taken(const Tally& tally, const json::value& answer, const Output& output) {
  const bool duplicate = tally.duplicate > 0;
  const std::string event = text_of(answer, "event");
  const std::string id = text_of(answer, "id");
  const std::string word = duplicate ? "duplicate" : "accepted";
  output.answer(word + (event.empty() ? "" : ": event " + event) +
                    (id.empty() ? "" : ", id " + id) +
                    (event.empty() ? "\n" + tally.last->body : ""),
                "{\"status\":" + std::to_string(tally.last->status) +
                    ",\"duplicate\":" + (duplicate ? "true" : "false") +
                    (event.empty() ? ",\"answer\":" + json_string(tally.last->body)
                                   : ",\"event\":" + json_string(event)) +
                    (id.empty() ? "" : ",\"id\":" + json_string(id)) +
                    ",\"latency_ms\":" + fixed(tally.latency_ms(100), 3) + "}");
  return kDone;
}

}  // namespace

std::string progress_line(const Tally& tally, std::uint64_t count) {
  return std::to_string(tally.sent) + " of " + std::to_string(count) + ": " +
         std::to_string(tally.accepted) + " accepted, " + std::to_string(tally.duplicate) +
         " duplicate, " + std::to_string(tally.refusals()) + " refused, " +
         std::to_string(tally.failed) + " failed, " + fixed(per_second(tally), 0) + "/s";
}

int summarize(const Tally& tally, const Output& output) {
  output.answer(in_lines(tally), in_json(tally));
  return exit_code(tally);
}

int say_answer(const Tally& tally, const Output& output) {
  if (tally.first_failure) {
    const http::Failure& failure = *tally.first_failure;
    return output.fail(Error(Code::misconfigured,
                             failure.sent ? Outcome::unknown : Outcome::did_not_happen,
                             advice(failure)));
  }
  json::error_code error;
  const json::value answer = json::parse(tally.last->body, error);
  if (tally.refused.empty()) return say_taken(tally, answer, output);
  const std::string reason = reason_of(*tally.last);
  const std::string detail = text_of(answer, "detail");
  const std::string help = advice(reason);
  output.answer("rejected with " + std::to_string(tally.last->status) + ", " + reason +
                    (detail.empty() ? "" : ": " + detail) + (help.empty() ? "" : " (" + help + ")"),
                "{\"status\":" + std::to_string(tally.last->status) + ",\"refused\":" +
                    json_string(reason) + ",\"detail\":" + json_string(detail) + "}");
  return kFailed;
}

}  // namespace hapax::cli
