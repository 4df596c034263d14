// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/task.hpp"

#include <boost/asio/post.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace hapax::sim {

// A suspended coroutine that waits for an answer. Destroying it without an answer destroys its
// frames, as in a killed process.
template <class... Answer>
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual void resume(Answer... answer) = 0;
};

// Suspends the coroutine and passes it to `start`, which keeps it until there is an answer.
template <class... Answer, class Start>
auto suspend(Start start) {
  namespace asio = boost::asio;
  return asio::async_initiate<const asio::use_awaitable_t<Executor>, void(Answer...)>(
      [](auto handler, Start begin) {
        using Handler = decltype(handler);
        class Suspended final : public Waiter<Answer...> {
         public:
          explicit Suspended(Handler suspended) : handler_(std::move(suspended)) {}
          void resume(Answer... answer) override {
            Handler resumed = std::move(handler_);
            std::move(resumed)(std::move(answer)...);
          }

         private:
          Handler handler_;
        };
        begin(std::make_unique<Suspended>(std::move(handler)));
      },
      kUseTask, std::move(start));
}

// The waiters of one node, by number. They are owned here and not by the awaited operation, so that
// a node can be killed: clear() destroys them all.
template <class... Answer>
class Waiters {
 public:
  using One = Waiter<Answer...>;

  std::uint64_t add(std::unique_ptr<One> waiter) {
    waiting_.emplace(++last_, std::move(waiter));
    return last_;
  }
  bool waits(std::uint64_t number) const { return waiting_.contains(number); }
  std::size_t size() const { return waiting_.size(); }

  // Resumes the waiter on the event loop. No effect if it no longer waits.
  void answer(boost::asio::io_context& origin, std::uint64_t number, Answer... value) {
    auto found = waiting_.extract(number);
    if (found.empty()) return;
    boost::asio::post(origin,
                      [waiter = std::move(found.mapped()), ... held = std::move(value)]() mutable {
                        waiter->resume(std::move(held)...);
                      });
  }
  void forget(std::uint64_t number) {
    auto gone = waiting_.extract(number);  // destroyed after the map is consistent
  }
  void clear() {
    while (!waiting_.empty()) forget(waiting_.begin()->first);
  }

 private:
  std::map<std::uint64_t, std::unique_ptr<One>> waiting_;
  std::uint64_t last_ = 0;
};

}  // namespace hapax::sim
