// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The answer to a claim is lost after the commit. The outcome is unknown, so the request is
// repeated with the same token, and gets the answer that was lost instead of "duplicate".
#include <hapax/error.hpp>
#include <hapax/store.hpp>

#include <iostream>

using Answers = hapax::Result<std::vector<hapax::Dedup>>;

// Loses the first answer, as a broken connection may.
class UnreliableStore final : public hapax::DedupStore {
 public:
  explicit UnreliableStore(hapax::DedupStore& store) : store_(store) {}

  Answers dedup(std::span<const hapax::DedupRequest> requests) override {
    Answers answers = store_.dedup(requests);
    if (++calls_ > 1) return answers;
    return hapax::Error(hapax::Code::outcome_unknown, "the connection broke during the commit");
  }

 private:
  hapax::DedupStore& store_;
  int calls_ = 0;
};

Answers claim(hapax::DedupStore& store, std::string_view id) {
  const hapax::DedupRequest request{.scope = "mail", .id = id, .token = hapax::make_token()};
  for (int attempt = 1;; ++attempt) {
    Answers answers = store.dedup({&request, 1});
    if (answers || !answers.error().retryable() || attempt == 5) return answers;
    std::cout << answers.error().to_string() << '\n';  // a program waits here
  }
}

int main() {
  auto store = hapax::open("memory:");
  if (!store) return 1;
  UnreliableStore unreliable(*store);
  for (int delivery : {1, 2}) {
    const Answers answers = claim(unreliable, "evt_1");
    if (!answers) return 1;
    std::cout << delivery << ": evt_1 is " << (answers->front().duplicate ? "a duplicate" : "new")
              << '\n';
  }
}
