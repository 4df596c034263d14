// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace hapax::http {

// A contiguous buffer of the received and unconsumed bytes of a connection, followed by
// kBodyPadding readable bytes. It grows with the bytes received, never with an announced length.
class Buffer {
 public:
  std::size_t capacity() const { return capacity_; }
  std::string_view view() const { return {data_.get(), size_}; }

  // Free space for at most `wanted` more bytes; grows by doubling. May move the contents.
  std::span<char> room(std::size_t wanted) {
    if (capacity_ - size_ < std::min(wanted, kLeast)) grow();
    return {data_.get() + size_, std::min(wanted, capacity_ - size_)};
  }
  void filled(std::size_t count) { size_ += count; }

  // Removes bytes; the following bytes move forward.
  void remove(std::size_t at, std::size_t count) {
    if (size_ > at + count)
      std::memmove(data_.get() + at, data_.get() + at + count, size_ - at - count);
    size_ -= count;
  }

  // Frees the memory if the buffer is empty and has grown.
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
