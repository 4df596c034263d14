// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_values.hpp"

#include "base/ascii.hpp"
#include "base/duration.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <numeric>

namespace hapax::daemon {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxSecretBytes = 64 * 1024;

std::string_view kind_in_words(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::text:
      return "a text";
    case Node::Kind::integer:
      return "a number";
    case Node::Kind::boolean:
      return "true or false";
    case Node::Kind::table:
      return "a table";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::other:
      break;
  }
  return "a fraction or a date";
}

std::nullopt_t wrong_type(const Node& node, std::string_view instead, Report& report) {
  report.problem(
      node, "this is " + std::string(kind_in_words(node.kind)) + "; write " + std::string(instead));
  return std::nullopt;
}

// The Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

Error unreadable(std::string_view why) {
  return Error(Code::misconfigured, std::string(why));
}

std::string_view why_not_opened(int error) {
  if (error == ENOENT || error == ENOTDIR) return "does not exist";
  if (error == EACCES || error == EPERM) return "is not readable by this user";
  return "cannot be opened";
}

// Removes the one line end that editors and echo add.
void drop_line_end(std::string& text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
}

std::optional<std::string> secret_of_variable(const Node& node, Loading& loading) {
  const std::optional<std::string> name = read_text(node, loading.report);
  if (!name) return std::nullopt;
  std::optional<std::string> value = loading.variable(*name);
  if (value && !value->empty()) return value;
  loading.report.problem(node, "the environment variable " + in_quotes(*name) +
                                   (value ? " is empty" : " is not set") +
                                   "; set it in hapax's environment");
  return std::nullopt;
}

std::optional<std::string> secret_of_file(const Node& node, Loading& loading) {
  const std::optional<std::string> name = read_text(node, loading.report);
  if (!name) return std::nullopt;
  const std::string path = loading.path(*name);
  Result<std::string> text = read_small_file(path, kMaxSecretBytes);
  if (!text) {
    loading.report.problem(node, "the file " + in_quotes(path) + " " + text.error().detail());
    return std::nullopt;
  }
  drop_line_end(*text);
  loading.secret_files.push_back(path);
  if (!text->empty()) return std::move(*text);
  loading.report.problem(node,
                         "the file " + in_quotes(path) + " is empty; write the secret into it");
  return std::nullopt;
}

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr auto kUnits = std::to_array<Unit>(
    {{"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1024UL * 1024}, {"GiB", 1024UL * 1024 * 1024}});

std::optional<std::uint64_t> size_of(std::string_view text) {
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, count);
  if (failure != std::errc() || count > (1ULL << 32)) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const Unit& each : kUnits) {
    if (unit == each.name) return count * each.bytes;
  }
  return std::nullopt;
}

bool is_address(const std::string& host, int family) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(family, host.c_str(), bytes.data()) == 1;
}

}  // namespace

std::string Loading::path(std::string_view relative) const {
  std::string path = (directory / relative).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path.empty() ? "." : path;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > 64) return {};
  std::string_view best;
  std::size_t least = 2 + (word.size() + 1) / 4;  // this many changes: a different word
  for (const std::string_view each : candidates) {
    const std::size_t changes = distance(word, each);
    if (changes >= least || changes >= each.size()) continue;
    least = changes;
    best = each;
  }
  return best;
}

void check_keys(const Node& table, const Keys& keys, Report& report) {
  for (const Node& member : table.children) {
    const auto is = [&](std::string_view key) { return key == member.name; };
    if (std::any_of(keys.known.begin(), keys.known.end(), is)) continue;
    if (std::any_of(keys.later.begin(), keys.later.end(), is)) {
      report.problem(member, "not available in this version; remove it");
      continue;
    }
    const std::string_view meant = nearest(member.name, keys.known);
    report.problem(member, meant.empty()
                               ? "unknown key; valid keys: " + joined(keys.known)
                               : "unknown key; did you mean '" + std::string(meant) + "'?");
  }
}

bool is_table(const Node& node, Report& report) {
  if (node.kind == Node::Kind::table) return true;
  wrong_type(node, "a table", report);
  return false;
}

std::optional<std::string> read_text(const Node& node, Report& report) {
  if (node.kind != Node::Kind::text) return wrong_type(node, "a text in \"quotes\"", report);
  if (node.text.empty()) {
    report.problem(node, "empty; set a value or remove the key");
    return std::nullopt;
  }
  if (node.text.find('\0') != std::string::npos) {
    report.problem(node, "NUL characters are not allowed");
    return std::nullopt;
  }
  return node.text;
}

std::optional<bool> read_flag(const Node& node, Report& report) {
  if (node.kind != Node::Kind::boolean) return wrong_type(node, "true or false", report);
  return node.boolean;
}

std::optional<std::int64_t> read_number(const Node& node, std::int64_t least, std::int64_t most,
                                        Report& report) {
  const std::string range =
      "a number from " + std::to_string(least) + " to " + std::to_string(most);
  if (node.kind != Node::Kind::integer) return wrong_type(node, range, report);
  if (node.integer >= least && node.integer <= most) return node.integer;
  report.problem(node, std::to_string(node.integer) + " is out of range; use " + range);
  return std::nullopt;
}

std::optional<milliseconds> read_duration(const Node& node, milliseconds least, Report& report) {
  constexpr std::string_view kRemedy =
      "a whole number and a unit in quotes: \"250ms\", \"15s\", "
      "\"5m\", \"24h\", \"30d\"";
  if (node.kind != Node::Kind::text) return wrong_type(node, kRemedy, report);
  const Result<milliseconds> span = parse_duration(node.text);
  if (!span) {
    report.problem(node,
                   in_quotes(node.text) + " is not a duration; write " + std::string(kRemedy));
    return std::nullopt;
  }
  if (*span >= least && *span <= kMaxTtl) return *span;
  report.problem(node, in_quotes(node.text) + " is out of range; use \"" + in_words(least) +
                           "\" to \"" + in_words(kMaxTtl) + "\"");
  return std::nullopt;
}

std::optional<std::size_t> read_body_limit(const Node& node, Report& report) {
  constexpr std::string_view kRemedy = "\"64KiB\", \"1MiB\" or a number of bytes";
  std::optional<std::uint64_t> size;
  if (node.kind == Node::Kind::integer && node.integer >= 0) {
    size = static_cast<std::uint64_t>(node.integer);
  } else if (node.kind == Node::Kind::text) {
    size = size_of(node.text);
  } else if (node.kind != Node::Kind::integer) {
    return wrong_type(node, kRemedy, report);
  }
  if (!size) {
    const bool text = node.kind == Node::Kind::text;
    report.problem(node, (text ? in_quotes(node.text) : std::to_string(node.integer)) +
                             " is not a size; write " + std::string(kRemedy));
    return std::nullopt;
  }
  if (*size >= 1 && *size <= store::kMaxBody) return static_cast<std::size_t>(*size);
  report.problem(node, std::to_string(*size) + " bytes is out of range; use 1 byte to \"" +
                           std::to_string(store::kMaxBody / 1024 / 1024) + "MiB\"");
  return std::nullopt;
}

std::optional<Listen> read_address(const Node& node, Report& report) {
  constexpr std::string_view kRemedy =
      "an address and a port, like \"127.0.0.1:8420\" or \"[::1]:8420\"";
  if (node.kind != Node::Kind::text) return wrong_type(node, kRemedy, report);
  const std::string& text = node.text;
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  std::string host = text.substr(0, colon);
  const bool six = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (six) host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const char* start = text.data() + std::min(colon + 1, text.size());
  const auto [rest, failure] = std::from_chars(start, end, port);
  const bool has_nul = text.find('\0') != std::string::npos;
  if (failure == std::errc() && rest == end && !has_nul &&
      is_address(host, six ? AF_INET6 : AF_INET)) {
    return Listen{std::move(host), port, {}};
  }
  report.problem(node, in_quotes(text) + " is not an address; write " + std::string(kRemedy));
  return std::nullopt;
}

std::optional<std::string> read_name(const Node& node, Report& report) {
  std::optional<std::string> name = read_text(node, report);
  if (!name) return std::nullopt;
  const auto allowed = [](char c) { return is_alphanumeric_or("._-", c); };
  if (*name == store::kOutboxSource) {
    report.problem(node, "'outbox' is the name of hapax's own source; choose another");
    return std::nullopt;
  }
  if (name->size() <= store::kMaxName && std::all_of(name->begin(), name->end(), allowed) &&
      *name != "." && *name != "..") {
    return name;
  }
  report.problem(node,
                 in_quotes(*name) +
                     " is not a valid name; use 1 to 128 of the characters A-Z a-z 0-9 . _ -, "
                     "and not \".\" or \"..\"");
  return std::nullopt;
}

std::vector<const Node*> read_texts(const Node& node, bool alone, Report& report) {
  std::vector<const Node*> texts;
  if (alone && node.kind == Node::Kind::text) {
    if (read_text(node, report)) texts.push_back(&node);
    return texts;
  }
  if (node.kind != Node::Kind::list) {
    wrong_type(node,
               alone ? "a text in \"quotes\", or a list of them: [\"a\", \"b\"]"
                     : "a list of texts: [\"a\", \"b\"]",
               report);
    return texts;
  }
  for (const Node& each : node.children) {
    if (read_text(each, report)) texts.push_back(&each);
  }
  return texts;
}

std::optional<std::string> read_secret(const Node& node, Loading& loading) {
  constexpr std::string_view kRemedy = R"("text", { env = "VARIABLE" } or { file = "path" })";
  if (node.kind == Node::Kind::text) {
    loading.plain_secrets = true;
    if (!node.text.empty()) return node.text;
    loading.report.problem(node, "the secret is empty; write " + std::string(kRemedy));
    return std::nullopt;
  }
  if (node.kind != Node::Kind::table) return wrong_type(node, kRemedy, loading.report);
  static constexpr auto kKnown = std::to_array<std::string_view>({"env", "file"});
  const std::size_t before = loading.report.count();
  check_keys(node, {kKnown}, loading.report);
  const Node* variable = node.find("env");
  const Node* file = node.find("file");
  if ((variable == nullptr) == (file == nullptr)) {
    if (loading.report.count() == before) {
      loading.report.problem(
          node, "a secret has only one of env and file; write " + std::string(kRemedy));
    }
    return std::nullopt;
  }
  return variable != nullptr ? secret_of_variable(*variable, loading)
                             : secret_of_file(*file, loading);
}

Result<std::string> read_small_file(const std::string& path, std::size_t most) {
  // O_NONBLOCK, because opening a FIFO would block.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return unreadable(why_not_opened(errno));
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return unreadable("cannot be read");
  if (S_ISDIR(status.st_mode)) return unreadable("is a directory");
  if (!S_ISREG(status.st_mode)) return unreadable("is not a regular file");
  std::string text;
  std::array<char, 16 * 1024> buffer{};
  while (true) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable("cannot be read");
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > most) {
      return unreadable("is larger than " + std::to_string(most / 1024) + " KiB");
    }
  }
}

bool is_loopback(const Listen& listen) {
  return listen.host.starts_with("127.") || listen.host == "::1" ||
         listen.host.starts_with("::ffff:127.");
}

std::string in_words(milliseconds span) {
  struct Step {
    std::int64_t ms;
    std::string_view name;
  };
  constexpr auto kSteps =
      std::to_array<Step>({{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}});
  for (const Step& step : kSteps) {
    if (span.count() != 0 && span.count() % step.ms == 0) {
      return std::to_string(span.count() / step.ms) + std::string(step.name);
    }
  }
  return std::to_string(span.count()) + "ms";
}

}  // namespace hapax::daemon
