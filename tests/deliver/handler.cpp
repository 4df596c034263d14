// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/handler.hpp"

#include <netinet/tcp.h>

#include <algorithm>
#include <chrono>

namespace hapax::test {

namespace {

constexpr std::chrono::minutes kGenerous{2};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Reads one request, which may be partly or completely in `buffer`; false if the peer closes
// earlier.
bool read_next_request(int fd, std::string& buffer, ReceivedRequest& received) {
  std::size_t whole = 0;
  while (whole == 0 || buffer.size() < whole) {
    const std::size_t end = buffer.find("\r\n\r\n");
    if (whole == 0 && end != std::string::npos) {
      received.head = buffer.substr(0, end + 2);
      const std::string length = received.header("Content-Length");
      whole = end + 4 + (length.empty() ? 0 : std::stoul(length));
      continue;
    }
    char bytes[16 * 1024];
    const ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    buffer.append(bytes, static_cast<std::size_t>(got));
  }
  received.body = buffer.substr(received.head.size() + 2, whole - received.head.size() - 2);
  buffer.erase(0, whole);
  return true;
}

}  // namespace

std::string ReceivedRequest::header(std::string_view name) const {
  for (std::size_t at = head.find("\r\n"); at != std::string::npos && at + 2 < head.size();
       at = head.find("\r\n", at + 2)) {
    const std::string_view line =
        std::string_view(head).substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    const bool same = std::equal(name.begin(), name.end(), line.begin(),
                                 [](char a, char b) { return lower(a) == lower(b); });
    if (!same) continue;
    std::string_view value = line.substr(name.size() + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    return std::string(value);
  }
  return "";
}

Handler::Handler(Answer answer, bool keeps) : answer_(std::move(answer)), keeps_(keeps) {
  listener_ = listen_anywhere(256, port_);
  acceptor_ = std::thread([this] { accept_all(); });
}

Handler::~Handler() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  std::unique_lock lock(mutex_);
  for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  came_.wait(lock, [&] { return serving_ == 0; });
}

void Handler::accept_all() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::lock_guard lock(mutex_);
    ++connections_;
    open_.push_back(fd);
    ++serving_;
    std::thread([this, fd] { serve(fd); }).detach();
  }
}

void Handler::serve(int fd) {
  std::string buffer;
  for (;;) {
    ReceivedRequest received;
    if (!read_next_request(fd, buffer, received)) break;
    {
      const std::lock_guard lock(mutex_);
      if (keeps_) received_.push_back(received);
    }
    came_.notify_all();
    if (!answer_(fd, received)) break;
  }
  const std::lock_guard lock(mutex_);
  std::erase(open_, fd);
  close(fd);
  --serving_;
  came_.notify_all();
}

std::string Handler::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<ReceivedRequest> Handler::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

std::size_t Handler::count() const {
  const std::lock_guard lock(mutex_);
  return received_.size();
}

int Handler::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

bool Handler::wait_for(std::size_t count) const {
  std::unique_lock lock(mutex_);
  return came_.wait_for(lock, kGenerous, [&] { return received_.size() >= count; });
}

std::string answer_of(int status, std::string_view body, std::string_view headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " X\r\n";
  text.append(headers);
  text.append("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n").append(body);
  return text;
}

bool reply(int fd, int status, std::string_view body, std::string_view headers) {
  write_text(fd, answer_of(status, body, headers));
  return true;
}

}  // namespace hapax::test
