// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A queue delivers an order at least once. The order is booked once, together with its confirmation
// mail: the claim, the row and the mail are one transaction on the program's own handle.
#include <hapax/once.hpp>
#include <hapax/outbox.hpp>
#include <hapax/sqlite.hpp>

#include <sqlite3.h>

#include <iostream>
#include <memory>
#include <string>

using hapax::Result;

struct Order {
  std::string id;
  int cents = 0;
};

// Plain SQL: the program's own code, unchanged.
Result<void> insert(sqlite3* db, const Order& order) {
  sqlite3_stmt* row = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO orders VALUES (?, ?)", -1, &row, nullptr);
  sqlite3_bind_text(row, 1, order.id.c_str(), -1, SQLITE_STATIC);
  sqlite3_bind_int(row, 2, order.cents);
  sqlite3_step(row);
  if (sqlite3_finalize(row) == SQLITE_OK) return {};
  return hapax::Error(hapax::Code::work_failed, sqlite3_errmsg(db));
}

// This work happens once, or not at all.
Result<std::string> book(hapax::SqliteTx& tx, const Order& order, bool in_stock) {
  if (Result<void> inserted = insert(tx.handle(), order); !inserted) return inserted.error();
  auto mail = hapax::outbox(tx).enqueue({.destination = "mail", .payload = "Thank you!"});
  if (!mail) return mail.error();
  if (!in_stock) return hapax::Error(hapax::Code::work_failed, "out of stock");
  return "booked for " + std::to_string(order.cents) + " cents";
}

Result<hapax::Once> handle(hapax::SqliteSession& session, const Order& order, bool in_stock) {
  auto tx = session.begin();
  if (!tx) return tx.error();
  auto done = hapax::once(*tx, {.scope = "orders", .id = order.id},
                          [&](hapax::SqliteTx& inside) { return book(inside, order, in_stock); });
  if (!done) return done;  // the destructor of the transaction rolls it back
  if (Result<void> committed = tx->commit(); !committed) return committed.error();
  return done;
}

int main(int argc, char** argv) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open(argc > 1 ? argv[1] : "once.db", &opened);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> db(opened, sqlite3_close);
  const char* table = "CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, cents INTEGER)";
  if (status != SQLITE_OK ||
      sqlite3_exec(db.get(), table, nullptr, nullptr, nullptr) != SQLITE_OK) {
    std::cerr << sqlite3_errmsg(db.get()) << '\n';
    return 1;
  }
  auto session = hapax::SqliteSession::attach(db.get());
  if (!session) {
    std::cerr << session.error().to_string() << '\n';
    return 1;
  }

  for (const bool in_stock : {false, true, true}) {
    auto answer = handle(*session, {.id = "order-7", .cents = 4200}, in_stock);
    if (!answer) {
      std::cout << "order-7 failed and may be retried: " << answer.error().detail() << '\n';
    } else {
      std::cout << "order-7 " << (answer->duplicate ? "was done before: " : "is done: ")
                << answer->result << '\n';
    }
  }
}
