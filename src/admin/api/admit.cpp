// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/members.hpp"
#include "admin/names.hpp"
#include "admin/query.hpp"
#include "base/json_text.hpp"
#include "base/try.hpp"
#include "gateway/readmit.hpp"
#include "http/problem.hpp"

namespace hapax::admin {

namespace {

using gateway::Readmission;

constexpr std::string_view kWriteAdmit =
    R"(write {"filter":{"source":"...","reason":"...","since":"...","until":"..."},)"
    R"("dry_run":false,"after":null,"limit":500}; all members are optional)";
constexpr std::int64_t kMaxAtOnce = 1000;

// The parsed request, and the strings its views refer to.
struct AdmitManyRequest {
  Readmission::Step step;
  std::string reason;
  std::optional<std::string> source;
};

Result<void> read_filter(const Members& filter, AdmitManyRequest& asked) {
  HAPAX_TRY(filter.no_nulls());
  HAPAX_TRY_TO(asked.source, filter.text("source"));
  HAPAX_TRY_ASSIGN(reason, filter.text("reason"));
  asked.reason = std::move(reason).value_or("");
  HAPAX_TRY_TO(asked.step.filter.since, filter.time("since"));
  HAPAX_TRY_TO(asked.step.filter.until, filter.time("until"));
  return {};
}

Result<void> read_admit_request(std::string_view body, AdmitManyRequest& asked) {
  HAPAX_TRY_ASSIGN(members,
                   Members::read(body, kWriteAdmit, {"filter", "dry_run", "limit", "after"}));
  HAPAX_TRY(members.no_nulls({"after"}));  // null (an unset variable) must not match everything
  HAPAX_TRY_ASSIGN(dry, members.flag("dry_run"));
  asked.step.dry = dry.value_or(asked.step.dry);
  HAPAX_TRY_ASSIGN(limit, members.number("limit", 1, kMaxAtOnce));
  if (limit) asked.step.limit = static_cast<std::size_t>(*limit);
  HAPAX_TRY_ASSIGN(after, members.text("after"));
  if (after) {
    const std::optional<RejectNo> number = reject_from(*after);
    if (!number) return members.bad("after must be the 'next' of the previous response");
    asked.step.after = *number;
  }
  HAPAX_TRY_ASSIGN(filter, members.object("filter", {"source", "reason", "since", "until"}));
  return filter ? read_filter(*filter, asked) : Result<void>();
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

http::Reply still_invalid(const Readmission::StillInvalid& why) {
  constexpr int kUnprocessable = 422;
  http::Reply reply = http::problem(kUnprocessable, "still-invalid", why.detail);
  reply.body.erase(reply.body.rfind('}'));
  reply.body += ",\"reason\":" + json_string(why.reason) + "}\n";
  return reply;
}

}  // namespace

Result<http::Reply> admit_rejects(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  AdmitManyRequest asked;
  HAPAX_TRY(read_admit_request(call.body, asked));
  asked.step.filter.reason = asked.reason;
  if (asked.source) {
    HAPAX_TRY_ASSIGN(sources, Names::read(context.catalog, store::NameKind::source));
    const std::optional<std::int64_t> number = sources.find(*asked.source);
    if (!number) return ok(stepped_json({}, asked.step.dry));
    asked.step.filter.source = SourceNo(*number);
  }
  HAPAX_TRY_ASSIGN(stepped, context.readmission.admit(asked.step));
  return ok(stepped_json(stepped, asked.step.dry));
}

Result<http::Reply> admit_reject(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  const std::optional<RejectNo> number = reject_from(call.argument);
  if (!number) return http::problem(http::Refusal::not_found, "No reject has this id.");
  HAPAX_TRY_ASSIGN(answer, context.readmission.admit(*number));
  if (const auto* invalid = std::get_if<Readmission::StillInvalid>(&answer)) {
    return still_invalid(*invalid);
  }
  if (auto* done = std::get_if<Readmission::Admitted>(&answer)) {
    return http::Reply{
        .status = 200, .content_type = "application/json", .body = std::move(done->json)};
  }
  return http::problem(http::Refusal::not_found,
                       "No reject has this id; it may have been admitted or evicted.");
}

}  // namespace hapax::admin
