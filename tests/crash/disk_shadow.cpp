// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/disk_shadow.hpp"

#include <algorithm>

namespace hapax::test {

namespace {

constexpr std::size_t kSector = 512;  // the smallest atomic write of a disk

void overwrite(std::string& content, std::size_t offset, std::string_view bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
  std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(offset));
}

bool coin(SeededRandom& chance) {
  return chance.below(2) == 0;
}

}  // namespace

void FileShadow::write(std::size_t offset, std::string_view bytes) {
  pending_.push_back({false, offset, std::string(bytes)});
}

void FileShadow::truncate(std::size_t size) {
  pending_.push_back({true, size, {}});
}

void FileShadow::sync() {
  for (const Change& change : pending_) apply(durable_, change);
  pending_.clear();
  is_durable_ = true;
}

std::optional<std::string> FileShadow::after_power_cut(Fate fate, SeededRandom& chance) const {
  const bool dropped = fate == Fate::drop_all || (fate == Fate::tear && coin(chance));
  if (!is_durable_ && dropped) return std::nullopt;
  std::string content = durable_;
  for (const Change& change : pending_) {
    if (fate == Fate::keep_all) apply(content, change);
    if (fate == Fate::tear) apply_torn(content, change, chance);
  }
  return content;
}

void FileShadow::apply(std::string& content, const Change& change) {
  if (change.is_truncate) {
    content.resize(change.offset);
  } else {
    overwrite(content, change.offset, change.bytes);
  }
}

void FileShadow::apply_torn(std::string& content, const Change& change, SeededRandom& chance) {
  if (change.is_truncate) {
    if (coin(chance)) apply(content, change);
    return;
  }
  const std::size_t end = change.offset + change.bytes.size();
  for (std::size_t at = change.offset; at < end;) {
    const std::size_t next = std::min(end, (at / kSector + 1) * kSector);
    const std::string_view bytes =
        std::string_view(change.bytes).substr(at - change.offset, next - at);
    if (coin(chance)) overwrite(content, at, bytes);
    at = next;
  }
}

}  // namespace hapax::test
