// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/api/call.hpp"
#include "admin/rights.hpp"
#include "http/message.hpp"

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace hapax::admin {

struct AsyncHandler;

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/v1/events/{event}": one {name} at most, a whole segment
  bool token = true;         // the caller needs one
  bool blocks = true;        // asks the store, so not on an I/O thread
  http::Reply (*answer)(const ApiContext&, const Call&) = nullptr;
  Right right = Right::unsaid;  // that the token must have
  // In place of `answer`: waits without a thread. `blocks` says then that it waits for the store
  // alone; otherwise it may wait for long, and is counted apart.
  const AsyncHandler* wait = nullptr;
};

// Right::unsaid resolved.
Right right_of(const Route& route);

// All of them. src/admin/openapi.json describes each; a test compares the two.
std::span<const Route> routes();

struct Match {
  const Route* route = nullptr;
  std::string_view argument;  // what stands for the {name}
};
struct NoSuchPath {};
struct WrongMethod {
  std::string allow;  // of the Allow header
};

// HEAD goes where GET does.
std::variant<Match, NoSuchPath, WrongMethod> find_route(std::string_view method,
                                                        std::string_view path);

}  // namespace hapax::admin
