// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/store.hpp>

#include "base/claim_key.hpp"
#include "base/try.hpp"
#include "store/inspect.hpp"
#include "store/limits.hpp"
#include "store/memory/driver.hpp"
#include "store/open.hpp"
#include "store/postgres/driver.hpp"
#include "store/postgres/inspect.hpp"
#include "store/sqlite/driver.hpp"
#include "store/sqlite/inspect.hpp"
#include "store/url.hpp"

#include <algorithm>
#include <string>

namespace hapax {

std::string_view name(Capability capability) noexcept {
  switch (capability) {
    case Capability::dedup:
      return "dedup";
    case Capability::keys:
      return "keys";
    case Capability::inbox:
      return "inbox";
    case Capability::outbox:
      break;
  }
  return "outbox";
}

struct Store::Parts {
  std::unique_ptr<store::Opened> opened;
};

namespace {

constexpr std::size_t kPurgeMax = 100'000;  // bounds how long a step lasts

Result<store::Driver> open_driver(const store::StoreUrl& url, const OpenOptions& options,
                                  Clock& clock, Random& random) {
  switch (url.kind) {
    case store::StoreUrl::Kind::sqlite:
      return store::sqlite::open_driver(url.path, options, clock);
    case store::StoreUrl::Kind::postgres:
      return store::postgres::open_driver(url.text, options, random);
    case store::StoreUrl::Kind::memory:
      break;
  }
  return store::memory::make_driver(options.memory_max_ids, clock);
}

Result<void> check_options(const OpenOptions& options) {
  constexpr std::chrono::milliseconds kLongest = days;
  const bool timely = options.timeout.count() >= 1 && options.timeout <= kLongest &&
                      options.busy_timeout.count() >= 0 && options.busy_timeout <= kLongest;
  if (timely && options.connections >= 1 && options.connections <= 1000) return {};
  return Error(Code::misconfigured,
               "a store needs 1 to 1000 connections, a timeout of 1 ms to 1 day and a busy_timeout "
               "of at most 1 day");
}

Result<void> check_capabilities(const store::StoreUrl& url, Capabilities has, Capabilities needs) {
  for (Capability each :
       {Capability::dedup, Capability::keys, Capability::inbox, Capability::outbox}) {
    if (!needs.has(each) || has.has(each)) continue;
    return Error(Code::misconfigured, "the store " + url.shown() + " has no " +
                                          std::string(name(each)) + " in this version");
  }
  return {};
}

bool drawn_for(std::span<const DedupRequest> requests) {
  return std::any_of(requests.begin(), requests.end(),
                     [](const DedupRequest& request) { return request.token.empty(); });
}

// Tokens for the requests without one, drawn together: a system call per request would cost more
// than the claim.
std::vector<Token> draw_tokens(std::span<const DedupRequest> requests, Random& random) {
  std::vector<Token> tokens(static_cast<std::size_t>(
      std::count_if(requests.begin(), requests.end(),
                    [](const DedupRequest& request) { return request.token.empty(); })));
  static_assert(sizeof(Token) == sizeof(Token::bytes));
  random.fill({reinterpret_cast<unsigned char*>(tokens.data()), tokens.size() * sizeof(Token)});
  return tokens;
}

Result<std::vector<store::DedupItem>> prepare(std::span<const DedupRequest> requests,
                                              Random& random) {
  for (const DedupRequest& request : requests) HAPAX_TRY(check(request));
  const std::vector<Token> drawn = draw_tokens(requests, random);
  auto next = drawn.begin();
  std::vector<store::DedupItem> items;
  items.reserve(requests.size());
  for (const DedupRequest& request : requests) {
    items.push_back({claim_key(ClaimKind::id, request.scope, request.id),
                     request.token.empty() ? *next++ : request.token, request.ttl});
  }
  return items;
}

}  // namespace

Token make_token() {
  Token token;
  make_system_random()->fill(token.bytes);
  return token;
}

Result<void> check(const DedupRequest& request) {
  return store::check_claim(request.scope, request.id, request.ttl);
}

Store::Store(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Capabilities Store::capabilities() const {
  return parts_->opened->driver.capabilities();
}

Result<Dedup> Store::dedup(const DedupRequest& request) {
  HAPAX_TRY_ASSIGN(answers, dedup(std::span(&request, 1)));
  return answers.front();
}

Result<std::vector<Dedup>> Store::dedup(std::span<const DedupRequest> requests) {
  if (requests.empty()) return std::vector<Dedup>();
  if (requests.size() > kMaxBatch) {
    return Error(Code::invalid_argument, "one call takes at most " + std::to_string(kMaxBatch) +
                                             " requests; this one has " +
                                             std::to_string(requests.size()));
  }
  HAPAX_TRY_ASSIGN(items, prepare(requests, parts_->opened->world.random));
  Result<std::vector<Dedup>> answers = parts_->opened->driver.claims->dedup(items);
  if (!answers && answers.error().outcome() == Outcome::unknown && drawn_for(requests)) {
    return Error(Code::outcome_unknown,
                 answers.error().detail() +
                     "; a request without a token cannot be repeated; pass make_token()");
  }
  return answers;
}

Result<Purged> Store::purge(std::size_t limit) {
  if (limit == 0) return Error(Code::invalid_argument, "limit must be at least 1");
  return parts_->opened->driver.claims->purge(std::min(limit, kPurgeMax));
}

Result<std::unique_ptr<store::Opened>> store::open_store(const StoreUrl& url,
                                                         const OpenOptions& options) {
  HAPAX_TRY(check_options(options));
  auto opened = std::make_unique<Opened>(options);
  HAPAX_TRY_ASSIGN(driver, open_driver(url, options, opened->world.clock, opened->world.random));
  HAPAX_TRY(check_capabilities(url, driver.capabilities(), options.needs));
  opened->driver = std::move(driver);
  return opened;
}

Result<std::unique_ptr<store::Opened>> store::open_store(std::string_view url,
                                                         const OpenOptions& options) {
  HAPAX_TRY(check_options(options));
  HAPAX_TRY_ASSIGN(parsed, StoreUrl::parse(url));
  return open_store(parsed, options);
}

Result<std::optional<store::StoreSummary>> store::inspect(const StoreUrl& url,
                                                          const OpenOptions& options) {
  HAPAX_TRY(check_options(options));
  const World world(options.clock, options.random);
  if (url.kind == StoreUrl::Kind::memory) return std::optional<StoreSummary>();
  if (url.kind == StoreUrl::Kind::sqlite)
    return sqlite::inspect_file(url.path, options, world.clock);
  return postgres::inspect_url(url.text, options, world.random);
}

Result<Store> open(std::string_view url, const OpenOptions& options) {
  HAPAX_TRY_ASSIGN(opened, store::open_store(url, options));
  auto parts = std::make_unique<Store::Parts>();
  parts->opened = std::move(opened);
  return Store(std::move(parts));
}

Result<int> migrate(std::string_view url, const OpenOptions& options) {
  HAPAX_TRY(check_options(options));
  HAPAX_TRY_ASSIGN(parsed, store::StoreUrl::parse(url));
  if (parsed.kind == store::StoreUrl::Kind::memory) {
    return store::unusable_url(url, "it has no schema to upgrade");
  }
  if (parsed.kind == store::StoreUrl::Kind::sqlite) {
    return store::sqlite::migrate_file(parsed.path, options);
  }
  return store::postgres::migrate_url(parsed.text, options);
}

}  // namespace hapax
