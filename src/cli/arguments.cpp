// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/arguments.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace hapax::cli {

namespace {

// Stores the values of an option. Returns what is wrong with them, or "".
using Store = std::function<std::string(const std::vector<std::string>&)>;

// Accepts the numbers that CLI11 accepts, such as "0x10", but not "-1" or values above 2^64 - 1.
bool read_number(const std::string& text, std::uint64_t& number) {
  char* end = nullptr;
  errno = 0;
  number = std::strtoull(text.c_str(), &end, 0);
  const bool whole = !text.empty() && end == text.c_str() + text.size();
  return whole && errno == 0 && text.find('-') == std::string::npos;
}

bool read_amount(const std::string& text, double& amount) {
  char* end = nullptr;
  amount = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size();
  return whole && std::isfinite(amount) && amount >= 0;
}

std::string range_of(const Rules& rules, const char* between) {
  return std::to_string(rules.min) + between + std::to_string(rules.max);
}

std::string store_number(const std::string& text, const Rules& rules, std::uint64_t& number) {
  if (read_number(text, number) && number >= rules.min && number <= rules.max) return {};
  return "'" + text + "' is not a whole number from " + range_of(rules, " to ");
}

std::string store_amount(const std::string& text, double& amount) {
  if (read_amount(text, amount)) return {};
  return "'" + text + "' is not a non-negative number";
}

std::string text_of(double amount) {
  char digits[32];
  const auto [end, failure] = std::to_chars(digits, digits + sizeof digits, amount);
  return {digits, end};
}

std::string list_of(std::span<const std::string_view> words) {
  std::string list;
  for (const std::string_view each : words) {
    if (!list.empty()) list += ',';
    list += each;
  }
  return "{" + list + "}";
}

std::string store_text(const std::string& text, const Rules& rules, std::string& value) {
  const bool allowed = rules.one_of.empty() || std::find(rules.one_of.begin(), rules.one_of.end(),
                                                         text) != rules.one_of.end();
  if (!allowed) return "'" + text + "' is not one of " + list_of(rules.one_of);
  value = text;
  return {};
}

// Adds one option to an app. All values are text to CLI11, because each value type that it converts
// costs seconds of compile time.
class OptionAdder {
 public:
  OptionAdder(CLI::App& app, const Option& option) : app_(app), option_(option) {}

  CLI::Option* operator()(bool* value) const {
    return app_.add_flag_callback(
        std::string(option_.names), [value] { *value = true; }, std::string(option_.help));
  }

  CLI::Option* operator()(std::string* value) const {
    const Rules rules = option_.rules;
    const std::string allowed = rules.one_of.empty() ? "" : ":" + list_of(rules.one_of);
    return add("TEXT" + allowed, *value, [rules, value](const std::vector<std::string>& given) {
      return store_text(given.front(), rules, *value);
    });
  }

  CLI::Option* operator()(std::vector<std::string>* values) const {
    CLI::Option* added = add("TEXT", "", [values](const std::vector<std::string>& given) {
      *values = given;
      return std::string();
    });
    added->expected(1, -1);  // one or more
    return added->allow_extra_args(option_.rules.several_each);
  }

  CLI::Option* operator()(std::uint64_t* number) const {
    return add_number(std::to_string(*number), [number](std::uint64_t given) { *number = given; });
  }

  CLI::Option* operator()(std::optional<std::uint64_t>* number) const {
    return add_number("", [number](std::uint64_t given) { *number = given; });
  }

  CLI::Option* operator()(double* amount) const {
    return add("FLOAT:NONNEGATIVE", text_of(*amount),
               [amount](const std::vector<std::string>& given) {
                 return store_amount(given.front(), *amount);
               });
  }

 private:
  CLI::Option* add_number(const std::string& by_default,
                          std::function<void(std::uint64_t)> keep) const {
    const Rules rules = option_.rules;
    const bool limited = rules.min != Rules().min || rules.max != Rules().max;
    const std::string range = limited ? " in [" + range_of(rules, " - ") + "]" : "";
    return add("UINT" + range, by_default,
               [rules, keep = std::move(keep)](const std::vector<std::string>& given) {
                 std::uint64_t number = 0;
                 std::string wrong = store_number(given.front(), rules, number);
                 if (wrong.empty()) keep(number);
                 return wrong;
               });
  }

  CLI::Option* add(const std::string& type, const std::string& by_default, Store store) const {
    const std::string names(option_.names);
    CLI::Option* added = app_.add_option(
        names,
        [names, store = std::move(store)](const std::vector<std::string>& given) {
          const std::string wrong = store(given);
          if (!wrong.empty()) throw CLI::ValidationError(names, wrong);
          return true;
        },
        std::string(option_.help));
    return added->type_name(type)->default_str(by_default);
  }

  CLI::App& app_;
  const Option& option_;
};

void add_options(CLI::App& app, const std::vector<Option>& options) {
  for (const Option& each : options) {
    CLI::Option* added = std::visit(OptionAdder(app, each), each.value);
    if (each.rules.required) added->required();
    if (!each.rules.excludes.empty()) {
      added->excludes(app.get_option(std::string(each.rules.excludes)));
    }
  }
}

void describe(CLI::App& app, const Command& command) {
  app.fallthrough();
  app.require_subcommand(command.run ? 0 : 1, 1);
  for (const std::vector<Option>& each : command.shared) add_options(app, each);
  add_options(app, command.options);
  for (const Command& each : command.subcommands) {
    describe(*app.add_subcommand(std::string(each.name), std::string(each.help)), each);
  }
}

const Command& chosen(const CLI::App& app, const Command& command) {
  for (const CLI::App* given : app.get_subcommands()) {
    for (const Command& each : command.subcommands) {
      if (each.name == given->get_name()) return chosen(*given, each);
    }
  }
  return command;
}

}  // namespace

// Names an unknown command, where CLI11 only reports that a command is required.
std::string without_command(const CLI::App& app, const Command& program,
                            const CLI::ParseError& wrong) {
  const Command& reached = chosen(app, program);
  const std::vector<std::string> words = app.remaining(true);
  if (reached.run || words.empty()) return wrong.what();
  return "unknown command '" + words.front() + "'";
}

Parsed parse(const Command& program, int argc, const char* const* argv) {
  CLI::App app{std::string(program.help), std::string(program.name)};
  describe(app, program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {.wants_help = true, .text = app.help()};
  } catch (const CLI::RequiredError& wrong) {
    return {.text = without_command(app, program, wrong)};
  } catch (const CLI::ParseError& wrong) {
    return {.text = wrong.what()};
  }
  return {.command = &chosen(app, program), .text = {}};
}

}  // namespace hapax::cli
