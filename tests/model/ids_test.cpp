// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/ids.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace hapax {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Ids, NumbersRoundTrip) {
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{1}, std::int64_t{31},
                                    std::int64_t{32}, std::int64_t{1} << 41, kMost - 1, kMost}) {
    EXPECT_EQ(event_from(to_text(EventNo(number))), EventNo(number));
    EXPECT_EQ(reject_from(to_text(RejectNo(number))), RejectNo(number));
    for (const std::int64_t ordinal : {std::int64_t{1}, std::int64_t{32}, kMaxDeliveryNo}) {
      const DeliveryRef delivery{EventNo(number), DeliveryNo(ordinal)};
      EXPECT_EQ(delivery_from(to_text(delivery)), delivery);
    }
  }
}

TEST(Ids, AreShortAndOfLowerCaseLettersAndDigits) {
  const std::string event = to_text(EventNo(kMost));
  const std::string delivery = to_text(DeliveryRef{EventNo(kMost), DeliveryNo(kMaxDeliveryNo)});
  EXPECT_EQ(event.size(), 16U);
  EXPECT_EQ(delivery.size(), 18U);
  const std::string_view allowed = "0123456789abcdefghjkmnpqrstvwxyz";
  EXPECT_EQ((event + delivery).find_first_not_of(allowed), std::string::npos);
}

TEST(Ids, SortLikeTheirNumbers) {
  EXPECT_LT(to_text(EventNo(31)), to_text(EventNo(32)));
  EXPECT_LT(to_text(EventNo(999)), to_text(EventNo(std::int64_t{1} << 60)));
}

TEST(Ids, AnIdOfOneKindIsNotAnIdOfAnother) {
  EXPECT_FALSE(reject_from(to_text(EventNo(5))));
  EXPECT_FALSE(event_from(to_text(RejectNo(5))));
  EXPECT_FALSE(event_from(to_text(DeliveryRef{EventNo(5), DeliveryNo(1)})));
  EXPECT_FALSE(delivery_from(to_text(EventNo(5))));
}

TEST(Ids, MalformedTextsAreRejected) {
  const std::string good = to_text(DeliveryRef{EventNo(123456789), DeliveryNo(3)});
  ASSERT_TRUE(delivery_from(good));
  EXPECT_FALSE(delivery_from(""));
  EXPECT_FALSE(delivery_from("d"));
  EXPECT_FALSE(delivery_from(good + "0"));
  EXPECT_FALSE(delivery_from(good.substr(0, good.size() - 1)));
  EXPECT_FALSE(delivery_from(" " + good.substr(1)));
  std::string upper = good;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_FALSE(delivery_from(upper)) << "ids have exactly one spelling";
  EXPECT_FALSE(event_from(std::string(16, '\0')));
  EXPECT_FALSE(event_from("ezzzzzzzzzzzzz00")) << "more than 63 bits";
}

TEST(Ids, NearlyEveryTypoIsDetected) {
  test::SeededRandom random(1);
  const std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
  int missed = 0;
  constexpr int kTypos = 20'000;
  for (int i = 0; i < kTypos; ++i) {
    std::string text = to_text(EventNo(static_cast<std::int64_t>(random.next() >> 1)));
    const std::string before = text;
    text[1 + random.below(text.size() - 1)] = digits[random.below(digits.size())];
    if (text != before && event_from(text)) ++missed;
  }
  EXPECT_LT(missed, kTypos / 200);
}

TEST(Ids, AnyBytesAreParsedSafely) {
  test::SeededRandom random(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random.below(24), '\0');
    random.fill({reinterpret_cast<unsigned char*>(text.data()), text.size()});
    if (!text.empty()) text[0] = "edr"[random.below(3)];
    event_from(text);
    reject_from(text);
    const std::optional<DeliveryRef> delivery = delivery_from(text);
    EXPECT_TRUE(!delivery || to_text(*delivery) == text);
  }
}

}  // namespace
}  // namespace hapax
