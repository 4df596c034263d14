// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "env/log.hpp"
#include "env/log_limit.hpp"
#include "gateway/metrics.hpp"
#include "gateway/receive.hpp"
#include "gateway/rejects.hpp"
#include "http/server.hpp"
#include "store/node.hpp"

#include <map>
#include <memory>
#include <string>

namespace hapax::gateway {

// The active sources, by path_of(). Replaced as a whole when the configuration changes.
struct Sources {
  struct Entry : http::RequestContext {
    Source source;
    SourceMetrics* metrics = nullptr;
  };
  std::map<std::string, Entry, std::less<>> by_name;
};

// The source of a path "/in/{source}[/{tenant}]", or null.
const Sources::Entry* find_source(const Sources& sources, std::string_view path);
// The URL that the sender requested: public_url or the Host header, and the target.
std::string url_of(const Source& source, const http::Head& head);

// Dependencies shared by the endpoints of all I/O threads.
struct EndpointDeps {
  ReceiverDeps receiver;
  Metrics& metrics;
  Log& log;
  RejectQueue& rejects;
  store::StoreSecret secret;            // key for the redacted secrets of rejects
  boost::asio::thread_pool& verifying;  // pool for costly requests
};

// The counter for an event of a request.
prometheus::Counter& counter_of(SourceMetrics& metrics, const Accepted& event);

// Handles /in/{source}[/{tenant}] on one I/O thread.
class Endpoint final : public http::Handler {
 public:
  Endpoint(const EndpointDeps& deps, std::shared_ptr<const Sources> sources);

  // Replaces the sources. Called on this endpoint's thread; running requests keep the old ones.
  void serve(std::shared_ptr<const Sources> sources) { sources_ = std::move(sources); }

  std::variant<http::ReadBody, http::Reply> on_headers(const http::Head& head,
                                                       std::string_view peer) override;
  Task<http::Reply> answer(const http::Incoming& incoming) override;
  void refused(http::Refusal why, std::string_view peer) override;

 private:
  http::Reply wrong_method(const Source& source, std::string_view peer);
  http::Reply reply_to(const Sources::Entry& entry, const Received& received,
                       const http::Incoming& incoming);
  // Queues rejected requests for storage, without delaying the response.
  void keep(const Source& source, const Request& request, const ReceiveContext& context,
            const Received& received, const http::Incoming& incoming);
  void count(SourceMetrics& metrics, const std::vector<Accepted>& accepted, std::size_t bytes);
  void note_refusal(const std::string& source, std::string_view reason, std::string_view detail,
                    std::string_view peer);

  EndpointDeps deps_;
  std::shared_ptr<const Sources> sources_;
  Receiver receiver_;
  LogLimit limit_;  // by source and reason
};

}  // namespace hapax::gateway
