// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/ids.hpp"

#include "base/check.hpp"

namespace hapax {

namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";  // without i, l, o, u
constexpr std::size_t kNumberDigits = 13;                                   // 65 bits, for 63
constexpr std::size_t kOrdinalDigits = 2;                                   // 10 bits
constexpr std::size_t kCheckDigits = 2;

void append_digits(std::string& out, std::uint64_t value, std::size_t digits) {
  for (std::size_t i = digits; i-- > 0;) out += kAlphabet[(value >> (5 * i)) & 31U];
}

// FNV-1a of the text, folded to 10 bits: misses about one typo in a thousand.
std::uint64_t sum_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return (hash ^ (hash >> 10) ^ (hash >> 20) ^ (hash >> 40)) & 1023U;
}

std::string sealed(std::string text) {
  append_digits(text, sum_of(text), kCheckDigits);
  return text;
}

std::string spelt(char kind, std::int64_t number) {
  HAPAX_CHECK(number >= 0);
  std::string text(1, kind);
  append_digits(text, static_cast<std::uint64_t>(number), kNumberDigits);
  return text;
}

std::optional<std::uint64_t> number_in(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value << 5 | digit;
  }
  return value;
}

// The numbers in an id. parts_of() returns nullopt if the kind, length or check digits are wrong.
struct Parts {
  std::int64_t number = 0;
  std::int64_t ordinal = 0;
};
std::optional<Parts> parts_of(std::string_view text, char kind, std::size_t ordinal_digits) {
  const std::size_t length = 1 + kNumberDigits + ordinal_digits;
  if (text.size() != length + kCheckDigits || text.front() != kind) return std::nullopt;
  if (text[1] > '7') return std::nullopt;  // more than 63 bits
  const auto number = number_in(text.substr(1, kNumberDigits));
  const auto ordinal = number_in(text.substr(1 + kNumberDigits, ordinal_digits));
  if (!number || !ordinal || sealed(std::string(text.substr(0, length))) != text) {
    return std::nullopt;
  }
  return Parts{static_cast<std::int64_t>(*number), static_cast<std::int64_t>(*ordinal)};
}

}  // namespace

std::string to_text(EventNo number) {
  return sealed(spelt('e', number.value()));
}

std::string to_text(RejectNo number) {
  return sealed(spelt('r', number.value()));
}

std::string to_text(const DeliveryRef& delivery) {
  const std::int64_t ordinal = delivery.delivery.value();
  HAPAX_CHECK(ordinal >= 1 && ordinal <= kMaxDeliveryNo);
  std::string text = spelt('d', delivery.event.value());
  append_digits(text, static_cast<std::uint64_t>(ordinal), kOrdinalDigits);
  return sealed(std::move(text));
}

std::optional<EventNo> event_from(std::string_view text) {
  const std::optional<Parts> parts = parts_of(text, 'e', 0);
  return parts ? std::optional(EventNo(parts->number)) : std::nullopt;
}

std::optional<RejectNo> reject_from(std::string_view text) {
  const std::optional<Parts> parts = parts_of(text, 'r', 0);
  return parts ? std::optional(RejectNo(parts->number)) : std::nullopt;
}

std::optional<DeliveryRef> delivery_from(std::string_view text) {
  const std::optional<Parts> parts = parts_of(text, 'd', kOrdinalDigits);
  if (!parts || parts->ordinal == 0) return std::nullopt;
  return DeliveryRef{EventNo(parts->number), DeliveryNo(parts->ordinal)};
}

}  // namespace hapax
