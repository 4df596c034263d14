// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Nothing: the library that this is the source of has the precompiled headers of the tests of the
// server.
