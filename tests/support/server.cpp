// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Intentionally empty: the only source of the library that owns the precompiled headers of the
// server tests.
