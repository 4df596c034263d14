// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

// The SQL in our sources runs with the session's search path, so every function, operator and type
// in it must be qualified.
namespace hapax::test {
namespace {

std::string read_file(const std::string& name) {
  std::ifstream file(HAPAX_SOURCE_DIR "/src/" + name);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_FALSE(text.empty()) << name;
  return text;
}

// Joins adjacent string literals, without the macros between them.
std::vector<std::string> literals_of(const std::string& source) {
  static const std::regex kToken(R"re(//[^\n]*|#include[^\n]*|"((?:[^"\\]|\\.)*)"|[;{,)]|\w+)re");
  std::vector<std::string> all(1);
  for (std::sregex_iterator each(source.begin(), source.end(), kToken), end; each != end; ++each) {
    if ((*each)[1].matched) {
      all.back() += (*each)[1].str();
    } else if (std::isalnum(static_cast<unsigned char>(each->str()[0])) != 0) {
      all.back() += ' ';  // a macro
    } else if (each->length() == 1) {
      all.emplace_back();
    }
  }
  return all;
}

bool is_sql(const std::string& text) {
  static const std::regex kBegins(
      R"(^\s*\(?(SELECT|INSERT|UPDATE|DELETE|WITH|BEGIN|CREATE|SAVEPOINT|ROLLBACK|FROM|CASE)\b.*)");
  return std::regex_match(text, kBegins);
}

// Keywords that may precede a parenthesis, and types known to PostgreSQL's grammar.
const std::set<std::string> kWords{
    "ALL",     "AND",      "ANY",          "AS",       "BY",       "CASE",    "coalesce",
    "EXISTS",  "FILTER",   "FROM",         "IN",       "JOIN",     "LATERAL", "NOT",
    "ON",      "OR",       "OVER",         "SELECT",   "THEN",     "WHEN",    "WHERE",
    "extract", "greatest", "MATERIALIZED", "OPERATOR", "UNION ALL"};
const std::set<std::string> kTypes{"bigint", "int", "boolean"};

// Returns the unqualified names and operators of a statement.
std::vector<std::string> unqualified(std::string sql) {
  std::vector<std::string> found;
  sql = std::regex_replace(sql, std::regex("'[^']*'"), "''");
  sql = std::regex_replace(sql, std::regex(R"(OPERATOR\(pg_catalog\.[^)]+\))"), "OP");
  const auto all = [&](const char* pattern, auto is_allowed) {
    const std::regex wanted(pattern);
    for (std::sregex_iterator each(sql.begin(), sql.end(), wanted), end; each != end; ++each) {
      const std::string name = (*each)[1].str();
      if (!is_allowed(name)) found.push_back(each->str());
    }
  };
  const auto is_qualified = [](const std::string& name) {
    return name.starts_with("hapax.") || name.starts_with("pg_catalog.");
  };
  // Function calls. AS and INTO introduce a name with its columns, which is not a call.
  std::string calls = std::regex_replace(sql, std::regex(R"((AS|INTO) [\w.]+ \()"), "");
  std::swap(calls, sql);
  all(R"(([A-Za-z_][\w.]*) ?\()",
      [&](const std::string& name) { return is_qualified(name) || kWords.contains(name); });
  std::swap(calls, sql);
  all(R"(::([\w.]+))",
      [&](const std::string& name) { return is_qualified(name) || kTypes.contains(name); });
  all(R"(([\w.]+) '')", [&](const std::string& name) {
    static const std::set<std::string> kBefore{"OP", "THEN", "WHEN", "ELSE", "SELECT", "interval"};
    return is_qualified(name) || kBefore.contains(name);
  });
  // Operators, and keywords that imply one. A star alone means all columns or rows.
  sql = std::regex_replace(sql, std::regex("::"), " ");
  sql = std::regex_replace(sql, std::regex(R"((\.|\(|SELECT |RETURNING )\*)"), "");
  sql = std::regex_replace(sql, std::regex(R"(SET (LOCAL )?\w+ = )"), "");
  all(R"(([-+*/<>=~!@#%^&|`?]+))", [](const std::string&) { return false; });
  all(R"(\b(BETWEEN|USING|NULLIF|DISTINCT FROM|LIKE|IN)\b)",
      [](const std::string&) { return false; });
  all(R"(\b(CASE [^W]))", [](const std::string&) { return false; });
  return found;
}

class QualifiedNamesTest : public testing::TestWithParam<const char*> {};

TEST_P(QualifiedNamesTest, EveryStatementQualifiesItsFunctionsOperatorsAndTypes) {
  int statements = 0;
  for (const std::string& each : literals_of(read_file(GetParam()))) {
    if (!is_sql(each)) continue;
    ++statements;
    for (const std::string& name : unqualified(each)) {
      ADD_FAILURE() << "not qualified: " << name << "\nin: " << each;
    }
  }
  EXPECT_GT(statements, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Of, QualifiedNamesTest,
    testing::Values("store/postgres/inbox_statements.hpp", "store/postgres/statements.hpp",
                    "store/postgres/connection.cpp", "store/postgres/connection.hpp",
                    "store/postgres/schema.cpp", "store/postgres/inspect.cpp", "tx/postgres.cpp"),
    [](const auto& each) {
      std::string name(each.param);
      for (char& letter : name) {
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
      }
      return name;
    });

TEST(QualifiedNamesCheckTest, ItFindsUnqualifiedNames) {
  for (const char* const sql :
       {"SELECT convert_from($1, 'UTF8')", "SELECT 1 FROM hapax.t WHERE a = b", "SELECT $1::bytea",
        "SELECT a <> b", "SELECT count(*)", "SELECT timestamptz 'epoch'",
        "SELECT 1 WHERE a IN (SELECT 1)", "SELECT CASE a WHEN 1 THEN 2 END",
        "SELECT 1 FROM hapax.a JOIN hapax.b USING (x)", "SELECT a BETWEEN 1 AND 2",
        "SELECT a IS DISTINCT FROM b"}) {
    EXPECT_FALSE(unqualified(sql).empty()) << sql;
  }
}

}  // namespace
}  // namespace hapax::test
