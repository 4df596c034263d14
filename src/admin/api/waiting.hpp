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
using Elsewhere = std::function<Task<http::Reply>(const std::function<http::Reply()>& work)>;

// Whether the caller has this right by the tokens in force now, which may be others than when the
// request came.
using StillMay = std::function<bool(Right right, std::string_view of)>;

// What an answer that waits is made of, besides the request.
struct WaitContext {
  const Context& context;  // but its driver blocks: only elsewhere
  deliver::Pull& pull;
  deliver::Polls& polls;
  const Elsewhere& elsewhere;
  const StillMay& may;
};

// A route that waits without a thread: it runs on an I/O thread and never blocks.
struct Waiting {
  Task<http::Reply> (*answer)(const WaitContext&, const Call&) = nullptr;
};

}  // namespace hapax::admin
