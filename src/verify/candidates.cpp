// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/candidates.hpp"

#include <algorithm>

namespace hapax::verify_detail {

namespace {

int weight(Reason reason) {
  switch (reason) {
    case Reason::none:
      return 4;
    case Reason::timestamp_outside_window:
      return 3;
    case Reason::signature_invalid:
      return 2;
    case Reason::signature_missing:
      return 0;
    default:
      return 1;
  }
}

Failure absent(const Place& place) {
  return {Reason::signature_missing, "the header '" + place.name + "' is missing"};
}

Failure too_many(const Place& place, std::string_view what) {
  return {Reason::header_malformed, "too many " + std::string(what) + " in '" + place.name + "'"};
}

}  // namespace

void keep_better(Verdict& best, Verdict other) {
  if (weight(other.reason) > weight(best.reason)) best = std::move(other);
}

void Candidates::note(Failure failure) {
  if (refusal_) {
    keep_better(*refusal_, refused(std::move(failure)));
  } else {
    refusal_ = refused(std::move(failure));
  }
}

MaybeFailure Candidates::read(JsonReader* item) {
  count_ = 0;
  time_count_ = 0;
  refusal_.reset();
  for (std::size_t i = 0; i < parts_.places.size(); ++i) {
    if (MaybeFailure failure = read_place(parts_.places[i], texts_[i], item)) return failure;
  }
  return std::nullopt;
}

MaybeFailure Candidates::read_place(const Place& place, std::string& text, JsonReader* item) {
  if (place.numbered) return read_numbered(place);
  if (place.from == Field::From::header) {
    const HeaderValue value = headers_.find(place.name);
    if (value.status == FieldStatus::found && !value.text.empty()) {
      return read_sets(place, value.text);
    }
    const bool twice = value.status == FieldStatus::ambiguous;
    // A signature in one place suffices. Not recording the other place avoids an allocation.
    if (!twice && count_ > 0) return std::nullopt;
    note(twice ? Failure{Reason::header_malformed, "the header '" + place.name + "' occurs twice"}
               : absent(place));
    return std::nullopt;
  }
  if (place.from == Field::From::json && item != nullptr) {
    JsonValue value = item->at(place.name);
    if (value.status == JsonStatus::found && value.kind == JsonKind::string) {
      text = std::move(value.text);
      return read_sets(place, text);
    }
    note({Reason::signature_missing, "an item has no '" + place.name + "'"});
    return std::nullopt;
  }
  FieldValue value = fields_.read({place.from, place.name});
  switch (value.status) {
    case FieldStatus::found:
      text = std::move(value.text);
      return read_sets(place, text);
    case FieldStatus::unreadable:
      note({Reason::payload_unreadable, "the body, which contains the signature, is malformed"});
      return std::nullopt;
    case FieldStatus::ambiguous:
      note({Reason::header_malformed, "'" + place.name + "' occurs twice"});
      return std::nullopt;
    default:
      note({Reason::signature_missing, "'" + place.name + "' is not in the body"});
      return std::nullopt;
  }
}

MaybeFailure Candidates::read_numbered(const Place& place) {
  std::size_t seen = 0;
  for (const Header& header : request_.headers) {
    if (header.value.empty() || header.name.size() <= place.name.size() ||
        !equal_ignoring_case(header.name.substr(0, place.name.size()), place.name)) {
      continue;
    }
    if (++seen > kMaxSignatures) {
      return Failure{Reason::header_malformed, "too many headers '" + place.name + "N'"};
    }
    if (MaybeFailure failure = read_sets(place, header.value)) return failure;
  }
  if (seen == 0) {
    note({Reason::signature_missing, "no header '" + place.name + "N'"});
  }
  return std::nullopt;
}

MaybeFailure Candidates::read_sets(const Place& place, std::string_view value) {
  if (value.size() > kMaxSignatureText) {
    note({Reason::header_malformed, "'" + place.name + "' is too long"});
    return std::nullopt;
  }
  if (place.set == 0) return read_set(place, value);
  std::size_t sets = 0;
  while (!value.empty()) {
    if (++sets > kMaxSignatures) return too_many(place, "lists");
    const std::size_t end = std::min(value.find(place.set), value.size());
    if (MaybeFailure failure = read_set(place, value.substr(0, end))) return failure;
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return std::nullopt;
}

MaybeFailure Candidates::read_set(const Place& place, std::string_view value) {
  SignatureList list;
  if (MaybeFailure failure = read_list(place, value, list)) {
    note(std::move(*failure));
    return std::nullopt;
  }
  if (list.count == 0) {
    const bool anothers = !value.empty() && (!place.prefix.empty() || place.pair != 0);
    note({anothers ? Reason::signature_invalid : Reason::signature_missing,
          "'" + place.name + "' contains no signature of this scheme"});
    return std::nullopt;
  }
  std::size_t time = 0;
  const TimeFound found = find_time(list, time);
  if (found == TimeFound::no) return std::nullopt;
  if (found == TimeFound::too_many) return too_many(place, "timestamps");
  const std::size_t most = parts_.algorithm == Algorithm::ed25519 ? kMaxEd25519 : kMaxSignatures;
  if (count_ + list.count > most) return too_many(place, "signatures");
  for (const std::string_view text : list.signatures()) {
    all_[count_++] = {&place, text.data(), static_cast<std::uint32_t>(text.size()),
                      static_cast<std::uint32_t>(time)};
  }
  return std::nullopt;
}

Candidates::TimeFound Candidates::find_time(const SignatureList& list, std::size_t& index) {
  std::string_view text;
  // A timestamp outside the list is shared by all lists.
  if (time_count_ > 0 && !parts_.time_in_list) return TimeFound::yes;
  if (MaybeFailure failure = find_time_text(list, text)) {
    note(std::move(*failure));
    return TimeFound::no;
  }
  for (index = 0; index < time_count_; ++index) {
    if (times_[index].text == text) return TimeFound::yes;
  }
  if (time_count_ == kMaxTimes) return TimeFound::too_many;
  SignedTime time{text, std::nullopt};
  if (parts_.time_in_list || parts_.time_field) {
    const bool opaque = parts_.time.format == TimeFormat::opaque;
    if (!opaque) time.value = read_time(text, parts_.time.format);
    if (opaque ? !is_time_like(text) : !time.value) {
      note({Reason::header_malformed, "malformed timestamp"});
      return TimeFound::no;
    }
  }
  times_[time_count_++] = time;
  return TimeFound::yes;
}

MaybeFailure Candidates::find_time_text(const SignatureList& list, std::string_view& text) {
  if (parts_.time_in_list) {
    if (!list.time) {
      return Failure{Reason::signature_missing, "the header has no timestamp"};
    }
    text = *list.time;
    return std::nullopt;
  }
  if (!parts_.time_field) return std::nullopt;
  const Field& field = *parts_.time_field;
  if (field.from == Field::From::header) {
    const HeaderValue value = headers_.find(field.name);
    if (value.status == FieldStatus::ambiguous) {
      return Failure{Reason::header_malformed, "the header '" + field.name + "' occurs twice"};
    }
    if (value.status != FieldStatus::found || value.text.empty()) {
      return Failure{Reason::signature_missing, "the header '" + field.name + "' is missing"};
    }
    text = value.text;
    return std::nullopt;
  }
  FieldValue value = fields_.read(field);
  if (value.status == FieldStatus::unreadable) {
    return Failure{Reason::payload_unreadable, "the body, which contains the time, is malformed"};
  }
  if (value.status != FieldStatus::found || !value.number) {
    return Failure{Reason::signature_missing, "the body has no number at '" + field.name + "'"};
  }
  time_text_ = std::move(value.text);
  text = time_text_;
  return std::nullopt;
}

}  // namespace hapax::verify_detail
