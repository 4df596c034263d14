// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/allocations.hpp"

#include <cstdlib>
#include <new>

namespace hapax::test {

std::atomic<int> allocations{0};

}  // namespace hapax::test

namespace {

void* counted(std::size_t size) noexcept {
  ++hapax::test::allocations;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

// Not inlined: g++ would warn about memory from malloc that is released by delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* memory = counted(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return operator new(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
