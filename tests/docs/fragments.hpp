// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Names that the C++ fragments of the documentation use without a definition. run_blocks compiles a
// definition in a namespace, and statements in a member function of a class derived from Given.
#pragma once

#include <hapax/hapax.hpp>
#include <hapax/sqlite.hpp>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

using hapax::Result;

struct Order {
  std::string id;
  int cents = 0;
};

Result<std::string> book(hapax::SqliteTx& tx, const Order& order, bool in_stock);

struct Given {
  hapax::SqliteTx& tx;
  const Result<hapax::Dedup>& seen;
  const std::vector<std::string>& secrets;
  const hapax::Request& request;
  hapax::WallTime now;
};

// The return type of statements: they return exit codes and errors.
struct Returned {
  template <class T>
  Returned(const T&) {}
};
