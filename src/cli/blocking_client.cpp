// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/blocking_client.hpp"

#include <boost/asio/co_spawn.hpp>

#include <utility>

namespace hapax::cli {

BlockingClient::BlockingClient(const http::Url& to, const http::ClientLimits& limits,
                               std::shared_ptr<const http::ClientTls> tls)
    : connection_(context_.get_executor(), to, limits, std::move(tls)) {}

http::Exchanged BlockingClient::exchange(const http::Outgoing& request) {
  http::Exchanged result;
  boost::asio::co_spawn(
      context_, connection_.exchange(request),
      [&result](const std::exception_ptr&, http::Exchanged got) { result = std::move(got); });
  context_.restart();
  context_.run();
  return result;
}

}  // namespace hapax::cli
