// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

// Faults in libpq: the linker substitutes the functions of libpq_faults.cpp for the libpq calls
// that hapax makes. CMakeLists.txt lists them.
namespace hapax::test {

// How a call fails. The first two break the connection, and libpq itself notices. The other two
// simulate libpq without memory, on a working connection.
enum class LibpqFault : std::uint8_t {
  cut_before,      // nothing reaches the server; a new connection is refused
  cut_after,       // the server may get the whole request, and its answer is lost
  refused,         // the call does nothing and reports failure
  answer_dropped,  // the call succeeds and reports failure
};

std::string_view name(LibpqFault fault);
std::ostream& operator<<(std::ostream& out, LibpqFault fault);

enum class Lasting : bool { no, yes };

// While this object exists, the nth call of any of these functions fails, and if lasting all later
// ones too. One object at a time, and calls by one thread at a time.
class FailCall {
 public:
  FailCall(LibpqFault fault, int nth, Lasting lasting = Lasting::no);
  ~FailCall();
  FailCall(const FailCall&) = delete;
  FailCall& operator=(const FailCall&) = delete;

  bool reached() const;
};

// How the N-th call fails, and whether all later calls fail too.
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
