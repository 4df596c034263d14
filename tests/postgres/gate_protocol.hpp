// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "postgres/gate.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// The part of PostgreSQL's protocol, version 3, that the gate needs.
namespace hapax::test {

inline std::uint32_t number_at(std::string_view bytes, std::size_t place) {
  std::uint32_t raw = 0;
  std::memcpy(&raw, bytes.data() + place, sizeof raw);
  return ntohl(raw);
}

// A unit of the client's bytes that can be forwarded: a whole request, or a message outside one.
struct Piece {
  std::string bytes;
  std::string sql;
  bool is_request = false;
  bool is_simple = false;
  bool asks_for_encryption = false;  // the answer is a single byte without a frame

  bool is(Kind kind) const {
    if (kind == Kind::claim) return sql.find("hapax._claim") != std::string::npos;
    if (kind == Kind::lease) return sql.find("hapax._lease") != std::string::npos;
    if (kind == Kind::commit) return is_simple && sql == "COMMIT";
    return true;
  }
};

class RequestReader {
 public:
  void feed(std::string_view bytes) { buffer_ += bytes; }

  std::optional<Piece> next() {
    for (;;) {
      const bool is_first = !started_;
      const std::string message = is_first ? take_first_message() : take_message();
      if (message.empty()) return std::nullopt;
      request_.bytes += message;
      if (is_first) return std::exchange(request_, Piece{});
      if (is_first_part(message)) continue;
      request_.is_request = message[0] == 'S' || message[0] == 'Q';
      if (message[0] == 'Q') note_simple(message);
      return std::exchange(request_, Piece{});
    }
  }

 private:
  // Parse, Bind, Describe, Execute, Close: a Sync follows.
  bool is_first_part(const std::string& message) {
    if (message[0] == 'P') {
      const std::size_t name_end = message.find('\0', 5);
      request_.sql = message.data() + name_end + 1;
    }
    return std::string_view("PBDEC").find(message[0]) != std::string_view::npos;
  }

  void note_simple(const std::string& message) {
    request_.is_simple = true;
    request_.sql = message.substr(5).c_str();
  }

  // Messages up to the start-up message have a length and a number, and no type byte.
  std::string take_first_message() {
    constexpr std::uint32_t kTls = 80877103;
    constexpr std::uint32_t kGss = 80877104;
    if (buffer_.size() < 8) return "";
    const std::uint32_t number = number_at(buffer_, 4);
    const std::string message = take(number_at(buffer_, 0));
    if (message.empty()) return "";
    request_.asks_for_encryption = number == kTls || number == kGss;
    started_ = !request_.asks_for_encryption;
    return message;
  }
  std::string take_message() {
    return buffer_.size() < 5 ? "" : take(number_at(buffer_, 1) + std::size_t{1});
  }
  std::string take(std::size_t size) {
    if (buffer_.size() < size) return "";
    std::string message = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return message;
  }

  std::string buffer_;
  bool started_ = false;
  Piece request_;
};

// Finds the end of an answer.
class AnswerReader {
 public:
  void expect_a_bare_byte() { bare_ = 1; }

  // Returns true if a ReadyForQuery message ends in these bytes. Parses whole messages only.
  bool ends_in(std::string_view bytes) {
    bool ended = false;
    const std::size_t bare = std::min(std::exchange(bare_, 0), bytes.size());
    buffer_ += bytes.substr(bare);
    while (buffer_.size() >= 5) {
      const std::size_t size = number_at(buffer_, 1) + std::size_t{1};
      if (buffer_.size() < size) break;
      ended = ended || buffer_[0] == 'Z';
      buffer_.erase(0, size);
    }
    return ended;
  }

 private:
  std::string buffer_;
  std::size_t bare_ = 0;
};

}  // namespace hapax::test
