// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/form.hpp"

#include "base/hex.hpp"

#include <array>

namespace hapax {

namespace {

enum class Plus : bool { is_itself, is_space };

// Decodes %XX at `place`. Returns nullopt without two hex digits.
std::optional<char> escaped_byte(std::string_view text, std::size_t place) {
  std::array<unsigned char, 1> byte{};
  if (text.size() - place < 3 || !decode_hex(text.substr(place + 1, 2), byte)) return std::nullopt;
  return static_cast<char>(byte[0]);
}

std::string decode(std::string_view text, Plus plus) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::optional<char> byte = text[i] == '%' ? escaped_byte(text, i) : std::nullopt;
    if (byte) {
      bytes += *byte;
      i += 2;
    } else {
      bytes += text[i] == '+' && plus == Plus::is_space ? ' ' : text[i];
    }
  }
  return bytes;
}

bool is_encoded(std::string_view text) {
  return text.find_first_of("%+") != std::string_view::npos;
}

// A field before decoding.
struct EncodedField {
  std::string_view name;
  std::string_view value;

  bool is_called(std::string_view wanted) const {
    return is_encoded(name) ? decode(name, Plus::is_space) == wanted : name == wanted;
  }
};

// Iterates over the fields of a form and skips empty ones.
class EncodedFields {
 public:
  explicit EncodedFields(std::string_view text) : rest_(text) {}

  std::optional<EncodedField> next() {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('&');
      const std::string_view field = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      if (field.empty()) continue;
      ++count_;
      const std::size_t equals = field.find('=');
      if (equals == std::string_view::npos) return EncodedField{field, {}};
      return EncodedField{field.substr(0, equals), field.substr(equals + 1)};
    }
    return std::nullopt;
  }

  bool too_many() const { return count_ > kMaxFormFields; }

 private:
  std::string_view rest_;
  std::size_t count_ = 0;
};

}  // namespace

std::optional<std::vector<FormField>> parse_form(std::string_view text) {
  std::vector<FormField> fields;
  EncodedFields encoded(text);
  while (const std::optional<EncodedField> field = encoded.next()) {
    if (encoded.too_many()) return std::nullopt;
    fields.push_back({decode(field->name, Plus::is_space), decode(field->value, Plus::is_space)});
  }
  return fields;
}

std::optional<FormMatch> find_in_form(std::string_view text, std::string_view name) {
  FormMatch match;
  EncodedFields encoded(text);
  while (const std::optional<EncodedField> field = encoded.next()) {
    if (encoded.too_many()) return std::nullopt;
    if (!field->is_called(name)) continue;
    if (match.found) {
      match.repeated = true;
      break;
    }
    match.found = true;
    match.value = decode(field->value, Plus::is_space);
  }
  return match;
}

std::string_view query_of(std::string_view url) {
  const std::string_view address = url.substr(0, url.find('#'));
  const std::size_t mark = address.find('?');
  return mark == std::string_view::npos ? std::string_view() : address.substr(mark + 1);
}

std::string percent_decode(std::string_view text) {
  return decode(text, Plus::is_itself);
}

}  // namespace hapax
