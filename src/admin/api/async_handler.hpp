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

// Runs blocking work on a thread that is not an I/O thread.
using RunBlocking = std::function<Task<http::Reply>(const std::function<http::Reply()>& work)>;

// Whether the caller has this right under the current tokens, which may have changed since the
// request arrived.
using RightCheck = std::function<bool(Right right, std::string_view of)>;

// The context of an asynchronous handler.
struct AsyncContext {
  const ApiContext& context;  // its contracts of the store block: use it only in run_blocking
  deliver::Pull& pull;
  deliver::Polls& polls;
  const RunBlocking& run_blocking;
  const RightCheck& may;
};

// The handler of a route that waits. It runs on an I/O thread and never blocks.
struct AsyncHandler {
  Task<http::Reply> (*answer)(const AsyncContext&, const Call&) = nullptr;
};

}  // namespace hapax::admin
