// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

// Faults in the place of libpq: the linker puts the functions of libpq_faults.cpp before the calls
// that hapax makes. CMakeLists.txt says which.
namespace hapax::test {

// How a call fails. The first two break the connection, and libpq itself finds out. The other two
// are what libpq does when it has no memory: the connection is well.
enum class LibpqFault : std::uint8_t {
  cut_before,      // nothing of the call reaches the server; a new connection is refused
  cut_after,       // the server may get all of it, and its answer finds nobody
  refused,         // the call does nothing and says so
  answer_dropped,  // the call does what it should and says that it failed
};

std::string_view name(LibpqFault fault);
std::ostream& operator<<(std::ostream& out, LibpqFault fault);

enum class Lasting : bool { no, yes };

// While it lives, the nth call of any of these functions fails, and no other or all that follow.
// One at a time, and calls by one thread at a time.
class FailCall {
 public:
  FailCall(LibpqFault fault, int nth, Lasting lasting = Lasting::no);
  ~FailCall();
  FailCall(const FailCall&) = delete;
  FailCall& operator=(const FailCall&) = delete;

  bool reached() const;
};

// How the calls fail from the N-th on: it alone, or it and all that follow.
struct Shape {
  LibpqFault fault;
  Lasting lasting;

  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.fault << (shape.lasting == Lasting::yes ? "ForGood" : "Once");
  }
};

inline constexpr Shape kShapes[] = {
    {LibpqFault::cut_before, Lasting::no},  {LibpqFault::cut_after, Lasting::no},
    {LibpqFault::refused, Lasting::no},     {LibpqFault::answer_dropped, Lasting::no},
    {LibpqFault::cut_before, Lasting::yes}, {LibpqFault::cut_after, Lasting::yes}};

}  // namespace hapax::test
