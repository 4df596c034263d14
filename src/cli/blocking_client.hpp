// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/client.hpp"

#include <memory>

namespace hapax::cli {

// One connection to a server, with blocking requests.
class BlockingClient {
 public:
  BlockingClient(const http::Url& to, const http::ClientLimits& limits,
                 std::shared_ptr<const http::ClientTls> tls);

  http::Exchanged exchange(const http::Outgoing& request);

 private:
  boost::asio::io_context context_{1};
  http::ClientConnection connection_;
};

}  // namespace hapax::cli
