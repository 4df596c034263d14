// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/api/call.hpp"
#include "async/task.hpp"

#include <functional>

namespace hapax::deliver {
class Polls;
class Pull;
}  // namespace hapax::deliver

namespace hapax::admin {

// Runs work that would hold up an I/O thread on another one.
using RunBlocking = std::function<Task<http::Reply>(const std::function<http::Reply()>& work)>;

// Whether the caller has this right by the tokens in force now, which may be others than when the
// request came.
using RightCheck = std::function<bool(Right right, std::string_view of)>;

// What an answer that waits is made of, besides the request.
struct AsyncContext {
  const ApiContext& context;  // its driver blocks: use it in run_blocking
  deliver::Pull& pull;
  deliver::Polls& polls;
  const RunBlocking& run_blocking;
  const RightCheck& may;
};

// A route that waits without a thread: it runs on an I/O thread and never blocks.
struct AsyncHandler {
  Task<http::Reply> (*answer)(const AsyncContext&, const Call&) = nullptr;
};

}  // namespace hapax::admin
