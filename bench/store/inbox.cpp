// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/cases.hpp"
#include "bench/store/inbox_sides.hpp"

namespace hapax::bench {

namespace {

constexpr double kBudget = 0.8;
constexpr double kBlockedBudget = 1 / 1.5;
constexpr std::size_t kBlocked = 100'000;

std::string shape(std::size_t batch) {
  return batch == 1 ? "single" : "batches of " + std::to_string(batch);
}

std::optional<double> budget(std::size_t batch) {
  return batch == 64 ? std::optional(kBudget) : std::nullopt;
}

Case admit(WorkDirectory& directory, std::size_t batch, IdOrder order, bool again) {
  return {.name = std::string(again ? "admit duplicates, " : "admit, ") + shape(batch) + ", " +
                  std::string(name(order)),
          .budget = again ? std::nullopt : budget(batch),
          .unit = batch,
          .open = [&directory, batch, order, again] {
            return Pair{admit_side(inbox_by_hand(directory.fresh_file()), order, batch, again),
                        admit_side(inbox_of_hapax(directory.fresh_file()), order, batch, again)};
          }};
}

Case lease_and_settle(WorkDirectory& directory, std::size_t batch) {
  return {.name = "lease and settle, " + shape(batch),
          .budget = std::nullopt,
          .unit = batch,
          .open = [&directory, batch] {
            return Pair{delivery_side(inbox_by_hand(directory.fresh_file()), batch),
                        delivery_side(inbox_of_hapax(directory.fresh_file()), batch)};
          }};
}

Case mixed(WorkDirectory& directory, std::size_t batch) {
  return {.name = "settle, admit and lease together, " + shape(batch),
          .budget = std::nullopt,
          .unit = batch,
          .open = [&directory, batch] {
            const Sharing sharing = Sharing::one_transaction;
            return Pair{life_side(inbox_by_hand(directory.fresh_file()), batch, sharing, 0),
                        life_side(inbox_of_hapax(directory.fresh_file()), batch, sharing, 0)};
          }};
}

// From here on both sides are hapax.
Case sharing(WorkDirectory& directory, std::size_t batch) {
  return {.name = "hapax: together beside apart, " + shape(batch),
          .budget = std::nullopt,
          .unit = batch,
          .open = [&directory, batch] {
            return Pair{life_side(inbox_of_hapax(directory.fresh_file()), batch,
                                  Sharing::three_transactions, 0),
                        life_side(inbox_of_hapax(directory.fresh_file()), batch,
                                  Sharing::one_transaction, 0)};
          }};
}

Case in_lanes(WorkDirectory& directory, std::size_t batch, std::size_t lanes) {
  return {.name = "hapax: all in " + std::to_string(lanes) + " lanes beside none, " + shape(batch),
          .budget = std::nullopt,
          .unit = batch,
          .open = [&directory, batch, lanes] {
            const Sharing together = Sharing::one_transaction;
            return Pair{life_side(inbox_of_hapax(directory.fresh_file()), batch, together, 0),
                        life_side(inbox_of_hapax(directory.fresh_file()), batch, together, lanes)};
          }};
}

Case blocked(WorkDirectory& directory, std::size_t batch) {
  return {.name = "hapax: lease and settle, 100,000 blocked beside none, " + shape(batch),
          .budget = kBlockedBudget,
          .unit = batch,
          .open = [&directory, batch] {
            return Pair{delivery_side(inbox_of_hapax(directory.fresh_file()), batch),
                        delivery_side(inbox_with_blocked(directory.fresh_file(), kBlocked), batch)};
          }};
}

}  // namespace

std::vector<Case> inbox_cases(WorkDirectory& directory) {
  std::vector<Case> cases;
  for (const std::size_t batch : {1U, 64U, 256U}) {
    for (const IdOrder order : {IdOrder::random, IdOrder::by_time}) {
      cases.push_back(admit(directory, batch, order, false));
    }
  }
  for (const std::size_t batch : {64U, 256U}) {
    cases.push_back(admit(directory, batch, IdOrder::random, true));
    cases.push_back(lease_and_settle(directory, batch));
    cases.push_back(mixed(directory, batch));
    cases.push_back(sharing(directory, batch));
    cases.push_back(in_lanes(directory, batch, 1000));
    cases.push_back(blocked(directory, batch));
  }
  return cases;
}

}  // namespace hapax::bench
