// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/config_view.hpp"
#include "deliver/listeners.hpp"
#include "env/log.hpp"
#include "gateway/endpoint.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hapax::daemon {

// The registered listeners of all nodes, and their event routing. refresh() and with_listeners()
// are called by one thread at a time; drop_old() by one thread, which may be another.
class Listening {
 public:
  Listening(deliver::Listeners& listeners, store::Catalog& catalog, Clock& clock, Log& log)
      : listeners_(listeners), catalog_(catalog), clock_(clock), log_(log) {}

  // Reloads the registered listeners. False: nothing has changed since the last refresh.
  Result<bool> refresh();
  // Routes new events of the sources to the listeners. Returns `view` with the listeners added.
  std::shared_ptr<const admin::ConfigView> with_listeners(const admin::ConfigView& view,
                                                          const gateway::Sources& sources) const;
  // Deletes listeners whose name is now configured, and old ones: when `view` has changed, and
  // every 10 minutes. Logs those that this version cannot read.
  void drop_old(const std::shared_ptr<const admin::ConfigView>& view);

  // A listener and its destination number.
  struct Registration {
    deliver::Listener listener;
    DestinationNo no{};
  };

 private:
  void log_unreadable(std::vector<std::string> names);

  deliver::Listeners& listeners_;
  store::Catalog& catalog_;
  Clock& clock_;
  Log& log_;
  std::vector<Registration> all_;
  BootTime dropped_old_{};
  std::shared_ptr<const admin::ConfigView> dropped_for_;
  std::vector<std::string> unreadable_;  // already logged
};

}  // namespace hapax::daemon
