// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hapax::verify_detail {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using testing::ElementsAre;

Place place_of(const SignaturePlace& place, std::string_view key_id = "") {
  Result<Place> made = Place::make(place, key_id);
  EXPECT_TRUE(made);
  return *made;
}

constexpr SignaturePlace kStamped = {
    .at = "header:x", .item = ',', .pair = '=', .label = "v1", .time_label = "t"};

struct Read {
  std::vector<std::string> signatures;
  std::optional<std::string> time;
  std::string reason;
};

Read read(const SignaturePlace& place, std::string_view value) {
  SignatureList list;
  if (const MaybeFailure failure = read_list(place_of(place, "key"), value, list)) {
    return {{}, {}, std::string(name(failure->reason))};
  }
  Read read;
  for (const std::string_view each : list.signatures()) read.signatures.emplace_back(each);
  if (list.time) read.time = std::string(*list.time);
  return read;
}

TEST(SignatureList, ReturnsTheLabeledItemsAndTheTime) {
  const Read one = read(kStamped, "t=12,v1=aa,v0=bb,v1=cc,v10=dd,junk,=,v1");
  EXPECT_THAT(one.signatures, ElementsAre("aa", "cc"));
  EXPECT_EQ(one.time, "12");
  EXPECT_THAT(read(kStamped, "v1=aa,t=12").signatures, ElementsAre("aa"));
  EXPECT_THAT(read(kStamped, "V1=aa, v1=bb").signatures, ElementsAre()) << "labels are exact";
  EXPECT_THAT(read(kStamped, "v1=aa=bb").signatures, ElementsAre("aa=bb"));
  EXPECT_EQ(read(kStamped, "").reason, "");
  EXPECT_EQ(read(kStamped, "v1=").signatures.size(), 0U);
}

TEST(SignatureList, WithTwoTimesIsMalformed) {
  EXPECT_EQ(read(kStamped, "t=1,t=1,v1=aa").reason, "header-malformed");
  EXPECT_EQ(read(kStamped, "t=1,v1=aa,t=2").reason, "header-malformed");
  EXPECT_EQ(read(kStamped, "t=,t=1,v1=aa").reason, "header-malformed");
}

TEST(SignatureList, HasAtMostSixteenSignatures) {
  std::string value = "t=1";
  for (std::size_t i = 0; i < kMaxSignatures; ++i) value += ",v1=aa";
  EXPECT_EQ(read(kStamped, value).signatures.size(), kMaxSignatures);
  EXPECT_EQ(read(kStamped, value + ",v1=aa").reason, "header-malformed");
}

TEST(SignatureList, CanStartWithAnUnlabeledTime) {
  SignaturePlace place = kStamped;
  place.pair = 0;
  place.label = place.time_label = "";
  place.time_first = true;
  const Read both = read(place, "123,aa,bb");
  EXPECT_THAT(both.signatures, ElementsAre("aa", "bb"));
  EXPECT_EQ(both.time, "123");
}

TEST(SignatureList, IgnoresSpacesOnlyWhereTheSchemeAllowsIt) {
  SignaturePlace place = kStamped;
  EXPECT_THAT(read(place, "t=1, v1=aa").signatures, ElementsAre());
  place.spaces = true;
  EXPECT_THAT(read(place, " t=1 ,  v1=aa ").signatures, ElementsAre("aa"));
}

TEST(SignatureList, UsesOnlyTheFirstIfTheSchemeRequiresIt) {
  SignaturePlace place = kStamped;
  place.label = "{key_id}";
  place.first_only = true;
  EXPECT_THAT(read(place, "other=00,key=aa,key=bb").signatures, ElementsAre("aa"));
}

TEST(SignatureList, ASingleSignatureNeedsItsPrefix) {
  const SignaturePlace place = {.at = "header:x", .prefix = "sha256="};
  EXPECT_THAT(read(place, "sha256=aa").signatures, ElementsAre("aa"));
  EXPECT_THAT(read(place, "sha1=aa").signatures, ElementsAre());
  EXPECT_THAT(read(place, "SHA256=aa").signatures, ElementsAre());
  EXPECT_THAT(read(place, "sha256=").signatures, ElementsAre());
}

TEST(SignaturePlaceAt, NamesAPartOfTheRequest) {
  EXPECT_TRUE(place_of({.at = "header:X-DocuSign-Signature-*"}).numbered);
  EXPECT_FALSE(Place::make({.at = "cookie:x"}, ""));
  EXPECT_FALSE(Place::make({.at = ""}, ""));
}

TEST(Timestamp, AcceptsOnlyDigits) {
  EXPECT_EQ(read_time("1760000000", TimeFormat::unix_seconds), WallTime(seconds(1'760'000'000)));
  EXPECT_EQ(read_time("0", TimeFormat::unix_seconds), WallTime(seconds(0)));
  EXPECT_EQ(read_time("1760000000123", TimeFormat::unix_milliseconds),
            WallTime(microseconds(1'760'000'000'123'000)));
  EXPECT_TRUE(read_time("9223372036854", TimeFormat::unix_seconds));
  EXPECT_FALSE(read_time("9223372036855", TimeFormat::unix_seconds)) << "microseconds overflow";
  for (const char* text : {"", " 1", "1 ", "-1", "+1", "01", "1.0", "1e3", "0x1", "1_0",
                           "9223372036854775807", "9223372036854775808", "18446744073709551616"}) {
    EXPECT_FALSE(read_time(text, TimeFormat::unix_seconds)) << text;
  }
}

TEST(Timestamp, RoundTrips) {
  const WallTime time(microseconds(1'760'000'000'000'000));
  for (const TimeFormat format :
       {TimeFormat::unix_seconds, TimeFormat::unix_milliseconds, TimeFormat::rfc3339,
        TimeFormat::utc_without_zone, TimeFormat::http_date}) {
    EXPECT_EQ(read_time(write_time(time, format), format), time) << write_time(time, format);
  }
  EXPECT_FALSE(read_time("1760000000", TimeFormat::opaque));
}

TEST(Timestamp, AnOpaqueTimeCannotContainJson) {
  EXPECT_TRUE(is_time_like("1760000000"));
  EXPECT_TRUE(is_time_like("2025-10-09T08:53:20.123+02:00"));
  EXPECT_FALSE(is_time_like("1760000000{\"type\":1,\"data\":"));
  EXPECT_FALSE(is_time_like("1760000000[{"));
  EXPECT_FALSE(is_time_like("1760000000 "));
  EXPECT_FALSE(is_time_like(std::string(65, '1')));
}

TEST(Window, IsBoundedOnBothSidesAndReportsTheDifference) {
  const WallTime now(seconds(1'760'000'000));
  const TimePlace place{.past = seconds(300), .future = seconds(60)};
  EXPECT_FALSE(check_window(now - seconds(300), now, place));
  EXPECT_FALSE(check_window(now + seconds(60), now, place));
  const MaybeFailure late = check_window(now - seconds(301), now, place);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->reason, Reason::timestamp_outside_window);
  EXPECT_THAT(late->detail, testing::HasSubstr("301 s ago"));
  const MaybeFailure early = check_window(now + seconds(61), now, place);
  ASSERT_TRUE(early);
  EXPECT_THAT(early->detail, testing::HasSubstr("61 s ahead"));
  EXPECT_FALSE(check_window(WallTime(seconds(0)), now, TimePlace{}));
  EXPECT_FALSE(check_window(WallTime(microseconds(INT64_MAX)), now, TimePlace{}));
  EXPECT_TRUE(check_window(WallTime(microseconds(INT64_MAX)), now, place));
}

}  // namespace
}  // namespace hapax::verify_detail
