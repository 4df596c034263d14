// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/event_filter.hpp"
#include "store/postgres/wire.hpp"

namespace hapax::store::postgres {

// Source, tenant, id, type, order key, status, since, until: NULL matches everything.
void add_filter(Parameters& parameters, const EventFilter& filter);

}  // namespace hapax::store::postgres
