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
  std::string_view pattern;  // "/v1/events/{event}": at most one {name}, a whole segment
  bool token = true;         // whether a token is required
  bool blocks = true;        // uses the store, so it must not run on an I/O thread
  Handler* answer = nullptr;
  Right right = Right::unsaid;  // that the token needs
  // Asynchronous, instead of `answer`. With `blocks` it waits only for the store; without, it may
  // wait for long and is counted separately.
  const AsyncHandler* wait = nullptr;
};

// Right::unsaid resolved.
Right right_of(const Route& route);

// All routes. src/admin/openapi.json describes each; a test compares the two.
std::span<const Route> routes();

struct Match : http::RequestContext {
  const Route* route = nullptr;
  std::string argument;  // the value of {name}
};
struct NoSuchPath {};
struct WrongMethod {
  std::string allow;  // value of the Allow header
};

// HEAD is routed as GET.
std::variant<Match, NoSuchPath, WrongMethod> find_route(std::string_view method,
                                                        std::string_view path);

}  // namespace hapax::admin
