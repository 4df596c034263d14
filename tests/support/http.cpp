// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/http.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>

namespace hapax::test {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string head_of(std::string_view method, std::string_view target,
                    const std::vector<OwnedHeader>& headers) {
  std::string head = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\n";
  head += "Host: 127.0.0.1\r\n";
  for (const OwnedHeader& each : headers) head += each.name + ": " + each.value + "\r\n";
  return head;
}

}  // namespace

std::string HttpAnswer::header(std::string_view name) const {
  const std::string wanted = "\r\n" + lower(std::string(name)) + ":";
  const std::size_t at = lower(head).find(wanted);
  if (at == std::string::npos) return "";
  const std::size_t begin = head.find_first_not_of(' ', at + wanted.size());
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

std::string HttpAnswer::problem() const {
  constexpr std::string_view kType = "{\"type\":\"urn:hapax:error:";
  if (header("Content-Type") != "application/problem+json" || body.find(kType) != 0) return "";
  return body.substr(kType.size(), body.find('"', kType.size()) - kType.size());
}

RawClient::RawClient(int port, const char* from)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{300, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (from != nullptr) {
    inet_pton(AF_INET, from, &address.sin_addr);
    bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(socket_);
    socket_ = -1;
  }
}

RawClient::~RawClient() {
  if (socket_ >= 0) close(socket_);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawClient::finish_sending() {
  shutdown(socket_, SHUT_WR);
}

bool RawClient::read_more() {
  std::array<char, 16384> part{};
  ssize_t got = 0;
  do {  // recv() fails with EINTR after a SIGSTOP and SIGCONT
    got = recv(socket_, part.data(), part.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  buffer_.append(part.data(), static_cast<std::size_t>(got));
  return true;
}

HttpAnswer RawClient::receive() {
  for (;;) {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return {};
    }
    HttpAnswer answer;
    answer.head = buffer_.substr(0, end + 2);
    answer.status = std::stoi(answer.head.substr(9, 3));
    buffer_.erase(0, end + 4);
    if (answer.status / 100 == 1) continue;
    const std::string length = answer.header("Content-Length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    while (buffer_.size() < size) {
      if (!read_more()) return {};
    }
    answer.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return answer;
  }
}

std::string RawClient::receive_all() {
  while (read_more()) {
  }
  return std::move(buffer_);
}

bool RawClient::closed_by_peer() {
  char byte = 0;
  return buffer_.empty() && recv(socket_, &byte, 1, 0) == 0;
}

HttpAnswer RawClient::post(std::string_view target, const std::vector<OwnedHeader>& headers,
                           std::string_view body) {
  const std::string head = head_of("POST", target, headers);
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  if (!send(head + length + std::string(body))) return {};
  return receive();
}

HttpAnswer RawClient::get(std::string_view target, const std::vector<OwnedHeader>& headers) {
  if (!send(head_of("GET", target, headers) + "\r\n")) return {};
  return receive();
}

std::vector<OwnedHeader> signed_headers(std::string_view preset_name, const std::string& secret,
                                        std::string_view body, std::string_view id) {
  const Preset* row = preset(preset_name);
  EXPECT_NE(row, nullptr) << preset_name;
  const Request request{.body = body};
  Result<Signed> made = sign(row->verify, secret, request, id, make_system_clock()->wall());
  EXPECT_TRUE(made) << preset_name;
  return made ? made->headers : std::vector<OwnedHeader>();
}

}  // namespace hapax::test
