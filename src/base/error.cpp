// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/error.hpp>

#include "base/check.hpp"

#include <array>

namespace hapax {

namespace {

using enum Outcome;

constexpr std::array<CodeInfo, kCodeCount> kCodes{{
    {Code::invalid_argument, "invalid-argument", did_not_happen, false, 400},
    {Code::misconfigured, "misconfigured", did_not_happen, false, 500},
    {Code::not_in_transaction, "not-in-transaction", did_not_happen, false, 500},
    {Code::handle_closed, "handle-closed", did_not_happen, false, 500},
    {Code::key_reused, "key-reused", did_not_happen, false, 422},
    {Code::work_failed, "work-failed", did_not_happen, false, 500},
    {Code::refused, "refused", did_not_happen, false, 409},
    {Code::store_busy, "store-busy", did_not_happen, true, 503},
    {Code::store_full, "store-full", did_not_happen, true, 503},
    {Code::store_read_only, "store-read-only", did_not_happen, false, 503},
    {Code::store_unavailable, "store-unavailable", did_not_happen, true, 503},
    {Code::store_corrupt, "store-corrupt", did_not_happen, false, 503},
    {Code::store_newer, "store-newer", did_not_happen, false, 503},
    {Code::outcome_unknown, "outcome-unknown", unknown, true, 503},
    {Code::queue_full, "queue-full", did_not_happen, true, 503},
    {Code::stopping, "stopping", did_not_happen, true, 503},
}};

constexpr bool codes_are_in_order() {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (static_cast<std::size_t>(kCodes[i].code) != i || kCodes[i].name.empty()) return false;
  }
  return true;
}
static_assert(codes_are_in_order(), "every Code has its row, in the order of the enum");

}  // namespace

const CodeInfo& info(Code code) noexcept {
  return kCodes[static_cast<std::size_t>(code)];
}

std::string_view name(Outcome outcome) noexcept {
  switch (outcome) {
    case did_not_happen:
      return "did-not-happen";
    case happened:
      return "happened";
    case unknown:
      break;
  }
  return "unknown";
}

Error::Error(Code code, std::string detail, const char* file, int line)
    : Error(code, info(code).outcome, std::move(detail), file, line) {}

Error::Error(Code code, Outcome outcome, std::string detail, const char* file, int line)
    : code_(code), outcome_(outcome), line_(line), file_(file), detail_(std::move(detail)) {}

std::string Error::to_string() const {
  std::string text{info(code_).name};
  text += ": ";
  text += detail_;
  if (outcome_ != did_not_happen && code_ != Code::outcome_unknown) {
    text += " (outcome: ";
    text += name(outcome_);
    text += ')';
  }
  return text;
}

namespace detail {

void no_value(const Error& error) noexcept {
  check_failed("a Result was read that holds an error", error.to_string().c_str(), error.file(),
               error.line());
}

void no_error() noexcept {
  check_failed("the error of a Result was read that holds a value", "", "", 0);
}

}  // namespace detail

}  // namespace hapax
