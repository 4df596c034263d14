// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "postgres/gate_protocol.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <utility>

// A connection through the gate: its two sockets and the bytes in transit.
namespace hapax::test {

using Moment = std::chrono::steady_clock::time_point;
inline constexpr Moment kNever = Moment::max();

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { close(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Closes so that the peer gets a reset, not an orderly end.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

 private:
  int fd_ = -1;
};

// The speed at which bytes are forwarded.
struct Pace {
  std::chrono::milliseconds delay{0};
  std::size_t at_a_time = SIZE_MAX;
};

// Bytes in transit to one side.
class Lane {
 public:
  void add(std::string bytes, const Pace& pace) {
    if (bytes.empty()) return;
    chunks_.push_back({std::chrono::steady_clock::now() + pace.delay, std::move(bytes)});
  }
  bool empty() const { return chunks_.empty(); }
  void clear() { chunks_.clear(); }
  // When the first chunk may be sent.
  Moment due() const { return chunks_.empty() ? kNever : chunks_.front().due; }
  // Returns false if the peer accepts nothing now or is gone.
  bool send_some(int fd, const Pace& pace) {
    std::string& bytes = chunks_.front().bytes;
    const ssize_t sent =
        send(fd, bytes.data(), std::min(bytes.size(), pace.at_a_time), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return false;
    bytes.erase(0, static_cast<std::size_t>(sent));
    if (bytes.empty()) chunks_.pop_front();
    return true;
  }

 private:
  struct Chunk {
    Moment due;
    std::string bytes;
  };
  std::deque<Chunk> chunks_;
};

// A client's connection and its connection to the server.
struct Link {
  enum class State : std::uint8_t {
    forwarding,
    cutting_after,    // the server has the request; its answer is awaited and dropped
    silencing_after,  // the same
    silent,           // all bytes are discarded
    holding,          // no client; the request is kept
    draining,         // no client; the server has the request
    over,
  };

  // Closes both sides.
  void cut() {
    if (client.is_open()) client.reset();
    server.close();
    state = State::over;
  }
  bool drops_answers() const { return state != State::forwarding; }
  bool awaits_answer() const {
    return state == State::cutting_after || state == State::silencing_after;
  }

  Fd client;
  Fd server;
  State state = State::forwarding;
  RequestReader requests;
  AnswerReader answers;
  Lane to_client;
  Lane to_server;
  std::string held;
};

}  // namespace hapax::test
