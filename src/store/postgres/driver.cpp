// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/driver.hpp"

#include "base/try.hpp"
#include "store/group_commit.hpp"
#include "store/postgres/errors.hpp"
#include "store/postgres/inbox.hpp"
#include "store/postgres/schema.hpp"
#include "store/postgres/statements.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>

namespace hapax::store::postgres {

namespace {

// A request, and where to store its answer.
struct ClaimRequest {
  const DedupItem* item;
  Dedup* answer;
};

// The requests of the whole group, sorted by key: hapax._claim must lock keys in order. The sort is
// stable, so that of two requests with the same key the first gets it.
std::vector<ClaimRequest> collect(const std::vector<Job*>& group) {
  std::vector<ClaimRequest> requests;
  for (Job* job : group) {
    std::vector<Dedup>& answers = *job->answers.dedup;
    answers.resize(job->batch->dedup.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      requests.push_back({&job->batch->dedup[i], &answers[i]});
    }
  }
  const auto less = [](const ClaimRequest& a, const ClaimRequest& b) {
    return a.item->key < b.item->key;
  };
  if (!std::is_sorted(requests.begin(), requests.end(), less)) {
    std::stable_sort(requests.begin(), requests.end(), less);
  }
  return requests;
}

Parameters claim_parameters(const std::vector<ClaimRequest>& requests) {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> tokens;
  std::vector<std::int64_t> ttls_ms;
  keys.reserve(requests.size());
  tokens.reserve(requests.size());
  ttls_ms.reserve(requests.size());
  for (const ClaimRequest& each : requests) {
    keys.push_back(each.item->key);
    tokens.push_back(view(each.item->token));
    ttls_ms.push_back(each.item->ttl.count());
  }
  Parameters parameters;
  parameters.add_bytes_array(keys);
  parameters.add_bytes_array(tokens);
  parameters.add_number_array(ttls_ms);
  return parameters;
}

// One digit per request, in order; see hapax._claim.
void spread(std::string_view digits, const std::vector<ClaimRequest>& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i)
    requests[i].answer->duplicate = digits[i] != '1';
}

// The items of one kind of a whole group, in order.
template <class Item>
std::vector<const Item*> all_of(const std::vector<Job*>& group,
                                std::span<const Item> Batch::*kind) {
  std::vector<const Item*> items;
  for (const Job* job : group) {
    for (const Item& each : job->batch->*kind) items.push_back(&each);
  }
  return items;
}

// Distributes the answers, or the error, to the jobs.
template <class Item, class Value>
void spread(Result<std::vector<Value>> values, const std::vector<Job*>& group,
            std::span<const Item> Batch::*kind, Result<std::vector<Value>> Answers::*answers) {
  std::size_t place = 0;
  for (Job* job : group) {
    const std::size_t count = (job->batch->*kind).size();
    if (count == 0) continue;
    if (!values) {
      job->answers.*answers = values.error();
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      (job->answers.*answers)->push_back(std::move((*values)[place++]));
    }
  }
}

class PostgresDriver final : public Inbox {
 public:
  PostgresDriver(const std::string& url, const OpenOptions& options, Random& random)
      : Inbox(url, options, random), group_(options.connections) {}

  Result<void> start(const OpenOptions& options) { return runner_.start(options); }

  Capabilities capabilities() const override {
    return {Capability::dedup, Capability::inbox, Capability::outbox};
  }

  Answers write(const Batch& batch) override {
    Job job(batch);
    group_.submit(job, [this](const std::vector<Job*>& group) { commit(group); });
    if (!job.outcome) fail(job);
    return std::move(job.answers);
  }

  // Not grouped: claims must not wait for it.
  Result<Purged> purge(std::size_t limit) override {
    Parameters parameters;
    parameters.add_number(static_cast<std::int64_t>(limit));
    parameters.add_time(runner_.moment());
    parameters.add_number(runner_.patience_ms());
    HAPAX_TRY_ASSIGN(answer, runner_.run(kPurge, parameters, "remove expired ids"));
    Purged purged;
    const std::string_view text = answer.field(0, 0);
    std::from_chars(text.data(), text.data() + text.size(), purged.removed);
    purged.done = answer.field(0, 1) == "t";
    return purged;
  }

 private:
  static void fail(Job& job) {
    const Error& error = job.outcome.error();
    job.answers.settle = error;
    job.answers.admit.assign(job.batch->admit.size(), error);
    job.answers.dedup = error;
    job.answers.lease = error;
  }

  // One transaction per kind, with an outcome of its own: no locks are held from one to the next.
  void commit(const std::vector<Job*>& group) {
    if (const auto items = all_of(group, &Batch::settle); !items.empty()) {
      spread(settle(items), group, &Batch::settle, &Answers::settle);
    }
    if (const auto items = all_of(group, &Batch::admit); !items.empty()) {
      spread_admits(admit(items), group);
    }
    if (Result<void> claimed = claim(group); !claimed) {
      for (Job* each : group) {
        if (!each->batch->dedup.empty()) each->answers.dedup = claimed.error();
      }
    }
    if (const auto items = all_of(group, &Batch::lease); !items.empty()) {
      spread(lease(items), group, &Batch::lease, &Answers::lease);
    }
  }

  static void spread_admits(std::vector<AdmitAnswer> answers, const std::vector<Job*>& group) {
    auto next = answers.begin();
    for (Job* job : group) {
      for (std::size_t i = 0; i < job->batch->admit.size(); ++i) {
        job->answers.admit.push_back(std::move(*next++));
      }
    }
  }

  Result<void> claim(const std::vector<Job*>& group) {
    const std::vector<ClaimRequest> requests = collect(group);
    if (requests.empty()) return {};
    Parameters parameters = claim_parameters(requests);
    parameters.add_time(runner_.moment());
    parameters.add_number(runner_.patience_ms());
    HAPAX_TRY_ASSIGN(answer, runner_.run(kClaim, parameters, "claim ids"));
    const std::string_view digits = answer.rows() == 1 ? answer.field(0, 0) : "";
    if (digits.size() != requests.size()) {
      return Error(Code::store_corrupt, "hapax._claim gave " + std::to_string(digits.size()) +
                                            " answers to " + std::to_string(requests.size()) +
                                            " requests; the schema hapax is damaged");
    }
    spread(digits, requests);
    return {};
  }

  GroupCommit group_;
};

Error unreadable_url() {
  return Error(Code::misconfigured,
               "cannot read the PostgreSQL URL; write postgres://user:password@host:5432/database, "
               "with a number as the port and special characters as %XX");
}

// Without an @, "user:password" would be parsed as a host and a port.
bool has_port_numbers(const PQconninfoOption* options) {
  for (; options->keyword != nullptr; ++options) {
    if (std::string_view(options->keyword) != "port" || options->val == nullptr) continue;
    if (std::string_view(options->val).find_first_not_of("0123456789,") != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<void> check_url(const std::string& url) {
  // An @, / or ? in a password that is not escaped as %XX turns part of it into a host or a port,
  // which libpq then quotes.
  const std::size_t authority = url.find("//") + 2;
  const std::size_t end = std::min(url.find_first_of("/?", authority), url.size());
  const std::size_t at = url.find('@', authority);
  const bool ends_user =
      at == std::string::npos || (at < end && url.find('@', at + 1) == std::string::npos);
  if (!ends_user) return unreadable_url();
  char* message = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &message);
  const bool readable = options != nullptr && has_port_numbers(options);
  PQconninfoFree(options);
  PQfreemem(message);
  return readable ? Result<void>() : Result<void>(unreadable_url());
}

bool is_url(std::string_view url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

Result<std::unique_ptr<Driver>> open_driver(const std::string& url, const OpenOptions& options,
                                            Random& random) {
  HAPAX_TRY(check_url(url));
  auto driver = std::make_unique<PostgresDriver>(url, options, random);
  HAPAX_TRY(driver->start(options));
  return std::unique_ptr<Driver>(std::move(driver));
}

Result<int> migrate_url(const std::string& url, const OpenOptions& options) {
  HAPAX_TRY(check_url(url));
  const std::unique_ptr<Clock> clock = make_system_clock();
  HAPAX_TRY_ASSIGN(connection, Connection::connect(url, *clock, options.timeout));
  ConnectionExecutor executor(connection, *clock, options.timeout);
  return migrate(executor);
}

}  // namespace hapax::store::postgres
