// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/served.hpp"

namespace hapax::admin {

ServedSource shown(const gateway::Source& source) {
  ServedSource shown{.name = source.name, .no = source.no};
  if (source.preset != nullptr) {
    shown.preset = source.preset->name;
    shown.id_signed = source.preset->id_signed;
    shown.time_signed = source.preset->time_signed;
  }
  shown.splits = source.splits;
  shown.deliver_to = source.deliver_to;
  shown.remember = source.remember;
  shown.keep = source.keep;
  shown.keep_dead = source.keep_dead;
  shown.secrets = source.secrets.size();
  shown.secret_use = source.secret_use;
  return shown;
}

}  // namespace hapax::admin
