// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include "base/json_text.hpp"

#include <string>
#include <string_view>

namespace hapax::cli {

inline constexpr int kDone = 0;       // yes, or success
inline constexpr int kFailed = 1;     // no, or failure
inline constexpr int kUsage = 2;      // usage error
inline constexpr int kDuplicate = 3;  // dedup only

// Prints results: sentences on a terminal, one JSON object per line for programs (--json, or a
// standard output that is not a terminal). Senders choose ids and headers, so terminal control
// characters are replaced, except by print().
class Output {
 public:
  explicit Output(bool json_wanted);

  // Prints one of the two to standard output.
  void answer(std::string_view sentence, std::string_view json) const;
  // Like answer(), but prints JSON only with --json: for values used in $(...).
  void answer_word(std::string_view word, std::string_view json) const;
  // Prints the sentence only on a terminal; programs get no line.
  void answer_nothing(std::string_view sentence) const;
  // Prints `text` verbatim.
  void print(std::string_view text) const;
  // Replaces the progress line on standard error, if that is a terminal and output is not JSON.
  void progress(std::string_view text) const;
  // Prints the error to standard error and, if JSON is printed, also to standard output. Returns
  // the exit code.
  int fail(const Error& error) const;
  // Prints a usage error to standard error. Returns the exit code.
  int wrong_usage(std::string_view text) const;

 private:
  bool json_asked_;
  bool json_;
};

}  // namespace hapax::cli
