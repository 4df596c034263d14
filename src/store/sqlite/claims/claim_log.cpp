// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/claims/claim_log.hpp"

#include "base/claim_key.hpp"
#include "store/claims.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

constexpr std::size_t kNumberBytes = 8;
static_assert(kMaxPlainKey <= 0xff, "the length of a key is one byte");

void append_number(std::string& out, std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  for (std::size_t byte = 0; byte < kNumberBytes; ++byte) {
    out += static_cast<char>(bits >> (8 * byte) & 0xff);
  }
}

std::int64_t read_number(std::string_view bytes) {
  std::uint64_t bits = 0;
  for (std::size_t byte = 0; byte < kNumberBytes; ++byte) {
    bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[byte])) << (8 * byte);
  }
  return static_cast<std::int64_t>(bits);
}

std::size_t length_at(const char* place) {
  return static_cast<unsigned char>(*place);
}

std::string_view key_at(const char* place) {
  return {place + 1, length_at(place)};
}

std::size_t size_at(const char* place) {
  return 1 + length_at(place) + 2 * kNumberBytes;
}

// The first 8 bytes as a number, so that numbers compare like the texts.
std::uint64_t order_of(std::string_view text) {
  std::uint64_t order = 0;
  for (std::size_t byte = 0; byte < sizeof order; ++byte) {
    order = order << 8U | (byte < text.size() ? static_cast<unsigned char>(text[byte]) : 0U);
  }
  return order;
}

void keep_shared(std::string& prefix, std::string_view key) {
  const auto end = std::mismatch(prefix.begin(), prefix.end(), key.begin(), key.end()).first;
  prefix.erase(end, prefix.end());
}

EventClaim claim_at(const char* place) {
  const std::string_view numbers(place + 1 + length_at(place), 2 * kNumberBytes);
  return {EventNo(read_number(numbers)), read_number(numbers.substr(kNumberBytes))};
}

}  // namespace

bool is_merged(std::int64_t made, std::string_view key, const MergePosition& merged_up_to) {
  return merged_up_to.pass > made + 1 || (merged_up_to.pass == made + 1 && key <= merged_up_to.key);
}

void append_claim(std::string& row, const KeyedClaim& claim) {
  row += static_cast<char>(claim.key.size());
  row += claim.key;
  append_number(row, claim.claim.event.value());
  append_number(row, claim.claim.expires_ms);
}

std::optional<KeyedClaim> ClaimsOfRow::next() {
  if (rest_.empty()) return std::nullopt;
  const char* place = rest_.data();
  if (rest_.size() < size_at(place)) return std::nullopt;
  rest_.remove_prefix(size_at(place));
  return KeyedClaim{key_at(place), claim_at(place)};
}

std::size_t ClaimLog::HashOfKey::operator()(const char* place) const {
  return sip_hash(by, key_at(place));
}
std::size_t ClaimLog::HashOfKey::operator()(std::string_view key) const {
  return sip_hash(by, key);
}
bool ClaimLog::SameKey::operator()(const char* a, const char* b) const {
  return key_at(a) == key_at(b);
}
bool ClaimLog::SameKey::operator()(std::string_view key, const char* place) const {
  return key == key_at(place);
}
bool ClaimLog::SameKey::operator()(const char* place, std::string_view key) const {
  return key == key_at(place);
}

std::optional<EventClaim> ClaimLog::find(std::string_view key) const {
  const auto found = places_.find(key);
  return found == places_.end() ? std::nullopt : std::optional(claim_at(*found));
}

bool ClaimLog::has_expired(std::int64_t now_ms) const {
  return std::any_of(places_.begin(), places_.end(), [&](const char* place) {
    return is_expired(claim_at(place).expires_ms, now_ms);
  });
}

bool ClaimLog::read(const MergePosition& merged_up_to, std::string claims) {
  for (const auto& place : taken_) places_.erase(place);
  taken_.clear();
  if (merged_up_to.pass > merged_up_to_.pass + 1) clear();
  if (merged_up_to.pass == merged_up_to_.pass + 1) start_pass();
  while (!heads_.empty() && key_at(heads_.front().rest.data()) <= merged_up_to.key) forget(pop());
  if (heads_.empty()) old_.clear();
  merged_up_to_ = merged_up_to;
  if (claims.empty()) return true;
  ClaimsOfRow all(young_.emplace_back(std::move(claims)));
  for (std::string_view last;; ++young_claims_) {
    const char* place = all.rest().data();
    const std::optional<KeyedClaim> each = all.next();
    if (!each) return all.at_end();
    if (each->key <= last) return false;
    last = each->key;
    if (young_claims_ == 0) young_prefix_ = last;
    keep_shared(young_prefix_, last);
    // This claim took over from an older one, which it replaces.
    if (const auto [known, is_new] = places_.insert(place); !is_new) {
      places_.erase(known);
      places_.insert(place);
    }
  }
}

// The rest of the previous pass has been merged too: a pass ends when all its claims are.
void ClaimLog::start_pass() {
  while (!heads_.empty()) forget(pop());
  old_ = std::exchange(young_, {});
  old_prefix_ = young_prefix_.size();
  young_claims_ = 0;
  merged_up_to_ = {merged_up_to_.pass + 1, ""};
  rewind();
}

void ClaimLog::clear() {
  places_.clear();
  heads_.clear();
  taken_.clear();
  young_.clear();
  young_claims_ = 0;
  old_.clear();
  merged_up_to_ = MergePosition{};
}

void ClaimLog::rewind() {
  taken_.clear();
  heads_.clear();
  for (const std::string& row : old_) {
    std::string_view rest = row;
    while (!rest.empty() && key_at(rest.data()) <= merged_up_to_.key) {
      rest.remove_prefix(size_at(rest.data()));
    }
    push(rest);
  }
}

bool ClaimLog::is_later(const Head& a, const Head& b) {
  if (a.order != b.order) return a.order > b.order;
  return key_at(a.rest.data()) > key_at(b.rest.data());
}

void ClaimLog::push(std::string_view rest) {
  if (rest.empty()) return;
  heads_.push_back({order_of(key_at(rest.data()).substr(old_prefix_)), rest});
  std::push_heap(heads_.begin(), heads_.end(), is_later);
}

const char* ClaimLog::pop() {
  std::pop_heap(heads_.begin(), heads_.end(), is_later);
  const std::string_view row = heads_.back().rest;
  heads_.pop_back();
  push(row.substr(size_at(row.data())));
  return row.data();
}

// Forgets a claim, unless a newer one has replaced it.
void ClaimLog::forget(const char* place) {
  const auto known = places_.find(place);
  if (known != places_.end() && *known == place) places_.erase(known);
}

// Skips a claim that was taken over: it does not belong in the index any more.
std::optional<KeyedClaim> ClaimLog::take() {
  while (!heads_.empty()) {
    const char* place = pop();
    const auto known = places_.find(place);
    if (known == places_.end() || *known != place) continue;
    taken_.push_back(known);
    return KeyedClaim{key_at(place), claim_at(place)};
  }
  return std::nullopt;
}

MergePosition ClaimLog::merged_up_to() const {
  return taken_.empty() ? merged_up_to_
                        : MergePosition{merged_up_to_.pass, std::string(key_at(*taken_.back()))};
}

}  // namespace hapax::store::sqlite
