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

Case admit(const InboxWays& ways, std::size_t batch, IdOrder order, bool again) {
  return {.name = ways.prefix + (again ? "admit duplicates, " : "admit, ") + shape(batch) + ", " +
                  std::string(name(order)),
          .budget = again ? std::nullopt : budget(batch),
          .unit = batch,
          .open = [ways, batch, order, again] {
            return Pair{admit_side(ways.by_hand(), order, batch, again),
                        admit_side(ways.hapax(), order, batch, again)};
          }};
}

Case lease_and_settle(const InboxWays& ways, std::size_t batch) {
  return {.name = ways.prefix + "lease and settle, " + shape(batch),
          .budget = std::nullopt,
          .unit = batch,
          .open = [ways, batch] {
            return Pair{delivery_side(ways.by_hand(), batch), delivery_side(ways.hapax(), batch)};
          }};
}

Case mixed(const InboxWays& ways, std::size_t batch) {
  return {.name = ways.prefix + "settle, admit and lease together, " + shape(batch),
          .budget = std::nullopt,
          .unit = batch,
          .open = [ways, batch] {
            const Sharing sharing = Sharing::one_transaction;
            return Pair{life_side(ways.by_hand(), batch, sharing, 0),
                        life_side(ways.hapax(), batch, sharing, 0)};
          }};
}

// In the following cases both sides are hapax.
Case sharing(const InboxWays& ways, std::size_t batch) {
  return {.name = ways.prefix + "hapax: together beside apart, " + shape(batch),
          .budget = std::nullopt,
          .unit = batch,
          .open = [ways, batch] {
            return Pair{life_side(ways.hapax(), batch, Sharing::three_transactions, 0),
                        life_side(ways.hapax(), batch, Sharing::one_transaction, 0)};
          }};
}

Case in_lanes(const InboxWays& ways, std::size_t batch, std::size_t lanes) {
  return {.name = ways.prefix + "hapax: all in " + std::to_string(lanes) + " lanes beside none, " +
                  shape(batch),
          .budget = std::nullopt,
          .unit = batch,
          .open = [ways, batch, lanes] {
            const Sharing together = Sharing::one_transaction;
            return Pair{life_side(ways.hapax(), batch, together, 0),
                        life_side(ways.hapax(), batch, together, lanes)};
          }};
}

Case blocked(const InboxWays& ways, std::size_t batch) {
  return {
      .name = ways.prefix + "hapax: lease and settle, 100,000 blocked beside none, " + shape(batch),
      .budget = kBlockedBudget,
      .unit = batch,
      .open = [ways, batch] {
        return Pair{delivery_side(ways.hapax(), batch),
                    delivery_side(ways.hapax_with_blocked(kBlocked), batch)};
      }};
}

}  // namespace

std::vector<Case> inbox_cases_of(const InboxWays& ways) {
  std::vector<Case> cases;
  for (const std::size_t batch : {1U, 64U, 256U}) {
    for (const IdOrder order : {IdOrder::random, IdOrder::by_time}) {
      cases.push_back(admit(ways, batch, order, false));
    }
  }
  for (const std::size_t batch : {64U, 256U}) {
    cases.push_back(admit(ways, batch, IdOrder::random, true));
    cases.push_back(lease_and_settle(ways, batch));
    cases.push_back(mixed(ways, batch));
    cases.push_back(sharing(ways, batch));
    cases.push_back(in_lanes(ways, batch, 1000));
    cases.push_back(blocked(ways, batch));
  }
  return cases;
}

std::vector<Case> inbox_cases(WorkDirectory& directory) {
  return inbox_cases_of({.prefix = "",
                         .by_hand = [&directory] { return inbox_by_hand(directory.fresh_file()); },
                         .hapax = [&directory] { return inbox_of_hapax(directory.fresh_file()); },
                         .hapax_with_blocked =
                             [&directory](std::size_t deliveries) {
                               return inbox_with_blocked(directory.fresh_file(), deliveries);
                             }});
}

}  // namespace hapax::bench
