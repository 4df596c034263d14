// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/log.hpp"

#include "base/calendar.hpp"
#include "base/json_text.hpp"

#include <algorithm>
#include <cstdio>

namespace hapax::daemon {

namespace {

constexpr std::size_t kMaxValue = 512;  // per field, to keep lines readable

std::string_view name(Level level) {
  switch (level) {
    case Level::info:
      return "info";
    case Level::warning:
      return "warning";
    case Level::error:
      break;
  }
  return "error";
}

bool is_bare_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '=';
  });
}

void append_json_fields(std::string& out, std::initializer_list<LogField> fields) {
  for (const LogField& each : fields) {
    if (each.value.empty()) continue;
    out += ',';
    append_json(out, each.name);
    out += ':';
    append_json(out, each.value.substr(0, kMaxValue));
  }
}

void append_text_fields(std::string& out, std::initializer_list<LogField> fields) {
  for (const LogField& each : fields) {
    if (each.value.empty()) continue;
    const std::string_view value = each.value.substr(0, kMaxValue);
    out += ' ';
    out += each.name;
    out += '=';
    if (is_bare_value(value)) {
      out += value;
    } else {
      append_json(out, value);
    }
  }
}

}  // namespace

std::string log_line(LogForm form, WallTime now, Level level, std::string_view what,
                     std::initializer_list<LogField> fields) {
  std::string out;
  if (form == LogForm::json) {
    out = R"({"time":")" + format_rfc3339(now) + R"(","level":")" + std::string(name(level)) +
          R"(","what":)";
    append_json(out, what);
    append_json_fields(out, fields);
    out += '}';
  } else {
    out = format_rfc3339(now) + ' ' + std::string(name(level)) + ": " + std::string(what);
    append_text_fields(out, fields);
  }
  return out + '\n';
}

void StderrLog::line(Level level, std::string_view what, std::initializer_list<LogField> fields) {
  const std::string text = log_line(form_, clock_.wall(), level, what, fields);
  const std::lock_guard lock(mutex_);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace hapax::daemon
