// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/lookups.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <boost/asio/post.hpp>

#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace hapax::http {

namespace {

namespace asio = boost::asio;
namespace ip = asio::ip;

void add(const sockaddr* found, Lookups::Addresses& addresses) {
  if (found->sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, found, sizeof four);
    addresses.emplace_back(ip::address_v4(ntohl(four.sin_addr.s_addr)));
  } else if (found->sa_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, found, sizeof six);
    ip::address_v6::bytes_type bytes{};
    std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
    addresses.emplace_back(ip::address_v6(bytes, six.sin6_scope_id));
  }
}

Lookups::Addresses look_up(const std::string& host) {
  Lookups::Addresses addresses;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    add(each->ai_addr, addresses);
  }
  freeaddrinfo(found);
  return addresses;
}

}  // namespace

// Shared with the lookup threads, which may outlive the Lookups object.
struct Lookups::State {
  explicit State(const Executor& given) : executor(given) {}

  // Called on the executor's thread.
  void answer(const std::string& host, const Addresses& addresses) {
    const auto found = waiting.find(host);
    if (found == waiting.end()) return;
    const auto all = std::move(found->second);
    waiting.erase(found);
    for (const auto& done : all) done(addresses);
  }

  std::map<std::string, std::vector<std::function<void(const Addresses&)>>> waiting;
  std::mutex mutex;
  bool open = true;  // the event loop exists
  const Executor executor;
};

Lookups::Lookups(const Executor& executor) : state_(std::make_shared<State>(executor)) {}

Lookups::~Lookups() {
  const std::lock_guard lock(state_->mutex);
  state_->open = false;
  state_->waiting.clear();
}

void Lookups::resolve(const std::string& host, std::function<void(const Addresses&)> done) {
  std::vector<std::function<void(const Addresses&)>>& all = state_->waiting[host];
  all.push_back(std::move(done));
  if (all.size() > 1) return;
  const auto tell = [state = state_, host](Addresses addresses) {
    const std::lock_guard lock(state->mutex);
    if (!state->open) return;
    asio::post(state->executor,
               [state, host, addresses = std::move(addresses)] { state->answer(host, addresses); });
  };
  try {
    std::thread([tell, host] { tell(look_up(host)); }).detach();
  } catch (const std::system_error&) {  // no thread available
    tell({});
  }
}

}  // namespace hapax::http
