// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/names.hpp"
#include "admin/query.hpp"
#include "base/calendar.hpp"
#include "base/json_text.hpp"
#include "base/try.hpp"
#include "gateway/readmit.hpp"
#include "http/problem.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace hapax::admin {

namespace {

namespace json = boost::json;
using gateway::Readmission;

constexpr std::string_view kWrite =
    R"(write {"filter":{"source":"...","reason":"...","since":"...","until":"..."},)"
    R"("dry_run":false,"after":null,"limit":500}; all of it may be left out)";
constexpr std::int64_t kMaxAtOnce = 1000;

Error bad(std::string_view what) {
  return Error(Code::invalid_argument, std::string(what) + "; " + std::string(kWrite));
}

Result<void> check_members(const json::object& object,
                           std::initializer_list<std::string_view> known) {
  for (const auto& member : object) {
    const std::string_view name(member.key().data(), member.key().size());
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return bad("there is no member '" + std::string(name.substr(0, 64)) + "'");
    }
  }
  return {};
}

// A text; nothing where there is none, or null.
Result<std::optional<std::string>> text_in(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return std::optional<std::string>();
  const json::string* const text = value->if_string();
  if (text == nullptr) return bad(std::string(name) + " is not a string");
  return std::optional(std::string(text->data(), text->size()));
}

Result<std::optional<WallTime>> time_in(const json::object& object, std::string_view name) {
  HAPAX_TRY_ASSIGN(text, text_in(object, name));
  if (!text) return std::optional<WallTime>();
  const std::optional<WallTime> time = parse_rfc3339(*text);
  if (!time) return bad(std::string(name) + " is not a time of RFC 3339");
  return time;
}

// What is asked for, with the texts that it shows.
struct Asked {
  Readmission::Step step;
  std::string reason;
  std::optional<std::string> source;
};

Result<void> read_filter(const json::object& object, Asked& asked) {
  HAPAX_TRY(check_members(object, {"source", "reason", "since", "until"}));
  HAPAX_TRY_ASSIGN(source, text_in(object, "source"));
  asked.source = std::move(source);
  HAPAX_TRY_ASSIGN(reason, text_in(object, "reason"));
  asked.reason = std::move(reason).value_or("");
  HAPAX_TRY_ASSIGN(since, time_in(object, "since"));
  asked.step.filter.since = since;
  HAPAX_TRY_ASSIGN(until, time_in(object, "until"));
  asked.step.filter.until = until;
  return {};
}

Result<void> read_how(const json::object& object, Asked& asked) {
  if (const json::value* dry = object.if_contains("dry_run")) {
    if (!dry->is_bool()) return bad("dry_run is not true or false");
    asked.step.dry = dry->get_bool();
  }
  if (const json::value* limit = object.if_contains("limit")) {
    const std::int64_t* const number = limit->if_int64();
    if (number == nullptr || *number < 1 || *number > kMaxAtOnce) {
      return bad("limit is not a number from 1 to " + std::to_string(kMaxAtOnce));
    }
    asked.step.limit = static_cast<std::size_t>(*number);
  }
  HAPAX_TRY_ASSIGN(after, text_in(object, "after"));
  if (!after) return {};
  const std::optional<RejectNo> number = reject_from(*after);
  if (!number) return bad("after is not the 'next' of the answer before");
  asked.step.after = *number;
  return {};
}

Result<void> read_body(std::string_view body, Asked& asked) {
  if (body.empty()) return {};
  json::error_code error;
  const json::value value = json::parse(json::string_view(body.data(), body.size()), error);
  if (error) return bad("the body is not JSON: " + error.message());
  const json::object* const object = value.if_object();
  if (object == nullptr) return bad("the body is not a JSON object");
  HAPAX_TRY(check_members(*object, {"filter", "dry_run", "limit", "after"}));
  HAPAX_TRY(read_how(*object, asked));
  const json::value* const filter = object->if_contains("filter");
  if (filter == nullptr) return {};
  if (!filter->is_object()) return bad("filter is not an object");
  return read_filter(filter->get_object(), asked);
}

std::string stepped_json(const Readmission::Stepped& stepped, bool dry) {
  JsonObject reasons;
  for (const auto& [reason, count] : stepped.reasons) {
    reasons.number(reason, static_cast<std::int64_t>(count));
  }
  return JsonObject()
      .flag("dry_run", dry)
      .number("matched", static_cast<std::int64_t>(stepped.matched))
      .number("admitted", static_cast<std::int64_t>(stepped.admitted))
      .number("duplicates", static_cast<std::int64_t>(stepped.duplicates))
      .number("still_invalid", static_cast<std::int64_t>(stepped.still_invalid))
      .json("reasons", reasons.done())
      .text_or_null("next", stepped.next ? to_text(*stepped.next) : std::string())
      .done();
}

Error not_here() {
  return Error(Code::misconfigured, "this server admits nothing");
}

Result<std::string> admitted_many(const Context& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  Asked asked;
  HAPAX_TRY(read_body(call.body, asked));
  if (context.readmission == nullptr) return not_here();
  asked.step.filter.reason = asked.reason;
  if (asked.source) {
    HAPAX_TRY_ASSIGN(sources, Names::read(context.driver, store::NameKind::source));
    const std::optional<std::int64_t> number = sources.find(*asked.source);
    if (!number) return stepped_json({}, asked.step.dry);
    asked.step.filter.source = SourceNo(*number);
  }
  HAPAX_TRY_ASSIGN(stepped, context.readmission->admit(asked.step));
  return stepped_json(stepped, asked.step.dry);
}

http::Reply still_invalid(const Readmission::StillInvalid& why) {
  constexpr int kUnprocessable = 422;
  http::Reply reply = http::problem(kUnprocessable, "still-invalid", why.detail);
  reply.body.erase(reply.body.rfind('}'));
  reply.body += ",\"reason\":" + json_string(why.reason) + "}\n";
  return reply;
}

Result<http::Reply> admitted(const Context& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  const std::optional<RejectNo> number = reject_from(call.argument);
  if (!number) return http::problem(http::Refusal::not_found, "No reject has this id.");
  if (context.readmission == nullptr) return not_here();
  HAPAX_TRY_ASSIGN(answer, context.readmission->admit(*number));
  if (const auto* invalid = std::get_if<Readmission::StillInvalid>(&answer)) {
    return still_invalid(*invalid);
  }
  if (auto* done = std::get_if<Readmission::Admitted>(&answer)) {
    return http::Reply{
        .status = 200, .content_type = "application/json", .body = std::move(done->json)};
  }
  return http::problem(http::Refusal::not_found,
                       "No reject has this id: it was admitted, or it made room for newer ones.");
}

}  // namespace

http::Reply admit_reject(const Context& context, const Call& call) {
  Result<http::Reply> reply = admitted(context, call);
  return reply ? *std::move(reply) : failure(reply.error());
}

http::Reply admit_rejects(const Context& context, const Call& call) {
  Result<std::string> json = admitted_many(context, call);
  return json ? ok(*std::move(json)) : failure(json.error());
}

}  // namespace hapax::admin
