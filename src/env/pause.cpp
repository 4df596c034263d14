// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "env/pause.hpp"

#include <thread>

namespace hapax {

void pause(BootTime length) {
  std::this_thread::sleep_for(length);
}

}  // namespace hapax
