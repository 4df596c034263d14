// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/endpoint.hpp"

#include "http/problem.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <functional>
#include <utility>

namespace hapax::admin {

namespace {

namespace asio = boost::asio;
using http::Refusal;

using Work = std::function<http::Reply()>;

// Runs `work` on a thread of the pool and goes on where it was called. `work` lives until then.
Task<http::Reply> run_on(asio::thread_pool& pool, const Work& work) {
  return asio::async_initiate<const asio::use_awaitable_t<Executor>, void(http::Reply)>(
      [&pool, &work](auto handler) {
        // The I/O thread runs until it has gone on.
        asio::executor_work_guard<Executor> alive(asio::get_associated_executor(handler));
        asio::post(pool, [handler = std::move(handler), alive = std::move(alive), &work]() mutable {
          http::Reply reply = work();
          const Executor home = alive.get_executor();
          asio::post(
              home, [handler = std::move(handler), alive = std::move(alive),
                     reply = std::move(reply)]() mutable { std::move(handler)(std::move(reply)); });
        });
      },
      kUseTask);
}

// Nothing of this is for a cache, and nothing is to be taken for what it is not.
http::Reply finished(http::Reply reply) {
  reply.headers.push_back({"Cache-Control", "no-store"});
  reply.headers.push_back({"X-Content-Type-Options", "nosniff"});
  return reply;
}

}  // namespace

std::variant<std::size_t, http::Reply> Endpoint::look(const http::Head& head,
                                                      std::string_view peer) {
  if (const auto why = shared_.access.check_host(head)) return turn_away(*why, peer);
  const auto found = find_route(head.method, head.path());
  if (std::holds_alternative<NoSuchPath>(found)) return turn_away(Refusal::not_found, peer);
  if (const auto* wrong = std::get_if<WrongMethod>(&found)) {
    http::Reply reply = turn_away(Refusal::method_not_allowed, peer);
    reply.headers.push_back({"Allow", wrong->allow});
    return reply;
  }
  const Route& route = *std::get<Match>(found).route;
  if (route.token) {
    if (const auto why = shared_.access.check_token(head)) {
      http::Reply reply = turn_away(*why, peer);
      reply.headers.push_back({"WWW-Authenticate", "Bearer"});
      return reply;
    }
  }
  const std::size_t most = route.method == "POST" ? kMaxRequest : 0;
  if (!head.chunked && head.length > most) return turn_away(Refusal::body_too_large, peer);
  return most;
}

Task<http::Reply> Endpoint::answer(const http::Incoming& incoming) {
  const auto found = find_route(incoming.head.method, incoming.head.path());
  const Match* const match = std::get_if<Match>(&found);
  if (match == nullptr) co_return turn_away(Refusal::not_found, incoming.peer);
  const std::shared_ptr<const Served> served = shared_.served();
  Context context{shared_.driver, shared_.metrics,    shared_.state,      *served,
                  shared_.random, shared_.handshakes, shared_.readmission};
  context.bells = shared_.bells;
  context.replays = shared_.replays;
  context.listeners = shared_.listeners;
  const Call call{match->argument, incoming.head.query(), incoming.body};
  const Route& route = *match->route;
  if (!route.blocks) co_return finished(route.answer(context, call));
  if (shared_.state.waiting.fetch_add(1) >= kMaxWaiting) {
    shared_.state.waiting.fetch_sub(1);
    co_return turn_away(Refusal::queue_full, incoming.peer);
  }
  const Work work = [&] { return route.answer(context, call); };
  http::Reply reply = co_await run_on(shared_.pool, work);
  shared_.state.waiting.fetch_sub(1);
  co_return finished(std::move(reply));
}

http::Reply Endpoint::turn_away(Refusal why, std::string_view peer) {
  refused(why, peer);
  return finished(http::problem(why));
}

void Endpoint::refused(Refusal why, std::string_view peer) {
  const std::optional<std::string> more = limit_.pass(std::string(name(why)));
  if (!more) return;
  shared_.log.line(Level::warning, "admin request refused",
                   {{"reason", name(why)}, {"peer", peer}, {"more", *more}});
}

}  // namespace hapax::admin
