// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/once.hpp>

#include "base/try.hpp"
#include "tx/errors.hpp"

namespace hapax {

namespace {

Result<void> check_result(std::string_view result) {
  if (result.size() <= kMaxResult) return {};
  return Error(Code::invalid_argument, "a stored result has at most " + std::to_string(kMaxResult) +
                                           " bytes; this one has " + std::to_string(result.size()));
}

}  // namespace

namespace detail {

OnceStep::~OnceStep() {
  // Only if the work threw. The result is ignored: the exception has the cause, and leave() has
  // rolled back the whole transaction if it could not undo its part.
  if (open_) static_cast<void>(tx_.leave(entered_).has_value());
}

Result<std::optional<Once>> OnceStep::enter(const OnceId& what) {
  HAPAX_TRY_ASSIGN(entered, tx_.enter(what));
  if (entered.duplicate) {
    return std::optional<Once>(Once{.duplicate = true, .result = std::move(entered.result)});
  }
  entered_ = std::move(entered);
  open_ = true;
  return std::optional<Once>();
}

Result<Once> OnceStep::keep(Result<std::string> done) {
  if (done) {
    if (Result<void> fits = check_result(*done); !fits) done = std::move(fits).error();
  }
  if (done) {
    Result<void> kept = tx_.keep(entered_, *done);
    if (kept) {
      open_ = false;
      return Once{.duplicate = false, .result = std::move(*done)};
    }
    done = std::move(kept).error();
  }
  open_ = false;
  HAPAX_TRY_ASSIGN(goes_on, tx_.leave(entered_));
  return goes_on ? std::move(done).error() : transaction_over(done.error());
}

}  // namespace detail

}  // namespace hapax
