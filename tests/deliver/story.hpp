// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "deliver/handler.hpp"
#include "gateway/serve.hpp"
#include "support/eventually.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace hapax::test {

// One [[destination]]; `more` are further lines. Its attempts never time out unless those lines set
// a timeout.
std::string destination(const std::string& name, const std::string& url,
                        const std::string& more = "");

// The configuration of a server whose source "demo" delivers to `to`; `source` are further lines of
// that source.
std::string push_config(const std::vector<std::string>& to, const std::string& destinations,
                        const std::string& source = "",
                        const std::string& store = "sqlite:hapax.db");

// A real server as a black box: sends events and inspects their deliveries.
class Story {
 public:
  explicit Story(const std::string& config, std::vector<std::string> variables = {})
      : serve(config, std::move(variables)) {}

  // Sends an event and returns hapax's id of it.
  std::string send(const std::string& id, const std::string& body = "{}") const;
  boost::json::value get(const std::string& target) const;
  HttpAnswer post(const std::string& target, const std::string& body = "") const;
  boost::json::value event(const std::string& event) const { return get("/v1/events/" + event); }
  // The delivery of an event to a destination: {"status", "reason", "attempts", ...}.
  boost::json::value delivery(const std::string& event, const std::string& destination) const;
  boost::json::value destination(const std::string& name) const;
  // Waits until the delivery has that status; false on a timeout.
  bool becomes(const std::string& event, const std::string& destination,
               const std::string& status) const;
  // Outcome, status and error of each attempt, like "retried 500 status" or "completed 200 ".
  std::vector<std::string> attempts(const std::string& event) const;

  Serve serve;
};

std::string text(const boost::json::value& object, std::string_view member);
std::int64_t number(const boost::json::value& object, std::string_view member);

}  // namespace hapax::test
