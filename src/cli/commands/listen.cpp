// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/base64.hpp"
#include "base/calendar.hpp"
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/blocking_client.hpp"
#include "cli/command.hpp"
#include "cli/interrupted.hpp"
#include "cli/percent.hpp"
#include "deliver/classify_response.hpp"
#include "deliver/outgoing.hpp"
#include "env/pause.hpp"

#include <algorithm>
#include <iostream>

namespace hapax::cli {

namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kTimeout{30};  // of the developer's handler
constexpr std::int64_t kLease = 60;           // seconds; longer than kTimeout
constexpr std::int64_t kWait = 2;             // seconds of a long poll; the maximum delay of Ctrl-C
constexpr std::int64_t kRetryAfter = 10;
constexpr std::chrono::minutes kRegisterAgain{10};
constexpr int kMaxRefusals = 5;
constexpr std::chrono::seconds kAway{1};  // before an unavailable server is tried again

struct ListenArguments {
  AdminArguments admin;
  std::string name;
  std::string to;
  std::vector<std::string> sources;
  bool end = false;
};

// A handler on this machine, with one connection to it.
class Handler {
 public:
  explicit Handler(const http::Url& to, std::shared_ptr<const http::ClientTls> tls)
      : target_(to.target), client_(to, limits(), std::move(tls)) {}

  http::Exchanged post(const std::vector<OwnedHeader>& headers, std::string_view body) {
    std::vector<Header> views;
    views.reserve(headers.size());
    for (const OwnedHeader& each : headers) views.push_back({each.name, each.value});
    return client_.exchange({"POST", target_, views, body});
  }

 private:
  static http::ClientLimits limits() {
    http::ClientLimits limits;
    limits.total = kTimeout;
    return limits;
  }

  const std::string target_;
  BlockingClient client_;
};

std::string as_it_is(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : std::string();
}

json::value member(const json::value& object, std::string_view name) {
  const json::value* const found = object.get_object().if_contains(json::string_view(name));
  return found != nullptr ? *found : json::value(nullptr);
}

// Parses [["name","base64 of the value"]], the headers that the server itself would send. Empty if
// the server does not provide them.
std::vector<OwnedHeader> pushed_headers(const json::value& delivery) {
  std::vector<OwnedHeader> headers;
  for (const json::value& each : list_or_none(delivery, "push_headers")) {
    if (!each.is_array() || each.get_array().size() != 2) continue;
    std::optional<std::string> value = from_base64(as_it_is(each.get_array()[1]));
    if (value) headers.push_back({as_it_is(each.get_array()[0]), *std::move(value)});
  }
  return headers;
}

// An older server does not provide the headers; they are then built from the members of the
// delivery. These are text, so non-ASCII bytes of a header or id cannot be distinguished from
// characters.
std::vector<OwnedHeader> headers_of(const json::value& delivery) {
  std::vector<OwnedHeader> headers = pushed_headers(delivery);
  if (!headers.empty()) return headers;
  for (const json::value& each : list_or_none(delivery, "headers")) {
    if (!each.is_array() || each.get_array().size() != 2) continue;
    const std::string name = as_it_is(each.get_array()[0]);
    if (deliver::goes_on(name)) headers.push_back({name, as_it_is(each.get_array()[1])});
  }
  const auto add = [&](const char* name, std::string_view member) {
    const std::string value = member_text(delivery, member);
    if (!value.empty()) headers.push_back({name, value});
  };
  add("Idempotency-Key", "delivery");
  add("Hapax-Event", "event");
  headers.push_back({"Hapax-Id", deliver::header_text(as_it_is(member(delivery, "id")))});
  add("Hapax-Source", "source");
  add("Hapax-Tenant", "tenant");
  add("Hapax-Attempt", "attempt");
  add("Hapax-Fence", "fence");
  add("Hapax-Received-At", "received_at");
  add("Hapax-Replay-Of", "replay_of");
  add("Hapax-Would", "would");
  return headers;
}

// The result of a request to the handler.
struct Handled {
  bool done = false;
  std::string said;  // status code, or the failure
};

Handled handle(Handler& handler, const json::value& delivery) {
  const std::optional<std::string> body = from_base64(member_text(delivery, "body_base64"));
  if (!body) return {false, "the server's response is malformed"};
  const http::Exchanged exchanged = handler.post(headers_of(delivery), *body);
  if (!exchanged.response) return {false, exchanged.failure.detail};
  const int status = exchanged.response->status;
  return {deliver::is_success(status), std::to_string(status)};
}

std::string settlement_of(const json::value& delivery, const Handled& handled) {
  json::object result{{"delivery", delivery.at("delivery")},
                      {"fence", delivery.at("fence")},
                      {"outcome", handled.done ? "ack" : "retry"}};
  if (!handled.done) {
    result["retry_after_s"] = kRetryAfter;
    result["error"] = json::string_view(handled.said).substr(0, 200);
  }
  return json::serialize(json::object{{"results", json::array{std::move(result)}}});
}

class Listening {
 public:
  Listening(AdminClient admin, Handler& handler, const ListenArguments& arguments, Clock& clock,
            const Output& output)
      : admin_(std::move(admin)),
        handler_(handler),
        arguments_(arguments),
        clock_(clock),
        output_(output) {}

  // Runs until Ctrl-C. Returns an error if the first registration fails or the server rejects
  // several requests in a row.
  Result<void> run() {
    while (!interrupted()) {
      Result<void> turned = turn();
      if (turned) refusals_ = 0;
      if (turned) continue;
      // An unavailable server is retried. An unknown name may have been registered at another node,
      // and reaches this one within a second; or the registration was ended.
      const bool refused = turned.error().code() != Code::misconfigured;
      if (!was_there_ || (refused && ++refusals_ > kMaxRefusals)) return turned;
      output_.progress("retrying: " + turned.error().detail());
      registered_.reset();
      pause(kAway);
    }
    return {};
  }

 private:
  Result<void> turn() {
    HAPAX_TRY(say_that_we_are_there());
    const json::object request{{"destination", json::string_view(arguments_.name)},
                               {"max", 1},
                               {"lease_s", kLease},
                               {"wait_s", kWait}};
    HAPAX_TRY_ASSIGN(answer, admin_.post_json("/v1/lease", json::serialize(request)));
    for (const json::value& each : list_or_none(answer, "deliveries")) {
      if (!each.is_object() || !each.get_object().contains("delivery") ||
          !each.get_object().contains("fence")) {
        continue;
      }
      const Handled handled = handle(handler_, each);
      say(each, handled);
      HAPAX_TRY(admin_.post_json("/v1/settle", settlement_of(each, handled)));
    }
    return {};
  }

  Result<void> say_that_we_are_there() {
    const BootTime now = clock_.since_boot();
    if (registered_ && now < *registered_ + kRegisterAgain) return {};
    json::array sources;
    for (const std::string& each : arguments_.sources)
      sources.emplace_back(json::string_view(each));
    const json::object request{{"name", json::string_view(arguments_.name)},
                               {"sources", std::move(sources)}};
    HAPAX_TRY(admin_.post_json("/v1/listen", json::serialize(request)));
    if (!was_there_) output_.progress("listening as '" + arguments_.name + "'");
    was_there_ = true;
    registered_ = now;
    return {};
  }

  void say(const json::value& delivery, const Handled& handled) const {
    const std::string at = format_rfc3339(clock_.wall());
    const json::object line{{"at", json::string_view(at)},
                            {"event", member(delivery, "event")},
                            {"source", member(delivery, "source")},
                            {"id", member(delivery, "id")},
                            {"attempt", member(delivery, "attempt")},
                            {"outcome", handled.done ? "ack" : "retry"},
                            {"answer", json::string_view(handled.said)}};
    output_.answer(at + "  " + member_text(delivery, "event") + "  " +
                       member_text(delivery, "source") + "  " + member_text(delivery, "id") + "  " +
                       without_controls(handled.said),
                   json::serialize(line));
    std::cout.flush();
  }

  AdminClient admin_;
  Handler& handler_;
  const ListenArguments& arguments_;
  Clock& clock_;
  const Output& output_;
  std::optional<BootTime> registered_;
  bool was_there_ = false;
  int refusals_ = 0;  // consecutive
};

Result<int> end_registration(const ListenArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments.admin));
  HAPAX_TRY_ASSIGN(answer, admin.delete_json("/v1/listen/" + percent_encoded(arguments.name)));
  output.answer("'" + arguments.name + "' is unregistered.", json::serialize(answer));
  return kDone;
}

Result<int> listen(const ListenArguments& arguments, const Output& output) {
  if (arguments.end) return end_registration(arguments, output);
  if (arguments.to.empty()) {
    return output.wrong_usage("--to is required, for example --to http://localhost:3000");
  }
  const Result<http::Url> to = http::parse_url(arguments.to);
  if (!to) return output.wrong_usage("--to: " + to.error().detail());
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments.admin));
  std::shared_ptr<const http::ClientTls> tls;
  if (to->tls) {
    HAPAX_TRY_TO(tls, http::ClientTls::make(arguments.admin.ca));
  }
  const std::unique_ptr<Clock> clock = make_system_clock();
  Handler handler(*to, std::move(tls));
  HAPAX_TRY(Listening(std::move(admin), handler, arguments, *clock, output).run());
  return kDone;
}

}  // namespace

Command listen_command() {
  auto given = std::make_shared<ListenArguments>();
  return {
      .name = "listen",
      .help = "Receive events of a running server on this machine during development",
      .shared = {given->admin.options()},
      .options =
          {{"--name", &given->name, "Listener name; pending events are kept under it", kRequired},
           {"--to", &given->to, "URL to post to: http://localhost:3000"},
           {"--source", &given->sources, "Only this source; repeatable", {.several_each = true}},
           {"--end", &given->end, "Unregister and exit"}},
      .run = run_with(given, listen),
  };
}

}  // namespace hapax::cli
