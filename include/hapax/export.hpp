// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

// Everything is hidden by default; what this marks is the library's surface.
#define HAPAX_API __attribute__((visibility("default")))
// For what is inside a class of the surface and is not part of it.
#define HAPAX_HIDDEN __attribute__((visibility("hidden")))
