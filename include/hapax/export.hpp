// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

// Everything is hidden by default; this marks the public API.
#define HAPAX_API __attribute__((visibility("default")))
// For private parts of public classes.
#define HAPAX_HIDDEN __attribute__((visibility("hidden")))
