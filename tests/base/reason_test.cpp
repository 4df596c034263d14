// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/verify.hpp>

#include <gtest/gtest.h>

#include <set>

namespace hapax {
namespace {

TEST(Reason, EveryReasonHasItsNameAndStatus) {
  EXPECT_EQ(name(Reason::none), "");
  EXPECT_EQ(http_status(Reason::none), 200);
  const struct {
    Reason reason;
    std::string_view name;
    int status;
  } rows[] = {
      {Reason::signature_missing, "signature-missing", 401},
      {Reason::signature_invalid, "signature-invalid", 401},
      {Reason::timestamp_outside_window, "timestamp-outside-window", 401},
      {Reason::header_malformed, "header-malformed", 400},
      {Reason::payload_unreadable, "payload-unreadable", 400},
      {Reason::id_missing, "id-missing", 400},
      {Reason::id_ambiguous, "id-ambiguous", 400},
      {Reason::body_too_large, "body-too-large", 413},
  };
  std::set<std::string_view> names;
  for (const auto& row : rows) {
    EXPECT_EQ(name(row.reason), row.name);
    EXPECT_EQ(http_status(row.reason), row.status);
    names.insert(row.name);
  }
  EXPECT_EQ(names.size(), std::size(rows));
}

}  // namespace
}  // namespace hapax
