// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

// Everything is hidden by default; what this marks is the library's surface.
#define HAPAX_API __attribute__((visibility("default")))
