// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/request.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace hapax::http {

// The bytes of a connection that were received and not used up, in one piece, with kBodyPadding
// readable bytes behind them. It grows with what arrives, never with what is announced.
class Buffer {
 public:
  std::size_t capacity() const { return capacity_; }
  std::string_view view() const { return {data_.get(), size_}; }

  // Room for `wanted` bytes more, or as many as doubling the buffer gives. May move what is there.
  std::span<char> room(std::size_t wanted) {
    if (capacity_ - size_ < std::min(wanted, kLeast)) grow();
    return {data_.get() + size_, std::min(wanted, capacity_ - size_)};
  }
  void filled(std::size_t count) { size_ += count; }

  // Takes bytes out: the ones behind move up.
  void remove(std::size_t at, std::size_t count) {
    if (size_ > at + count)
      std::memmove(data_.get() + at, data_.get() + at + count, size_ - at - count);
    size_ -= count;
  }

  // Gives the memory back when nothing is in it and it has grown.
  void shrink() {
    if (size_ == 0 && capacity_ > kFirst) *this = Buffer();
  }

 private:
  static constexpr std::size_t kFirst = 4096 - kBodyPadding;
  static constexpr std::size_t kLeast = 1024;

  void grow() {
    const std::size_t capacity = std::max(kFirst, 2 * (capacity_ + kBodyPadding) - kBodyPadding);
    auto data = std::make_unique<char[]>(capacity + kBodyPadding);
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

}  // namespace hapax::http
