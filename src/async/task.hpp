// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace hapax {

// Every I/O thread has an io_context of its own; a coroutine stays on the thread that started it.
using Executor = boost::asio::io_context::executor_type;

template <class T>
using Task = boost::asio::awaitable<T, Executor>;

inline constexpr boost::asio::use_awaitable_t<Executor> kUseTask{};

}  // namespace hapax
