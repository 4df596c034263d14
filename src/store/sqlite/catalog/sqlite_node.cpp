// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/contracts.hpp"

namespace hapax::store::sqlite {

namespace {

class SqliteNode final : public store::Node {
 public:
  explicit SqliteNode(Database& database) : database_(database) {}

  Result<NodeNo> take_node(const Token& owner, std::chrono::milliseconds lease) override {
    HAPAX_TRY_ASSIGN(
        number, database_.change<std::optional<NodeNo>>([&](Inbox& inbox, std::int64_t now_ms) {
          return inbox.names.take_node(owner, lease, now_ms);
        }));
    if (number) return *number;
    return Error(Code::store_full, "all node numbers are taken; stop a node");
  }
  Result<void> leave_node(const Token& owner) override {
    return database_.change(
        [&](Inbox& inbox, std::int64_t now_ms) { return inbox.names.leave_node(owner, now_ms); });
  }
  Result<StoreSecret> secret(const StoreSecret& proposed) override {
    return database_.change<StoreSecret>(
        [&](Inbox& inbox, std::int64_t) { return inbox.names.secret(proposed); });
  }

  Result<std::optional<Record>> record(std::string_view name) override {
    return database_.read<std::optional<Record>>(
        [&](Reader::View& view) { return view.records.read(name); });
  }
  Result<std::vector<Record>> records(std::string_view prefix) override {
    return database_.read<std::vector<Record>>(
        [&](Reader::View& view) { return view.records.all(prefix); });
  }
  Result<bool> put_record(const Record& record, std::int64_t before) override {
    HAPAX_TRY_ASSIGN(put, database_.change<std::optional<bool>>([&](Inbox& inbox, std::int64_t) {
      return inbox.records.put(record, before);
    }));
    if (put) return *put;
    return no_room_for_records();
  }
  Result<bool> remove_record(std::string_view name, std::int64_t version) override {
    return database_.change<bool>(
        [&](Inbox& inbox, std::int64_t) { return inbox.records.remove(name, version); });
  }

 private:
  Database& database_;
};

}  // namespace

std::unique_ptr<store::Node> make_node(Database& database) {
  return std::make_unique<SqliteNode>(database);
}

}  // namespace hapax::store::sqlite
