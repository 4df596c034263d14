// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A worker that leases events from hapax and processes each exactly once.
//
//     HAPAX_TOKEN=... pull_worker 127.0.0.1 8421 work worker.db [lease seconds]
//
// hapax delivers at least once: a worker that is killed after its work and before it settles gets
// the same delivery again. hapax::once claims the delivery's id in the transaction of the work, in
// the worker's own database. The worker may be killed at any point: the work is done once.
#include <hapax/sqlite.hpp>

#include <netdb.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <boost/json.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

namespace json = boost::json;
using hapax::Result;

struct Server {
  std::string host;
  std::string port;
  std::string token;
};

// Sends a POST on a new connection; any HTTP client will do. Returns the body of the response, or
// an empty string if there was none.
std::string post(const Server& server, const std::string& path, const std::string& body) {
  addrinfo* found = nullptr;
  if (getaddrinfo(server.host.c_str(), server.port.c_str(), nullptr, &found) != 0) return "";
  const int fd = socket(found->ai_family, SOCK_STREAM, 0);
  const timeval patience{90, 0};  // longer than the longest poll
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const bool connected = connect(fd, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  const std::string request = "POST " + path + " HTTP/1.1\r\nHost: " + server.host +
                              "\r\nConnection: close\r\nAuthorization: Bearer " + server.token +
                              "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                              body;
  std::string answer;
  if (connected && send(fd, request.data(), request.size(), MSG_NOSIGNAL) ==
                       static_cast<ssize_t>(request.size())) {
    char bytes[65536];
    for (ssize_t got = 0; (got = recv(fd, bytes, sizeof bytes, 0)) > 0;) {
      answer.append(bytes, static_cast<std::size_t>(got));
    }
  }
  close(fd);
  const std::size_t head = answer.find("\r\n\r\n");
  return head == std::string::npos ? "" : answer.substr(head + 4);
}

// Posts JSON and returns a member of the response. Repeats the request until there is one, because
// hapax may be unavailable or too busy: all calls may be repeated.
json::array ask(const Server& server, const std::string& path, const json::value& body,
                const char* member) {
  for (;;) {
    const std::string text = post(server, path, json::serialize(body));
    json::error_code error;
    const json::value answer = json::parse(text, error);
    const json::object* object = error ? nullptr : answer.if_object();
    if (object != nullptr && object->contains(member)) return object->at(member).as_array();
    std::cerr << (text.empty() ? "hapax does not answer" : text) << '\n';
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

// Your work, in your database.
Result<void> work(sqlite3* db, const json::value& delivery) {
  const auto failed = [db] { return hapax::Error(hapax::Code::work_failed, sqlite3_errmsg(db)); };
  sqlite3_stmt* row = nullptr;
  constexpr const char* kInsert = "INSERT INTO effects (delivery, id, body) VALUES (?, ?, ?)";
  if (sqlite3_prepare_v2(db, kInsert, -1, &row, nullptr) != SQLITE_OK) return failed();
  int column = 0;
  for (const char* each : {"delivery", "id", "body_base64"}) {
    const json::string& text = delivery.at(each).as_string();
    sqlite3_bind_text(row, ++column, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  sqlite3_step(row);
  if (sqlite3_finalize(row) != SQLITE_OK) return failed();
  return {};
}

// Claims the delivery and does the work in one transaction.
Result<void> handle(hapax::SqliteSession& session, const json::value& delivery) {
  auto tx = session.begin();
  if (!tx) return tx.error();
  const std::string id(delivery.at("delivery").as_string());
  auto done = hapax::once(*tx, {.scope = "deliveries", .id = id},
                          [&](hapax::SqliteTx& inside) { return work(inside.handle(), delivery); });
  if (!done) return done.error();  // the transaction is rolled back
  return tx->commit();
}

json::value result_of(hapax::SqliteSession& session, const json::value& delivery) {
  const Result<void> done = handle(session, delivery);
  json::object result{{"delivery", delivery.at("delivery")}, {"fence", delivery.at("fence")}};
  result["outcome"] = done ? "ack" : "retry";  // retry: on the schedule of the destination
  if (!done) result["error"] = done.error().detail();
  return result;
}

int main(int argc, char** argv) {
  const char* token = std::getenv("HAPAX_TOKEN");
  if (argc < 5 || token == nullptr) {
    std::cerr << "HAPAX_TOKEN=... pull_worker HOST PORT DESTINATION DATABASE [LEASE SECONDS]\n";
    return 2;
  }
  const Server server{argv[1], argv[2], token};
  const json::value wanted{{"destination", argv[3]},
                           {"max", 10},
                           {"lease_s", argc > 5 ? std::atof(argv[5]) : 30.0},
                           {"wait_s", 20}};
  sqlite3* opened = nullptr;
  sqlite3_open(argv[4], &opened);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> db(opened, sqlite3_close);
  sqlite3_busy_timeout(db.get(), 30'000);
  if (sqlite3_exec(db.get(),
                   "CREATE TABLE IF NOT EXISTS effects (delivery TEXT, id TEXT, body TEXT)",
                   nullptr, nullptr, nullptr) != SQLITE_OK) {
    std::cerr << sqlite3_errmsg(db.get()) << '\n';
    return 1;
  }
  auto session = hapax::SqliteSession::attach(db.get());
  if (!session) {
    std::cerr << session.error().to_string() << '\n';
    return 1;
  }
  for (;;) {
    for (const json::value& each : ask(server, "/v1/lease", wanted, "deliveries")) {
      // Settled one by one, so that a delivery that kills the worker affects no other.
      const json::array results{result_of(*session, each)};
      ask(server, "/v1/settle", {{"results", results}}, "results");
    }
  }
}
