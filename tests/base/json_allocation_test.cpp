// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A program of its own, because it counts every allocation that is made in it.
#include "base/json.hpp"

#include <hapax/request.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int> allocations{0};

void* counted(std::size_t size) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

// Not inlined, or g++ sees malloc beside delete and warns.
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

namespace hapax {
namespace {

std::string padded(std::string document) {
  return document.append(kBodyPadding, '\0');
}

TEST(JsonAllocation, TheCounterCounts) {
  const int before = allocations;
  const std::string text(1000, 'x');
  EXPECT_GT(allocations, before) << text.size();
}

TEST(JsonAllocation, OnceWarmReadingInPlaceAllocatesNothing) {
  const std::string documents[] = {
      padded(R"({"id":"evt_1","type":"x","data":{"object":{"id":"\u0041"}}})"),
      padded("{\"id\":\"evt_2\",\"more\":\"" + std::string(3000, 'y') + "\"}"),
      padded("[1,2,3]"),
  };
  JsonReader reader;
  for (const std::string& each : documents)
    reader.open({each.data(), each.size() - kBodyPadding}, kBodyPadding);
  const int before = allocations;
  bool opened = true;
  for (int i = 0; i < 100; ++i) {
    for (const std::string& each : documents) {
      opened = opened && reader.open({each.data(), each.size() - kBodyPadding}, kBodyPadding);
      opened = opened && reader.at("/id").text.size() < 15;
    }
  }
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(opened);
}

TEST(JsonAllocation, OnceWarmACopyIsMadeInTheSameBuffer) {
  const std::string document = "{\"id\":\"evt_2\",\"more\":\"" + std::string(3000, 'y') + "\"}";
  JsonReader reader;
  ASSERT_TRUE(reader.open(document, 0));
  const int before = allocations;
  bool opened = true;
  for (int i = 0; i < 100; ++i) opened = opened && reader.open(document, 0);
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(opened);
}

}  // namespace
}  // namespace hapax
