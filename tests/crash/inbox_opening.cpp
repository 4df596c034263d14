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
  switch (told(answer, script.answers[act])) {
    case Told::the_answer:
      return {act + 1, false};
    case Told::did_not_happen:
      return {act, false};
    case Told::unknown:
      return {act, true};
    case Told::something_else:
      break;
  }
  // An operation that counts may report other numbers if the store repeated it.
  EXPECT_TRUE(counts(scene.acts[act])) << answer << "instead of\n" << script.answers[act];
  return {act + 1, false};
}

}  // namespace hapax::test
