// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/admin.hpp"

#include "base/try.hpp"
#include "daemon/files.hpp"

namespace hapax::daemon {

Result<void> Admin::begin(const Config& config, const http::Limits& limits) {
  token_ = config.admin_token.value_or("");
  if (token_.empty()) {
    HAPAX_TRY_TO(token_, token_in(config.data_dir + "/admin.token", deps_.random));
  }
  apply(config);
  const http::MakeHandler make_handler = [this, deps = endpoint_deps()](std::size_t) {
    auto endpoint = std::make_unique<admin::Endpoint>(deps);
    endpoints_.push_back(endpoint.get());
    return endpoint;
  };
  const Listen& where = config.admin;
  HAPAX_TRY_TO(port_,
               deps_.server.listen({where.host, where.port}, where.tls, limits, make_handler));
  return {};
}

admin::EndpointDeps Admin::endpoint_deps() {
  return {
      .api = {.claims = deps_.claims,
              .queue = deps_.queue,
              .catalog = deps_.catalog,
              .rejects = deps_.rejects,
              .node = deps_.node,
              .metrics = deps_.metrics,
              .state = deps_.state,
              .clock = deps_.clock,
              .random = deps_.random,
              .notifier = deps_.notifier,
              .handshakes = ingest_.handshakes(),
              .readmission = ingest_.readmission(),
              .replays = delivery_.replays(),
              .listeners = delivery_.listeners(),
              .status = [this](const std::string& name) { return delivery_.push().status(name); }},
      .pull = {.async_store = deps_.async_store,
               .lease_cache = lease_cache_,
               .polls = polls_,
               .room = room_,
               .node = [this] { return deps_.numbers.node().value_or(NodeNo()).value(); }},
      .log = deps_.log,
      .pool = deps_.pool,
      .access = [this] { return access_.current(); },
      .config = [this] { return delivery_.view(); }};
}

void Admin::apply(const Config& config) {
  access_.publish(std::make_shared<const admin::Access>(token_, config.admin_names, config.tokens));
}

void Admin::stop() {
  deps_.state.stopping = true;
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    deps_.server.post(i, [endpoint = endpoints_[i]] { endpoint->stop(); });
  }
}

}  // namespace hapax::daemon
