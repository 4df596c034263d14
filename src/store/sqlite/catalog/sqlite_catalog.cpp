// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/contracts.hpp"

namespace hapax::store::sqlite {

namespace {

class SqliteCatalog final : public store::Catalog {
 public:
  explicit SqliteCatalog(Database& database) : database_(database) {}

  Result<std::vector<std::optional<EventNo>>> find(
      std::span<const WantedIdentity> wanted) override {
    return database_.read<std::vector<std::optional<EventNo>>>(
        [&](Reader::View& view) { return view.reading.find(wanted, view.now_ms); });
  }
  Result<EventPage> events(const EventQuery& query) override {
    return database_.read<EventPage>(
        [&](Reader::View& view) { return view.reading.listing.page(query, view.now_ms); });
  }
  Result<Lookup<EventDetail>> event(EventNo number) override {
    return database_.read<Lookup<EventDetail>>(
        [&](Reader::View& view) { return view.reading.event(number, view.now_ms); });
  }
  Result<Lookup<std::string>> body(EventNo number, BodyOf which) override {
    return database_.read<Lookup<std::string>>(
        [&](Reader::View& view) { return view.reading.body(number, which); });
  }

  Result<Stats> stats() override {
    return database_.read<Stats>(
        [](Reader::View& view) { return view.reading.stats(view.now_ms); });
  }
  Result<ClaimFaults> claim_faults() override {
    return database_.read<ClaimFaults>(
        [](Reader::View& view) { return view.reading.claim_faults(); });
  }

  Result<std::int64_t> number_of(NameKind kind, std::string_view name) override {
    return database_.change<std::int64_t>(
        [&](Inbox& inbox, std::int64_t) { return inbox.names.number_of(kind, name); });
  }
  Result<std::vector<KnownName>> names(NameKind kind) override {
    return database_.read<std::vector<KnownName>>(
        [&](Reader::View& view) { return view.names.all(kind); });
  }

  Result<void> pause(DestinationNo destination, bool paused) override {
    return database_.change(
        [&](Inbox& inbox, std::int64_t) { return inbox.names.pause(destination, paused); });
  }
  Result<std::vector<DestinationNo>> paused() override {
    return database_.read<std::vector<DestinationNo>>(
        [](Reader::View& view) { return view.names.paused(); });
  }

 private:
  Database& database_;
};

}  // namespace

std::unique_ptr<store::Catalog> make_catalog(Database& database) {
  return std::make_unique<SqliteCatalog>(database);
}

}  // namespace hapax::store::sqlite
