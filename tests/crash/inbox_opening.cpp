// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/inbox_opening.hpp"

#include "crash/crash_vfs.hpp"

#include <gtest/gtest.h>

namespace hapax::test {

Opening::Opening(const Scene& scene) {
  const CrashVfs no_faults;  // avoids real syncs
  FileInbox inbox(path(), {});
  Side side(inbox);
  for (const Operation& each : scene.before) side.apply(each);
  known_ = std::make_unique<Side>(side, inbox);
  passed_ = inbox.passed();
}

Progress progress_after(const Scene& scene, const Script& script, std::size_t act,
                        const std::string& answer) {
  switch (compare_answer(answer, script.answers[act])) {
    case AnswerMatch::expected:
      return {act + 1, false};
    case AnswerMatch::did_not_happen:
      return {act, false};
    case AnswerMatch::unknown:
      return {act, true};
    case AnswerMatch::different:
      break;
  }
  // An operation that reports_counts may report other numbers if the store repeated it.
  EXPECT_TRUE(reports_counts(scene.acts[act])) << answer << "instead of\n" << script.answers[act];
  return {act + 1, false};
}

}  // namespace hapax::test
