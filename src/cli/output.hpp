// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include "base/json_text.hpp"

#include <string>
#include <string_view>

namespace hapax::cli {

inline constexpr int kDone = 0;       // yes, or done
inline constexpr int kFailed = 1;     // no, or failed
inline constexpr int kUsage = 2;      // wrong usage
inline constexpr int kDuplicate = 3;  // dedup only

// Where answers go: sentences on a terminal, one JSON object per line for programs (--json, or a
// standard output that is not a terminal). What a terminal would obey, as senders may write it into
// ids and headers, is shown and not sent to it; but for print().
class Output {
 public:
  explicit Output(bool json_wanted);

  // Prints one of the two on standard output.
  void answer(std::string_view sentence, std::string_view json) const;
  // The same, with JSON only where --json asked for it: for what people put into $(...).
  void answer_word(std::string_view word, std::string_view json) const;
  // Prints the sentence to a person. A program that asked for lines gets none.
  void answer_nothing(std::string_view sentence) const;
  // Prints `text` as it is.
  void print(std::string_view text) const;
  // Replaces the line in progress on a terminal's standard error; nothing elsewhere.
  void progress(std::string_view text) const;
  // Says what failed on standard error, and on standard output too when JSON is wanted there.
  // Returns the exit code.
  int fail(const Error& error) const;
  // Says on standard error what is wrong with the arguments. Returns the exit code.
  int wrong_usage(std::string_view text) const;

 private:
  bool json_asked_;
  bool json_;
};

}  // namespace hapax::cli
