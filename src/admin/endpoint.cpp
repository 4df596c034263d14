// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/endpoint.hpp"

#include "admin/api/reply.hpp"
#include "async/run_on.hpp"
#include "base/try.hpp"
#include "http/problem.hpp"

#include <boost/asio/this_coro.hpp>

#include <functional>
#include <utility>

namespace hapax::admin {

namespace {

namespace asio = boost::asio;
using http::Refusal;

// A slot of a bounded counter, released on destruction.
class Permit {
 public:
  Permit(std::atomic<std::size_t>& taken, std::size_t most)
      : taken_(taken), has_(taken.fetch_add(1) < most) {}
  ~Permit() { taken_.fetch_sub(1); }
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;
  explicit operator bool() const { return has_; }

 private:
  std::atomic<std::size_t>& taken_;
  const bool has_;
};

http::Reply run(const Route& route, const ApiContext& context, const Call& call) {
  Result<http::Reply> reply = route.answer(context, call);
  return reply ? *std::move(reply) : failure(reply.error());
}

// Responses must not be cached, and browsers must not guess their type.
http::Reply finished(http::Reply reply) {
  reply.headers.push_back({"Cache-Control", "no-store"});
  reply.headers.push_back({"X-Content-Type-Options", "nosniff"});
  return reply;
}

}  // namespace

Endpoint::Endpoint(const EndpointDeps& deps)
    : deps_(deps),
      run_blocking_(
          [this](const std::function<http::Reply()>& work) { return run_on(deps_.pool, work); }),
      limit_(deps.api.clock) {}

void Endpoint::stop() {
  stopping_ = true;
  if (pull_) pull_->stop();
}

// nullopt: permitted.
std::optional<http::Reply> Endpoint::check_right(const Route& route, const http::Head& head,
                                                 std::string_view peer) {
  if (!route.token) return std::nullopt;
  const std::shared_ptr<const Access> access = deps_.access();
  const auto caller = access->caller(head);
  if (const Refusal* why = std::get_if<Refusal>(&caller)) {
    http::Reply reply = reject(*why, peer);
    reply.headers.push_back({"WWW-Authenticate", "Bearer"});
    return reply;
  }
  const Right right = right_of(route);
  if (std::get<const Rights*>(caller)->may_some(right)) return std::nullopt;
  refused(Refusal::forbidden, peer);
  return finished(forbidden(in_words(right)));
}

std::variant<http::ReadBody, http::Reply> Endpoint::on_headers(const http::Head& head,
                                                               std::string_view peer) {
  if (const auto why = deps_.access()->check_host(head)) return reject(*why, peer);
  auto found = find_route(head.method, head.path());
  if (std::holds_alternative<NoSuchPath>(found)) return reject(Refusal::not_found, peer);
  if (const auto* wrong = std::get_if<WrongMethod>(&found)) {
    http::Reply reply = reject(Refusal::method_not_allowed, peer);
    reply.headers.push_back({"Allow", wrong->allow});
    return reply;
  }
  Match& match = std::get<Match>(found);
  const Route& route = *match.route;
  if (std::optional<http::Reply> refusal = check_right(route, head, peer)) {
    return *std::move(refusal);
  }
  const std::size_t most = route.method == "POST" ? kMaxRequest : 0;
  if (!head.chunked && head.length > most) return reject(Refusal::body_too_large, peer);
  return http::ReadBody{most, std::make_shared<const Match>(std::move(match))};
}

Task<http::Reply> Endpoint::answer(const http::Incoming& incoming) {
  const auto& match = static_cast<const Match&>(*incoming.context);
  const Route& route = *match.route;
  // The tokens may have changed while the body was received.
  if (std::optional<http::Reply> refusal = check_right(route, incoming.head, incoming.peer)) {
    co_return *std::move(refusal);
  }
  if (route.token && incoming.probe != nullptr) incoming.probe->mark_trusted();
  const std::shared_ptr<const Access> access = deps_.access();
  const auto caller = access->caller(incoming.head);
  const Rights* const* const rights = std::get_if<const Rights*>(&caller);
  const std::shared_ptr<const ConfigView> view = deps_.config();
  const ApiContext context{deps_.api, *view};
  const Call call{match.argument, incoming.head.query(),
                  incoming.body,  rights == nullptr ? no_rights_ : **rights,
                  incoming.head,  incoming.probe};
  if (!route.blocks && route.answer != nullptr) co_return finished(run(route, context, call));
  const Permit permit(route.blocks ? context.state.waiting : context.state.polling,
                      route.blocks ? kMaxWaiting : kMaxPolling);
  if (!permit) co_return reject(Refusal::queue_full, incoming.peer);
  if (route.wait != nullptr) {
    http::Reply reply = co_await wait(route, context, call);
    co_return after_wait(route, incoming, std::move(reply));
  }
  const std::function<http::Reply()> work = [&] { return run(route, context, call); };
  http::Reply reply = co_await run_on(deps_.pool, work);
  co_return finished(std::move(reply));
}

// A handler replies 403 if its right was revoked meanwhile. The token itself may be gone: then the
// reply is 401.
http::Reply Endpoint::after_wait(const Route& route, const http::Incoming& incoming,
                                 http::Reply reply) {
  constexpr int kForbidden = 403;
  if (reply.status == kForbidden) {
    std::optional<http::Reply> refusal = check_right(route, incoming.head, incoming.peer);
    if (refusal) return *std::move(refusal);
  }
  return finished(std::move(reply));
}

RightCheck Endpoint::right_check(const http::Head& head) const {
  return [this, &head](Right right, std::string_view of) {
    const std::shared_ptr<const Access> access = deps_.access();
    const auto caller = access->caller(head);
    const Rights* const* const rights = std::get_if<const Rights*>(&caller);
    return rights != nullptr && (*rights)->may(right, of);
  };
}

Task<http::Reply> Endpoint::wait(const Route& route, const ApiContext& context, const Call& call) {
  const Executor executor = co_await asio::this_coro::executor;
  const RightCheck may = right_check(call.head);
  const AsyncContext wait_context{context, pull_on(executor), deps_.pull.polls, run_blocking_, may};
  http::Reply reply = co_await route.wait->answer(wait_context, call);
  co_return reply;
}

deliver::Pull& Endpoint::pull_on(const Executor& executor) {
  if (pull_) return *pull_;
  const PullDeps& pull = deps_.pull;
  const ApiDeps& api = deps_.api;
  timers_ = make_timer_factory(executor, api.clock);
  const auto destination = [this](DestinationNo no) -> std::shared_ptr<const deliver::Destination> {
    const std::shared_ptr<const ConfigView> view = deps_.config();
    const DestinationView* const found = view->find(no);
    return found == nullptr ? nullptr : found->how;
  };
  const deliver::LeaseLookup look_up = [this](std::span<const deliver::LeaseId> ids) {
    return this->look_up(ids);
  };
  pull_.emplace(deliver::Pull::Deps{.executor = executor,
                                    .async_store = pull.async_store,
                                    .timers = *timers_,
                                    .notifier = api.notifier,
                                    .clock = api.clock,
                                    .random = api.random,
                                    .lease_cache = pull.lease_cache,
                                    .room = pull.room,
                                    .look_up = look_up,
                                    .destination = destination,
                                    .owner = pull.node});
  if (stopping_) pull_->stop();
  return *pull_;
}

Task<Result<std::vector<std::optional<deliver::LeaseRecord>>>> Endpoint::look_up(
    std::span<const deliver::LeaseId> ids) {
  using Found = Result<std::vector<std::optional<deliver::LeaseRecord>>>;
  const std::function<Found()> work = [&]() -> Found {
    std::vector<std::optional<deliver::LeaseRecord>> records;
    for (const deliver::LeaseId& each : ids) {
      HAPAX_TRY_ASSIGN(record, deliver::lease_record_in(deps_.api.catalog, each));
      records.push_back(record);
    }
    return records;
  };
  Found found = co_await run_on(deps_.pool, work);
  co_return found;
}

http::Reply Endpoint::reject(Refusal why, std::string_view peer) {
  refused(why, peer);
  return finished(http::problem(why));
}

void Endpoint::refused(Refusal why, std::string_view peer) {
  const std::optional<std::string> more = limit_.pass(std::string(name(why)));
  if (!more) return;
  deps_.log.line(Level::warning, "admin request rejected",
                 {{"reason", name(why)}, {"peer", peer}, {"more", *more}});
}

}  // namespace hapax::admin
