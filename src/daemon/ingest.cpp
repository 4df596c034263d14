// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/ingest.hpp"

#include "base/try.hpp"
#include "daemon/files.hpp"
#include "daemon/serving.hpp"

namespace hapax::daemon {

Result<std::shared_ptr<const gateway::Sources>> Ingest::begin(Config& config) {
  HAPAX_TRY(load_handshakes(config.data_dir));
  HAPAX_TRY_ASSIGN(made, prepare(config));
  handshakes_->use(*made);
  sources_.publish(made);
  store::StoreSecret proposed{};
  deps_.random.fill(proposed);
  HAPAX_TRY_TO(secret_, deps_.node.secret(proposed));
  readmission_.emplace(
      gateway::Readmission::Deps{.catalog = deps_.catalog,
                                 .rejects = deps_.rejects,
                                 .receiver = receiver_deps(),
                                 .metrics = deps_.metrics,
                                 .secret = secret_,
                                 .sources = [this] { return sources_.current(); }});
  return made;
}

gateway::ReceiverDeps Ingest::receiver_deps() {
  return {deps_.async_store, deps_.numbers, duplicates_, unclaimed_, deps_.notifier, deps_.clock};
}

Result<void> Ingest::load_handshakes(const std::string& data_dir) {
  const std::string path = data_dir + "/handshake.secrets";
  HAPAX_TRY_ASSIGN(known, read_provisioned_secrets(path));
  handshakes_.emplace(deps_.clock, std::move(known),
                      [path](std::span<const gateway::ProvisionedSecret> secrets) {
                        return write_provisioned_secrets(path, secrets);
                      });
  return {};
}

Result<void> Ingest::listen(const Listen& where, const http::Limits& limits) {
  const gateway::EndpointDeps deps{.receiver = receiver_deps(),
                                   .metrics = deps_.metrics,
                                   .log = deps_.log,
                                   .rejects = rejects_,
                                   .secret = secret_,
                                   .verifying = deps_.verifying};
  const http::MakeHandler make_handler = [&](std::size_t) {
    auto endpoint = std::make_unique<gateway::Endpoint>(deps, sources_.current());
    endpoints_.push_back(endpoint.get());
    return endpoint;
  };
  HAPAX_TRY_TO(port_,
               deps_.server.listen({where.host, where.port}, where.tls, limits, make_handler));
  return {};
}

Result<std::shared_ptr<const gateway::Sources>> Ingest::prepare(Config& config) {
  const std::shared_ptr<const gateway::Sources> before = sources_.current();
  return sources_of(config, before.get(), deps_.catalog, *handshakes_, deps_.metrics);
}

void Ingest::apply(const std::shared_ptr<const gateway::Sources>& sources) {
  handshakes_->use(*sources);
  sources_.publish(sources);
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    deps_.server.post(i, [endpoint = endpoints_[i], sources] { endpoint->serve(sources); });
  }
}

}  // namespace hapax::daemon
