// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Example 02 on PostgreSQL: an order that is delivered at least once is booked once, together with
// its confirmation mail, in one transaction on the program's own connection.
#include <hapax/once.hpp>
#include <hapax/outbox.hpp>
#include <hapax/postgres.hpp>

#include <libpq-fe.h>

#include <iostream>
#include <memory>
#include <string>

using hapax::Result;

struct Order {
  std::string id;
  int cents = 0;
};

// Plain SQL: the program's own code, unchanged.
Result<void> insert(PGconn* connection, const Order& order) {
  const std::string cents = std::to_string(order.cents);
  const char* values[] = {order.id.c_str(), cents.c_str()};
  PGresult* done = PQexecParams(connection, "INSERT INTO orders VALUES ($1, $2)", 2, nullptr,
                                values, nullptr, nullptr, 0);
  const bool inserted = PQresultStatus(done) == PGRES_COMMAND_OK;
  PQclear(done);
  if (inserted) return {};
  return hapax::Error(hapax::Code::work_failed, PQerrorMessage(connection));
}

// This work happens once, or not at all.
Result<std::string> book(hapax::PostgresTx& tx, const Order& order, bool in_stock) {
  if (Result<void> inserted = insert(tx.handle(), order); !inserted) return inserted.error();
  auto mail = hapax::outbox(tx).enqueue({.destination = "mail", .payload = "Thank you!"});
  if (!mail) return mail.error();
  if (!in_stock) return hapax::Error(hapax::Code::work_failed, "out of stock");
  return "booked for " + std::to_string(order.cents) + " cents";
}

Result<hapax::Once> handle(hapax::PostgresSession& session, const Order& order, bool in_stock) {
  auto tx = session.begin();
  if (!tx) return tx.error();
  auto done = hapax::once(*tx, {.scope = "orders", .id = order.id},
                          [&](hapax::PostgresTx& inside) { return book(inside, order, in_stock); });
  if (!done) return done;  // the destructor of the transaction rolls it back
  if (Result<void> committed = tx->commit(); !committed) return committed.error();
  return done;
}

int main(int argc, char** argv) {
  const char* where = argc > 1 ? argv[1] : "postgres:///";
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(where), PQfinish);
  const char* table = "CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, cents integer)";
  const std::unique_ptr<PGresult, decltype(&PQclear)> made(PQexec(connection.get(), table),
                                                           PQclear);
  if (PQresultStatus(made.get()) != PGRES_COMMAND_OK) {
    std::cerr << PQerrorMessage(connection.get());
    return 1;
  }
  auto session = hapax::PostgresSession::attach(connection.get());
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
