// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// Commands and their options as data. Only parse() knows the library that reads command lines.
namespace hapax::cli {

class Output;

// Where the value of an option is stored. The type says which values are allowed; the content
// before parse() is the default, which --help shows.
using Target = std::variant<bool*,                          // no value: true when it is given
                            std::string*,                   // text
                            std::vector<std::string>*,      // text; the option may be repeated
                            std::uint64_t*,                 // a whole number
                            std::optional<std::uint64_t>*,  // a whole number; none by default
                            double*>;                       // a number that is not negative

// What else holds for an option.
struct Rules {
  bool required = false;
  bool several_each = false;  // of repeatable text: takes all values up to the next option
  std::uint64_t min = 0;      // of a whole number
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::span<const std::string_view> one_of{};  // of text: the allowed values; empty: any
  std::string_view excludes{};  // an option above it in the table: only one of the two is given
};

inline constexpr Rules kRequired{.required = true};

constexpr Rules between(std::uint64_t min, std::uint64_t max) {
  return {.min = min, .max = max};
}

// A line of the table of options. The texts outlive parse(): they are literals.
struct Option {
  std::string_view names;  // "-c,--config"; without dashes it is a positional argument
  Target value;
  std::string_view help;
  Rules rules{};
};

// A command owns what its options point to, mostly by what `run` has captured.
struct Command {
  std::string_view name;
  std::string_view help;
  std::vector<std::vector<Option>> shared{};  // tables that other commands have too
  std::vector<Option> options{};              // its own
  // The exit code, or the error to print. None: a subcommand is required.
  std::function<Result<int>(const Output&)> run{};
  std::vector<Command> subcommands{};  // which take the options of this command too
};

// A `run` that calls the function with the arguments of the command and keeps them alive.
template <class Arguments>
std::function<Result<int>(const Output&)> run_with(std::shared_ptr<Arguments> arguments,
                                                   Result<int> (*function)(const Arguments&,
                                                                           const Output&)) {
  return [arguments = std::move(arguments), function](const Output& output) {
    return function(*arguments, output);
  };
}

struct Parsed {
  const Command* command = nullptr;  // the one to run, in `program`; null: print `text` instead
  bool wants_help = false;           // `text` is the help that was asked for
  std::string text;                  // else what is wrong with the arguments
};

// Reads a command line, as main() gets it, into the targets of the options. Targets of options that
// were not given keep their content. When `command` is null, what targets contain is unspecified.
Parsed parse(const Command& program, int argc, const char* const* argv);

}  // namespace hapax::cli
