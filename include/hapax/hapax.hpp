// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

// Includes all public headers.
#include <hapax/env.hpp>
#include <hapax/error.hpp>
#include <hapax/handshake.hpp>
#include <hapax/identify.hpp>
#include <hapax/once.hpp>
#include <hapax/outbox.hpp>
#include <hapax/postgres.hpp>
#include <hapax/reason.hpp>
#include <hapax/request.hpp>
#include <hapax/result.hpp>
#include <hapax/sqlite.hpp>
#include <hapax/store.hpp>
#include <hapax/tx.hpp>
#include <hapax/verify.hpp>
#include <hapax/version.hpp>
