// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/arguments.hpp"

#include "cli/output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hapax::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Parsed parse_line(const Command& program, std::vector<const char*> words) {
  words.insert(words.begin(), "hapax");
  return parse(program, static_cast<int>(words.size()), words.data());
}

Result<int> run_nothing(const Output&) {
  return kDone;
}

// Parses the words for a program with only these options.
Parsed parse_options(const std::vector<Option>& options, std::vector<const char*> words) {
  const Command program{.name = "hapax", .help = "", .options = options, .run = run_nothing};
  Parsed parsed = parse_line(program, std::move(words));
  EXPECT_EQ(parsed.command == &program, parsed.text.empty());
  parsed.command = nullptr;  // points to `program`, which is destroyed here
  return parsed;
}

// The error message for the words; "" if they are valid.
std::string problem(const std::vector<Option>& options, std::vector<const char*> words) {
  const Parsed parsed = parse_options(options, std::move(words));
  EXPECT_FALSE(parsed.wants_help);
  return parsed.text;
}

std::string help(const std::vector<Option>& options) {
  const Parsed parsed = parse_options(options, {"--help"});
  EXPECT_TRUE(parsed.wants_help);
  return parsed.text;
}

TEST(Flag, IsTrueIfGiven) {
  bool flag = false;
  const std::vector<Option> options{{"--flag", &flag, "A flag"}};
  EXPECT_EQ(problem(options, {}), "");
  EXPECT_FALSE(flag);
  EXPECT_EQ(problem(options, {"--flag=false"}), "");
  EXPECT_FALSE(flag);
  EXPECT_THAT(problem(options, {"--flag=perhaps"}), HasSubstr("--flag = perhaps"));
  EXPECT_EQ(problem(options, {"--flag", "--flag"}), "");
  EXPECT_TRUE(flag);
}

TEST(Text, IsTakenVerbatim) {
  std::string text = "before";
  const std::vector<Option> options{{"-t,--text", &text, "A text"}};
  EXPECT_EQ(problem(options, {}), "");
  EXPECT_EQ(text, "before");
  EXPECT_EQ(problem(options, {"--text", " a b "}), "");
  EXPECT_EQ(text, " a b ");
  EXPECT_EQ(problem(options, {"--text=-x=y"}), "");
  EXPECT_EQ(text, "-x=y");
  EXPECT_EQ(problem(options, {"-t", "short"}), "");
  EXPECT_EQ(text, "short");
  EXPECT_EQ(problem(options, {"--text", ""}), "");
  EXPECT_EQ(text, "");
}

TEST(Text, NeedsAValueAndIsGivenOnce) {
  std::string text;
  const std::vector<Option> options{{"-t,--text", &text, "A text"}};
  EXPECT_THAT(problem(options, {"--text"}), HasSubstr("--text"));
  EXPECT_THAT(problem(options, {"--text", "a", "-t", "b"}),
              AllOf(HasSubstr("--text"), HasSubstr("received 2")));
  EXPECT_THAT(problem(options, {"--text", "a", "b"}), HasSubstr("not expected: b"));
}

TEST(Text, CanBeLimitedToAnEnumeration) {
  constexpr std::string_view kWords[] = {"same", "new"};
  std::string text = "same";
  const std::vector<Option> options{{"--as", &text, "How", {.one_of = kWords}}};
  EXPECT_EQ(problem(options, {"--as", "new"}), "");
  EXPECT_EQ(text, "new");
  for (const char* each : {"other", "NEW", "ne", "", "same,new"}) {
    EXPECT_EQ(problem(options, {"--as", each}),
              "--as: '" + std::string(each) + "' is not one of {same,new}");
  }
  EXPECT_THAT(help(options), HasSubstr("--as TEXT:{same,new}=new"));
}

TEST(List, TakesOneValuePerOccurrence) {
  std::vector<std::string> list{"before"};
  const std::vector<Option> options{{"--each", &list, "Some"}};
  EXPECT_EQ(problem(options, {}), "");
  EXPECT_THAT(list, ElementsAre("before"));
  EXPECT_EQ(problem(options, {"--each", "b", "--each=a", "--each", ""}), "");
  EXPECT_THAT(list, ElementsAre("b", "a", ""));
  EXPECT_THAT(problem(options, {"--each", "a", "b"}), HasSubstr("not expected: b"));
  EXPECT_THAT(problem(options, {"--each"}), HasSubstr("--each"));
}

TEST(List, CanTakeSeveralValuesPerOccurrence) {
  std::vector<std::string> list;
  std::string text;
  const std::vector<Option> options{{"--each", &list, "Some", {.several_each = true}},
                                    {"--text", &text, "A text"}};
  EXPECT_EQ(problem(options, {"--each", "a", "b", "--text", "t", "--each", "c"}), "");
  EXPECT_THAT(list, ElementsAre("a", "b", "c"));
  EXPECT_EQ(text, "t");
}

TEST(Number, IsAnIntegerWithinItsLimits) {
  std::uint64_t number = 7;
  const std::vector<Option> options{{"--number", &number, "A number", between(1, 100)}};
  EXPECT_EQ(problem(options, {}), "");
  EXPECT_EQ(number, 7U);
  for (const char* each : {"1", "100", "0x10"}) {
    EXPECT_EQ(problem(options, {"--number", each}), "");
    EXPECT_EQ(number, std::stoull(each, nullptr, 0));
  }
  for (const char* each : {"0", "101", "-1", "1.5", "1e1", "x", "1x", "0x", "0x65", "",
                           "18446744073709551617", "-18446744073709551615"}) {
    EXPECT_EQ(problem(options, {"--number", each}),
              "--number: '" + std::string(each) + "' is not a whole number from 1 to 100");
  }
}

TEST(Number, CanHaveNoLimits) {
  std::uint64_t number = 0;
  const std::vector<Option> options{{"--number", &number, "A number"}};
  EXPECT_EQ(problem(options, {"--number", "18446744073709551615"}), "");
  EXPECT_EQ(number, std::numeric_limits<std::uint64_t>::max());
  for (const char* each : {"-1", "18446744073709551616"}) {
    EXPECT_EQ(problem(options, {"--number", each}),
              "--number: '" + std::string(each) +
                  "' is not a whole number from 0 to 18446744073709551615");
  }
  EXPECT_THAT(help(options), HasSubstr("--number UINT=18446744073709551615"));
}

TEST(Number, CanHaveNoDefault) {
  std::optional<std::uint64_t> number;
  const std::vector<Option> options{{"--number", &number, "A number", {.max = 9}}};
  EXPECT_EQ(problem(options, {}), "");
  EXPECT_FALSE(number.has_value());
  EXPECT_EQ(problem(options, {"--number", "10"}),
            "--number: '10' is not a whole number from 0 to 9");
  EXPECT_EQ(problem(options, {"--number", "0"}), "");
  EXPECT_EQ(number, 0U);
}

TEST(Amount, IsANonNegativeNumber) {
  double amount = 2;
  const std::vector<Option> options{{"--amount", &amount, "An amount"}};
  EXPECT_EQ(problem(options, {}), "");
  EXPECT_EQ(amount, 2);
  for (const char* each : {"0", "0.5", "1e3"}) {
    EXPECT_EQ(problem(options, {"--amount", each}), "");
    EXPECT_EQ(amount, std::stod(each));
  }
  for (const char* each : {"-1", "-0.1", "nan", "inf", "1e400", "x", "1x", ""}) {
    EXPECT_EQ(problem(options, {"--amount", each}),
              "--amount: '" + std::string(each) + "' is not a non-negative number");
  }
}

TEST(Required, AppliesToOptionsAndPositionals) {
  std::string text;
  std::string name;
  const std::vector<Option> options{{"--text", &text, "A text", kRequired},
                                    {"name", &name, "A name", {.required = true}}};
  EXPECT_EQ(problem(options, {"a name"}), "--text is required");
  EXPECT_EQ(problem(options, {"--text", "a"}), "name is required");
  EXPECT_EQ(problem(options, {"--text", "a", "a name"}), "");
  EXPECT_EQ(text, "a");
  EXPECT_EQ(name, "a name");
}

TEST(Positional, IsAssignedByItsPosition) {
  std::string first;
  std::string second = "default";
  const std::vector<Option> options{{"first", &first, "The first"},
                                    {"second", &second, "The second"}};
  EXPECT_EQ(problem(options, {"a"}), "");
  EXPECT_EQ(first, "a");
  EXPECT_EQ(second, "default");
  EXPECT_EQ(problem(options, {"--", "-a", "--b"}), "");
  EXPECT_EQ(first, "-a");
  EXPECT_EQ(second, "--b");
  EXPECT_THAT(problem(options, {"a", "b", "c"}), HasSubstr("not expected: c"));
  EXPECT_THAT(problem(options, {"--first", "a"}), HasSubstr("--first"));
}

TEST(Excluded, OptionsCannotBeCombined) {
  std::string body;
  std::uint64_t size = 0;
  const std::vector<Option> options{{"--body", &body, "A body"},
                                    {"--size", &size, "A size", {.excludes = "--body"}}};
  EXPECT_EQ(problem(options, {"--size", "1"}), "");
  EXPECT_EQ(problem(options, {"--body", "b"}), "");
  EXPECT_THAT(problem(options, {"--size", "1", "--body", "b"}),
              AllOf(HasSubstr("--size"), HasSubstr("--body")));
}

TEST(Help, NamesEveryOptionWithItsDefaultAndLimits) {
  bool flag = false;
  std::string text = "hapax.toml";
  std::string empty;
  std::uint64_t number = 0;
  std::optional<std::uint64_t> none;
  double amount = 0.5;
  const std::string usage = help({{"--flag", &flag, "What a flag does"},
                                  {"-t,--text", &text, "What a text is"},
                                  {"--empty", &empty, "What is empty", {.required = true}},
                                  {"--number", &number, "How many", {.max = 9}},
                                  {"--none", &none, "How many", {.min = 1, .max = 3}},
                                  {"--amount", &amount, "How much"},
                                  {"place", &empty, "What is there"}});
  EXPECT_THAT(usage, HasSubstr("Usage: hapax [OPTIONS] [place]"));
  EXPECT_THAT(usage, HasSubstr("--flag   "));
  EXPECT_THAT(usage, HasSubstr("-t,--text TEXT=hapax.toml "));
  EXPECT_THAT(usage, HasSubstr("--empty TEXT REQUIRED"));
  EXPECT_THAT(usage, HasSubstr("--number UINT in [0 - 9]=0"));
  EXPECT_THAT(usage, HasSubstr("--none UINT in [1 - 3] "));
  EXPECT_THAT(usage, HasSubstr("--amount FLOAT:NONNEGATIVE=0.5"));
  for (const char* each : {"What a flag does", "What is empty", "What is there"}) {
    EXPECT_THAT(usage, HasSubstr(each));
  }
}

TEST(Shared, TablesComeBeforeTheOptionsOfTheCommand) {
  std::string a, b, c;
  const std::vector<Option> first{{"--a", &a, ""}};
  const std::vector<Option> second{{"--b", &b, ""}};
  const Command program{.name = "hapax",
                        .help = "",
                        .shared = {first, second},
                        .options = {{"--c", &c, "", {.excludes = "--b"}}},
                        .run = run_nothing};
  EXPECT_THAT(parse_line(program, {"--help"}).text,
              testing::ContainsRegex("--a TEXT *\n *--b TEXT .*\n *--c TEXT "));
  EXPECT_EQ(parse_line(program, {"--c", "3", "--a", "1"}).command, &program);
  EXPECT_EQ(a + b + c, "13");
  EXPECT_EQ(parse_line(program, {"--c", "3", "--b", "2"}).command, nullptr);
}

// A program `hapax --json` with the commands "list" and "jobs"; "jobs" has the subcommand
// "end NAME".
class Commands : public testing::Test {
 protected:
  std::string chosen(std::vector<const char*> words) {
    const Parsed parsed = parse_line(program_, std::move(words));
    return parsed.command != nullptr ? std::string(parsed.command->name) : parsed.text;
  }

  bool json_ = false;
  std::string store_, name_;
  Command program_{
      .name = "hapax",
      .help = "All of it",
      .options = {{"--json", &json_, "In JSON"}},
      .subcommands = {{.name = "list", .help = "Lists", .run = run_nothing},
                      {.name = "jobs",
                       .help = "All jobs",
                       .options = {{"--store", &store_, "A store", {.required = true}}},
                       .run = run_nothing,
                       .subcommands = {{.name = "end",
                                        .help = "Ends a job",
                                        .options = {{"name", &name_, "Which", {.required = true}}},
                                        .run = run_nothing}}}}};
};

TEST_F(Commands, TheInnermostCommandRuns) {
  EXPECT_EQ(chosen({"list"}), "list");
  EXPECT_EQ(chosen({"jobs", "--store", "s"}), "jobs");
  EXPECT_EQ(chosen({"jobs", "--store", "s", "end", "n"}), "end");
  EXPECT_EQ(name_, "n");
}

TEST_F(Commands, AcceptTheOptionsOfTheirParents) {
  EXPECT_EQ(chosen({"jobs", "end", "n", "--store", "s", "--json"}), "end");
  EXPECT_TRUE(json_);
  EXPECT_EQ(store_, "s");
  EXPECT_EQ(chosen({"jobs", "end", "n"}), "--store is required");
}

TEST_F(Commands, OneIsRequiredIfTheProgramHasNoAction) {
  EXPECT_EQ(chosen({}), "A subcommand is required");
  EXPECT_EQ(chosen({"--json"}), "A subcommand is required");
  EXPECT_EQ(chosen({"other"}), "unknown command 'other'");
}

TEST_F(Commands, CannotBeRepeated) {
  EXPECT_THAT(chosen({"list", "list"}), HasSubstr("not expected: list"));
  EXPECT_THAT(chosen({"list", "jobs"}), HasSubstr("not expected: jobs"));
  EXPECT_THAT(chosen({"jobs", "--store", "s", "end", "n", "end"}), HasSubstr("not expected: end"));
  EXPECT_THAT(chosen({"list", "--nope"}), HasSubstr("not expected: --nope"));
}

TEST_F(Commands, HaveTheirOwnHelp) {
  EXPECT_THAT(chosen({"--help"}),
              AllOf(HasSubstr("All of it"), HasSubstr("Lists"), Not(HasSubstr("Ends a job"))));
  EXPECT_THAT(chosen({"jobs", "-h"}),
              AllOf(HasSubstr("All jobs"), HasSubstr("--store"), HasSubstr("Ends a job")));
  EXPECT_THAT(chosen({"jobs", "end", "--help"}),
              AllOf(HasSubstr("Usage: hapax jobs end [OPTIONS] name"), Not(HasSubstr("All jobs"))));
}

struct Names {
  std::vector<std::string> list;
};

Result<int> count_names(const Names& names, const Output&) {
  return static_cast<int>(names.list.size());
}

TEST(RunWith, CallsTheFunctionWithTheArgumentsOfTheCommand) {
  const auto command = [] {
    auto names = std::make_shared<Names>();
    return Command{.name = "hapax",
                   .help = "",
                   .options = {{"name", &names->list, "Names", {.several_each = true}}},
                   .run = run_with(names, count_names)};
  };
  const Command program = command();
  const Parsed parsed = parse_line(program, {"a", "b", "c"});
  ASSERT_EQ(parsed.command, &program) << parsed.text;
  EXPECT_EQ(*parsed.command->run(Output(true)), 3);
}

}  // namespace
}  // namespace hapax::cli
