// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/query.hpp"
#include "base/claim_key.hpp"
#include "base/try.hpp"

#include <boost/json.hpp>

namespace hapax::admin {

namespace {

namespace json = boost::json;

constexpr std::string_view kWrite = R"(write {"scope":"...","id":"...","ttl_s":2592000})";
constexpr std::int64_t kMaxTtlSeconds =
    std::chrono::duration_cast<std::chrono::seconds>(kMaxTtl).count();

struct Asked {
  std::string scope;
  std::string id;
  std::chrono::milliseconds ttl = kDefaultTtl;
};

Error bad(std::string_view what) {
  return Error(Code::invalid_argument, std::string(what) + "; " + std::string(kWrite));
}

Result<std::string> text_in(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr) return bad(std::string(name) + " is missing");
  const json::string* const text = value->if_string();
  if (text == nullptr) return bad(std::string(name) + " is not a string");
  return std::string(text->data(), text->size());
}

Result<std::chrono::milliseconds> ttl_in(const json::object& object) {
  const json::value* const value = object.if_contains("ttl_s");
  if (value == nullptr) return kDefaultTtl;
  const std::int64_t* const seconds = value->if_int64();
  if (seconds == nullptr || *seconds < 1 || *seconds > kMaxTtlSeconds) {
    return bad("ttl_s is not a whole number of seconds from 1 to " +
               std::to_string(kMaxTtlSeconds));
  }
  return std::chrono::seconds(*seconds);
}

Result<Asked> read_body(std::string_view body) {
  json::error_code error;
  const json::value value = json::parse(json::string_view(body.data(), body.size()), error);
  if (error) return bad("the body is not JSON: " + error.message());
  const json::object* const object = value.if_object();
  if (object == nullptr) return bad("the body is not a JSON object");
  for (const auto& member : *object) {
    const std::string name(member.key().data(), member.key().size());
    if (name != "scope" && name != "id" && name != "ttl_s") {
      return bad("there is no member '" + name.substr(0, 64) + "'");
    }
  }
  Asked asked;
  HAPAX_TRY_ASSIGN(scope, text_in(*object, "scope"));
  asked.scope = scope;
  HAPAX_TRY_ASSIGN(id, text_in(*object, "id"));
  asked.id = id;
  HAPAX_TRY_ASSIGN(ttl, ttl_in(*object));
  asked.ttl = ttl;
  return asked;
}

Result<std::string> claimed(const Context& context, const Asked& asked) {
  HAPAX_TRY(check(DedupRequest{.scope = asked.scope, .id = asked.id, .ttl = asked.ttl}));
  store::DedupItem item{claim_key(ClaimKind::id, asked.scope, asked.id), {}, asked.ttl};
  context.random.fill(item.token.bytes);
  const store::Batch batch{.dedup = std::span<const store::DedupItem>(&item, 1)};
  store::Answers answers = context.driver.write(batch);
  // The same token again gets the answer that the first call should have got.
  if (!answers.dedup && answers.dedup.error().outcome() == Outcome::unknown) {
    answers = context.driver.write(batch);
  }
  HAPAX_TRY_ASSIGN(dedup, std::move(answers.dedup));
  if (dedup.empty()) return Error(Code::misconfigured, "the store remembers no ids");
  return JsonObject().flag("duplicate", dedup.front().duplicate).done();
}

}  // namespace

http::Reply claim_id(const Context& context, const Call& call) {
  if (const Result<Query> query = Query::parse(call.query, {}); !query) {
    return failure(query.error());
  }
  const Result<Asked> asked = read_body(call.body);
  if (!asked) return failure(asked.error());
  if (!call.rights.may(Right::dedup, asked->scope)) return forbidden("dedup:" + asked->scope);
  Result<std::string> answer = claimed(context, *asked);
  return answer ? ok(*std::move(answer)) : failure(answer.error());
}

}  // namespace hapax::admin
