// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/output.hpp"

#include "base/utf8.hpp"

#include <unistd.h>

#include <cstdio>

namespace hapax::cli {

namespace {

constexpr std::string_view kLayout = "\n\t";

void print_line(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fputc('\n', to);
  std::fflush(to);
}

}  // namespace

Output::Output(bool json_wanted)
    : json_asked_(json_wanted), json_(json_wanted || isatty(STDOUT_FILENO) == 0) {}

void Output::answer(std::string_view sentence, std::string_view json) const {
  print_line(stdout, json_ ? printable_json(json) : printable(sentence, kLayout));
}

void Output::answer_word(std::string_view word, std::string_view json) const {
  print_line(stdout, json_asked_ ? printable_json(json) : printable(word, kLayout));
}

void Output::answer_nothing(std::string_view sentence) const {
  if (!json_) print_line(stdout, printable(sentence, kLayout));
}

void Output::print(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Output::progress(std::string_view text) const {
  if (json_ || isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r%s\033[K", printable(text).c_str());
}

int Output::fail(const Error& error) const {
  print_line(stderr, "hapax: " + printable(error.to_string(), kLayout));
  if (json_) {
    print_line(stdout, "{\"error\":{\"code\":" + json_string(info(error.code()).name) +
                           ",\"outcome\":" + json_string(name(error.outcome())) +
                           ",\"detail\":" + json_string(error.detail()) + "}}");
  }
  return error.code() == Code::invalid_argument ? kUsage : kFailed;
}

int Output::wrong_usage(std::string_view text) const {
  print_line(stderr, "hapax: " + printable(text, kLayout));
  return kUsage;
}

}  // namespace hapax::cli
