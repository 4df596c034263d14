// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/task.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <functional>
#include <utility>

namespace hapax {

// Runs `work` on a pool thread and resumes on the calling executor. `work` must live until then.
template <class T>
Task<T> run_on(boost::asio::thread_pool& pool, const std::function<T()>& work) {
  namespace asio = boost::asio;
  return asio::async_initiate<const asio::use_awaitable_t<Executor>, void(T)>(
      [&pool, &work](auto handler) {
        // Keeps the I/O thread running until the coroutine resumes.
        asio::executor_work_guard<Executor> alive(asio::get_associated_executor(handler));
        asio::post(pool, [handler = std::move(handler), alive = std::move(alive), &work]() mutable {
          T result = work();
          const Executor origin = alive.get_executor();
          asio::post(origin, [handler = std::move(handler), alive = std::move(alive),
                              result = std::move(result)]() mutable {
            std::move(handler)(std::move(result));
          });
        });
      },
      kUseTask);
}

}  // namespace hapax
