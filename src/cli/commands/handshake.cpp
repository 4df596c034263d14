// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/duration.hpp"
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/percent.hpp"

namespace hapax::cli {

namespace {

namespace json = boost::json;

struct HandshakeArguments {
  AdminArguments admin;
  std::string source;
  std::string tenant;
  std::string time;
};

std::string in_sentences(const json::value& state) {
  const std::string until = member_text(state, "open_until");
  const std::string taken = member_text(state, "taken_at");
  std::string text = until.empty() ? "The handshake window is closed."
                                   : "The window is open until " + until +
                                         "; the next provisioned secret is accepted.";
  text += " Provisioned secrets: " + member_text(state, "secrets") +
          (taken.empty() ? "." : ", last at " + taken + ".");
  const json::array& urls = list_or_none(state, "confirm_urls");
  if (urls.empty()) return text;
  text = "Pending subscriptions; open the URL to confirm:";
  for (const json::value& each : urls) {
    if (!each.is_string()) continue;
    text += "\n  " + without_controls({each.get_string().data(), each.get_string().size()});
  }
  return text;
}

Result<json::value> ask(const HandshakeArguments& arguments) {
  const std::string target = "/v1/sources/" + percent_encoded(arguments.source) + "/handshake";
  std::string body;
  if (!arguments.time.empty()) {
    HAPAX_TRY_ASSIGN(time, parse_duration(arguments.time));
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(time).count();
    body = "{\"for_s\":" + std::to_string(seconds) +
           (arguments.tenant.empty() ? "" : ",\"tenant\":" + json_string(arguments.tenant)) + "}";
  }
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments.admin));
  if (!body.empty()) return admin.post_json(target, body);
  return admin.get_json(
      target + (arguments.tenant.empty() ? "" : "?tenant=" + percent_encoded(arguments.tenant)));
}

Result<int> handshake(const HandshakeArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(state, ask(arguments));
  output.answer(in_sentences(state), json::serialize(state));
  return kDone;
}

}  // namespace

Command handshake_command() {
  auto given = std::make_shared<HandshakeArguments>();
  return {
      .name = "handshake",
      .help =
          "Open the handshake window for a provisioned secret (Asana, Notion), or show pending "
          "confirmations",
      .shared = {given->admin.options()},
      .options = {{"source", &given->source, "The source", kRequired},
                  {"--tenant", &given->tenant, "Declared tenant"},
                  {"--for", &given->time,
                   "Keep the window open this long, such as 10m; 0s closes it"}},
      .run = run_with(given, handshake),
  };
}

}  // namespace hapax::cli
