// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/requests.hpp"

#include <hapax/verify.hpp>

#include "base/hex.hpp"
#include "bench/must.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace hapax::bench {

namespace {

constexpr std::size_t kBody = 1024;

std::string random_hex(Random& random, std::size_t bytes) {
  std::string raw(bytes, '\0');
  random.fill({reinterpret_cast<unsigned char*>(raw.data()), raw.size()});
  return to_hex(raw);
}

// Ids of all kinds have the same length.
std::string id_of(Ids ids, Random& random, WallTime start, std::size_t number) {
  if (ids == Ids::same) return "msg_" + std::string(28, '0');
  if (ids == Ids::random) return "msg_" + random_hex(random, 14);
  std::array<char, 48> text{};
  const auto tick = static_cast<unsigned long long>(start.time_since_epoch().count()) + number;
  std::snprintf(text.data(), text.size(), "msg_%016llx%s", tick, random_hex(random, 6).c_str());
  return text.data();
}

std::string body_of(const std::string& id) {
  std::string body = R"({"type":"order.paid","data":{"id":")" + id + R"(","note":")";
  body.append(kBody - body.size() - 3, 'x');
  return body + "\"}}";
}

std::string request_of(const std::string& body, const Signed& made) {
  std::string out =
      "POST /in/demo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
      "User-Agent: bench\r\n";
  for (const OwnedHeader& each : made.headers) out += each.name + ": " + each.value + "\r\n";
  return out + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

Requests write_requests(const std::string& path, const std::string& secret, Ids ids,
                        std::size_t count) {
  const std::unique_ptr<Clock> clock = make_system_clock();
  const std::unique_ptr<Random> random = make_system_random();
  const WallTime now = clock->wall();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  Requests made{path, 0, count};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string id = id_of(ids, *random, now, i);
    const std::string body = body_of(id);
    const Request unsigned_request{.body = body};
    const Signed signed_request =
        must(sign(preset("standard-webhooks")->verify, secret, unsigned_request, id, now));
    const std::string request = request_of(body, signed_request);
    if (made.size == 0) made.size = request.size();
    if (request.size() != made.size) throw std::runtime_error("requests differ in size");
    file.write(request.data(), static_cast<std::streamsize>(request.size()));
  }
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
  return made;
}

}  // namespace hapax::bench
