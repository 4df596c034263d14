// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

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

// Commands and their options as data. Only parse() depends on the command-line library.
namespace hapax::cli {

class Output;

// Where the value of an option is stored. The type determines the allowed values. The content
// before parse() is the default, which --help shows.
using Target = std::variant<bool*,                          // no value; true if the option is given
                            std::string*,                   // text
                            std::vector<std::string>*,      // text; the option may be repeated
                            std::uint64_t*,                 // an integer
                            std::optional<std::uint64_t>*,  // an integer; no default
                            double*>;                       // a non-negative number

// Further constraints on an option.
struct Rules {
  bool required = false;
  bool several_each = false;  // repeatable text: takes all values up to the next option
  std::uint64_t min = 0;      // of an integer
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::span<const std::string_view> one_of{};  // of text: the allowed values; empty: any
  std::string_view excludes{};  // an earlier option of the table; only one of the two may be given
};

inline constexpr Rules kRequired{.required = true};

constexpr Rules between(std::uint64_t min, std::uint64_t max) {
  return {.min = min, .max = max};
}

// An entry of the option table. The texts are literals, so they outlive parse().
struct Option {
  std::string_view names;  // "-c,--config"; without dashes it is a positional argument
  Target value;
  std::string_view help;
  Rules rules{};
};

// A command owns the targets of its options, usually as captures of `run`.
struct Command {
  std::string_view name;
  std::string_view help;
  std::vector<std::vector<Option>> shared{};  // tables shared with other commands
  std::vector<Option> options{};              // its own
  // The exit code, or the error to print. None: a subcommand is required.
  std::function<Result<int>(const Output&)> run{};
  std::vector<Command> subcommands{};  // they also accept the options of this command
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
  bool wants_help = false;           // `text` is the requested help
  std::string text;                  // otherwise the error in the arguments
};

// Parses a command line, as main() receives it, into the targets of the options. Targets of options
// that were not given keep their content. If `command` is null, the contents are unspecified.
Parsed parse(const Command& program, int argc, const char* const* argv);

}  // namespace hapax::cli
