// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include "http/message.hpp"

#include <string>
#include <string_view>

namespace hapax::admin {

inline constexpr int kConflict = 409;

http::Reply ok(std::string json);  // 200, application/json

// Token holders may see full error details. invalid_argument is 400 bad-request.
http::Reply failure(const Error& error);

// 403: the token lacks this right ("lease:audit").
http::Reply forbidden(std::string_view right);

}  // namespace hapax::admin
