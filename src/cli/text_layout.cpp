// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/text_layout.hpp"

#include "base/try.hpp"

namespace hapax::cli {

namespace json = boost::json;

void add_line(std::string& text, std::size_t width, std::string_view label,
              const std::string& value) {
  if (value.empty()) return;
  text += std::string(label) + std::string(width - label.size(), ' ') + value + "\n";
}

void add_headers(std::string& text, const json::value& object) {
  const json::array& headers = list_or_none(object, "headers");
  if (!headers.empty()) text += "headers\n";
  for (const json::value& each : headers) {
    if (!each.is_array() || each.get_array().size() != 2) continue;
    const json::value& name = each.get_array()[0];
    const json::value& value = each.get_array()[1];
    if (!name.is_string() || !value.is_string()) continue;
    text += "  " + without_controls({name.get_string().data(), name.get_string().size()}) + ": " +
            without_controls({value.get_string().data(), value.get_string().size()}) + "\n";
  }
}

Result<int> print_record(const AdminArguments& arguments, const std::string& target, bool body,
                         std::string (*in_lines)(const json::value&), const Output& output) {
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments));
  if (body) {
    HAPAX_TRY_ASSIGN(bytes, admin.get(target + "/body"));
    output.print(bytes);
    return kDone;
  }
  HAPAX_TRY_ASSIGN(record, admin.get_json(target));
  output.answer(in_lines(record), json::serialize(record));
  return kDone;
}

}  // namespace hapax::cli
