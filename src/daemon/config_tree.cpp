// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_tree.hpp"

// The parser's own errors come back as values. Nothing in hapax.toml is nested deeper than this.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 32
// toml++ 3.3 promises the optimiser that a table header starts with a key before it looks ("[=]"
// does not). What it then reads is handled well, so nothing is promised here and nothing asserted.
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>

namespace hapax::daemon {

namespace {

constexpr std::size_t kMaxDots = 32;   // in one line, outside of texts and comments
constexpr std::size_t kMaxDepth = 16;  // deeper values are not looked at: no key is there

// Reads on over one text in quotes; nothing is decoded. The parser stops at the first thing that is
// no TOML, so up to there both see the same texts.
std::size_t after_text(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string fence(3, quote);
  const bool several_lines = text.substr(at, 3) == fence;
  at += several_lines ? 3 : 1;
  while (at < text.size()) {
    if (quote == '"' && text[at] == '\\') {
      at += 2;
    } else if (several_lines && text.substr(at, 3) == fence) {
      return at + 3;
    } else if (!several_lines && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    } else {
      ++at;
    }
  }
  return text.size();
}

// The line with more dots than a key can need, or 0. The parser bounds the nesting of values, not
// that of dotted keys, and a table of a million levels is more than a stack takes.
std::size_t line_with_many_dots(std::string_view text) {
  std::size_t line = 1;
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t end = std::min(after_text(text, at), text.size());
      const std::string_view inside = text.substr(at, end - at);
      line += static_cast<std::size_t>(std::count(inside.begin(), inside.end(), '\n'));
      at = end;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '\n') {
      ++line;
      dots = 0;
    }
    if (c == '.' && ++dots > kMaxDots) return line;
    ++at;
  }
  return 0;
}

// The parser quotes what it saw, which may be a secret that lacks its quotes.
std::string without_quotations(std::string_view description) {
  std::string text(description.substr(0, std::min(description.find(", saw"), description.size())));
  if (text.find("cannot redefine") != std::string::npos) return text;
  for (std::size_t open = text.find('\''); open != std::string::npos;) {
    const std::size_t close = text.find('\'', open + 1);
    if (close == std::string::npos) break;
    const bool is_short = close - open <= 3;
    if (!is_short) text.replace(open, close - open + 1, "it");
    open = text.find('\'', is_short ? close + 1 : open + 2);
  }
  return text;
}

std::string in_words(std::string_view description) {
  std::string text = without_quotations(description);
  constexpr std::string_view kStart = "Error while parsing ";
  if (text.starts_with(kStart)) text.erase(0, kStart.size());
  const std::size_t option = text.find(" (TOML_");
  if (option != std::string::npos) text.erase(option);
  std::string words = "this is not TOML: " + text;
  if (text.find("value type") != std::string::npos) words += "; texts are written in \"quotes\"";
  if (text.starts_with("inline table")) words += "; a table in { } is on one line";
  return words;
}

class Copying {
 public:
  explicit Copying(Report& report) : report_(report) {}

  bool copy(const toml::node& from, Node& to, std::size_t depth) {
    to.line = std::max<std::size_t>(to.line, from.source().begin.line);
    if (++count_ > kMaxConfigValues) {
      report_.problem(to.line, "",
                      "the file has more than " + std::to_string(kMaxConfigValues) + " values");
      return false;
    }
    if (const auto* text = from.as_string()) {
      to.kind = Node::Kind::text;
      to.text = text->get();
    } else if (const auto* integer = from.as_integer()) {
      to.kind = Node::Kind::integer;
      to.integer = integer->get();
    } else if (const auto* boolean = from.as_boolean()) {
      to.kind = Node::Kind::boolean;
      to.boolean = boolean->get();
    } else if (const auto* table = from.as_table()) {
      return copy_table(*table, to, depth);
    } else if (const auto* list = from.as_array()) {
      return copy_list(*list, to, depth);
    } else {
      to.kind = Node::Kind::other;
    }
    return true;
  }

 private:
  bool copy_table(const toml::table& from, Node& to, std::size_t depth) {
    to.kind = Node::Kind::table;
    if (depth == kMaxDepth) return true;
    for (const auto& [key, value] : from) {
      Node& child = to.children.emplace_back();
      child.name = std::string(key.str());
      child.path = to.path_of(child.name);
      child.line = key.source().begin.line;
      // A table of [brackets] starts at its header, which may be that of a table inside it.
      if (!copy(value, child, depth + 1)) return false;
    }
    return true;
  }

  bool copy_list(const toml::array& from, Node& to, std::size_t depth) {
    to.kind = Node::Kind::list;
    if (depth == kMaxDepth) return true;
    for (const toml::node& value : from) {
      Node& child = to.children.emplace_back();
      child.path = to.path + "[" + std::to_string(to.children.size()) + "]";
      if (!copy(value, child, depth + 1)) return false;
    }
    return true;
  }

  Report& report_;
  std::size_t count_ = 0;
};

bool is_bare(std::string_view key) {
  return !key.empty() && key.size() <= 64 && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// Messages go to terminals and logs: nothing of the file may steer them.
std::string visible(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

void sort_by_line(std::vector<Problem>& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
}

}  // namespace

const Node* Node::find(std::string_view member) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const Node& each) { return each.name == member; });
  return found == children.end() ? nullptr : &*found;
}

std::string Node::path_of(std::string_view member) const {
  const std::string shown = is_bare(member) ? std::string(member) : in_quotes(member);
  return path.empty() ? shown : path + "." + shown;
}

void Report::problem(std::size_t line, std::string field, std::string_view text) {
  problems_.push_back({file_, line, std::move(field), visible(text)});
}

void Report::problem_of(const Node& table, std::string_view member, std::string_view text) {
  const Node* at = table.find(member);
  problem(at != nullptr ? at->line : table.line, table.path_of(member), text);
}

void Report::warning(std::size_t line, std::string field, std::string_view text) {
  warnings_.push_back({file_, line, std::move(field), visible(text)});
}

std::vector<Problem> Report::take_problems() {
  sort_by_line(problems_);
  return std::move(problems_);
}

std::vector<Problem> Report::take_warnings() {
  sort_by_line(warnings_);
  return std::move(warnings_);
}

std::optional<Node> parse_tree(std::string_view text, Report& report) {
  if (text.size() > kMaxConfigBytes) {
    report.problem(0, "", "the file is larger than 1 MiB, which no configuration is");
    return std::nullopt;
  }
  if (const std::size_t line = line_with_many_dots(text); line != 0) {
    report.problem(line, "", "more than " + std::to_string(kMaxDots) + " dots outside of a text");
    return std::nullopt;
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    report.problem(error.source().begin.line, "", in_words(error.description()));
    return std::nullopt;
  }
  Node root;
  if (!Copying(report).copy(parsed.table(), root, 0)) return std::nullopt;
  return root;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 100;
  std::size_t end = std::min(text.size(), kShown);
  // Not through the middle of a character.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    --end;
  }
  return "'" + visible(text.substr(0, end)) + (end < text.size() ? "...'" : "'");
}

}  // namespace hapax::daemon
