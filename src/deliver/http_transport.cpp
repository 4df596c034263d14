// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/http_transport.hpp"

#include "deliver/classify_response.hpp"
#include "deliver/refetch.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>

namespace hapax::deliver {

namespace asio = boost::asio;

namespace {

using std::chrono::milliseconds;

// Below the keep-alive timeout of Node.js, 5 s, the shortest among common servers.
constexpr BootTime kMaxIdle = std::chrono::seconds(4);
// Limits for reading a response body to its end, which makes the connection reusable.
constexpr std::size_t kMaxDiscarded = 64 * 1024;
constexpr milliseconds kDiscardTime = std::chrono::seconds(1);
constexpr std::size_t kMaxDiscarding = 64;
constexpr std::size_t kMaxFetched = 4 * 1024 * 1024;

AttemptResponse no_response(std::string error, bool sent) {
  AttemptResponse answer;
  answer.error = std::move(error);
  answer.sent = sent;
  return answer;
}

AttemptResponse no_response(const http::Failure& failure) {
  return no_response(std::string(name(failure.trouble)), failure.sent);
}

std::string text_of(const http::Response& response, std::string_view header) {
  const std::string* const found = response.find(header);
  return found == nullptr ? std::string() : *found;
}

std::string place(const http::Url& url, const Destination& to) {
  return (url.tls ? "https://" : "http://") + url.authority() + (to.allow_private ? "" : " public");
}

}  // namespace

struct HttpTransport::PooledConnection {
  PooledConnection(const Deps& deps, http::Lookups& lookups, const http::Url& url,
                   const Destination& to, std::string given_place)
      : place(std::move(given_place)),
        connection(deps.executor, url,
                   {.connect = to.timeout, .total = to.timeout, .public_only = !to.allow_private},
                   deps.tls, &lookups) {}

  const std::string place;
  http::ClientConnection connection;
  BootTime idle_since{};
};

class HttpTransport::InFlight {
 public:
  InFlight(std::list<PooledConnection*>& busy, PooledConnection& pooled)
      : busy_(busy), position_(busy.insert(busy.end(), &pooled)) {}
  ~InFlight() { busy_.erase(position_); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::list<PooledConnection*>& busy_;
  std::list<PooledConnection*>::iterator position_;
};

HttpTransport::HttpTransport(const Deps& deps) : deps_(deps), lookups_(deps.executor) {}
HttpTransport::~HttpTransport() = default;

Task<AttemptResponse> HttpTransport::send(const Destination& to, const store::Leased& what) {
  const BootTime until = deps_.clock.since_boot() + to.timeout;
  const Result<std::string> source = co_await deps_.names.of(what.event.source);
  if (!source) {
    AttemptResponse untried = no_response("store-unavailable", false);
    untried.tried = false;
    co_return untried;
  }
  Fetched fetched;
  if (!to.refetch.empty()) {
    std::optional<AttemptResponse> failed = co_await fetch(to, what, until, fetched);
    if (failed) co_return *failed;
  }
  const OutgoingDelivery delivery =
      outgoing(to, what, *source, deps_.clock.wall(), to.refetch.empty() ? nullptr : &fetched);
  const http::Outgoing request{"POST", to.url.target, delivery.headers, delivery.body};
  AttemptResponse answer = co_await post(to, request, until);
  co_return answer;
}

// Retries once if the server closed an idle connection before anything was sent: that is not a
// failure of the handler.
Task<AttemptResponse> HttpTransport::post(const Destination& to, const http::Outgoing& request,
                                          BootTime until) {
  AttemptResponse answer = co_await post_once(to, request, until);
  const bool again = !answer.sent && answer.error == name(http::Trouble::closed) && !aborted_;
  if (again) answer = co_await post_once(to, request, until);
  co_return answer;
}

Task<AttemptResponse> HttpTransport::post_once(const Destination& to, const http::Outgoing& request,
                                               BootTime until) {
  const PooledConnectionPtr pooled = take(to.url, to);
  const InFlight in_flight(busy_, *pooled);
  const std::optional<http::Failure> unconnected = co_await connected(pooled->connection, until);
  if (unconnected) co_return no_response(*unconnected);
  if (aborted_) co_return no_response("closed", false);
  http::Exchanged result = co_await pooled->connection.begin(request, left(until));
  if (!result.response) co_return no_response(result.failure);
  AttemptResponse answer;
  answer.status = result.response->status;
  answer.retry_after = text_of(*result.response, "Retry-After");
  answer.excerpt = std::move(result.response->body);
  if (pooled->connection.reusable()) {
    return_to_pool(pooled, to.concurrency);
  } else if (!is_success(answer.status)) {
    const milliseconds within = std::min(left(until), kDiscardTime);
    co_await pooled->connection.rest(answer.excerpt, kMaxDiscarded, within);
    return_to_pool(pooled, to.concurrency);
  } else if (discarding_ < kMaxDiscarding) {
    asio::co_spawn(deps_.executor, discard_body(pooled, to.concurrency), asio::detached);
  }
  if (answer.excerpt.size() > store::kMaxExcerpt) answer.excerpt.resize(store::kMaxExcerpt);
  co_return answer;
}

// Reads the body of a successful response only to make the connection reusable.
Task<void> HttpTransport::discard_body(PooledConnectionPtr pooled, std::size_t most) {
  const InFlight in_flight(busy_, *pooled);
  ++discarding_;
  std::string ignored;
  co_await pooled->connection.rest(ignored, kMaxDiscarded, kDiscardTime);
  --discarding_;
  return_to_pool(pooled, most);
}

Task<std::optional<AttemptResponse>> HttpTransport::fetch(const Destination& to,
                                                          const store::Leased& what, BootTime until,
                                                          Fetched& into) {
  const Result<Refetch> refetch = Refetch::parse(to.refetch);
  if (!refetch) co_return no_response("refetch-value", false);
  const Result<http::Url> url = refetch->url_for(what.event.body);
  if (!url) co_return no_response("refetch-value", false);
  const PooledConnectionPtr pooled = take(*url, to);
  const InFlight in_flight(busy_, *pooled);
  const std::array<Header, 2> headers{{{"Accept", "*/*"}, {"Accept-Encoding", "identity"}}};
  const http::Outgoing request{"GET", url->target, headers, {}};
  std::optional<http::Failure> failed = co_await connected(pooled->connection, until);
  http::Exchanged result;
  if (!failed && !aborted_) {
    result = co_await pooled->connection.begin(request, left(until));
    if (!result.response) failed = std::move(result.failure);
  }
  if (failed) co_return no_response("refetch-" + std::string(name(failed->trouble)), false);
  if (!result.response) co_return no_response("refetch-closed", false);
  into.body = std::move(result.response->body);
  const int status = result.response->status;
  const bool good = status == 200 || status == 203;  // no other status carries the object
  const std::size_t most = good ? kMaxFetched + 1 : store::kMaxExcerpt;
  const bool whole = co_await pooled->connection.rest(into.body, most, left(until));
  return_to_pool(pooled, to.concurrency);
  if (!good) {
    AttemptResponse answer = no_response("refetch-status", false);
    answer.retry_after = text_of(*result.response, "Retry-After");
    answer.excerpt = into.body.substr(0, store::kMaxExcerpt);
    co_return answer;
  }
  if (into.body.size() > kMaxFetched) co_return no_response("refetch-too-large", false);
  if (!whole) {
    const bool late = left(until) <= milliseconds(0);
    co_return no_response(late ? "refetch-timed-out" : "refetch-closed", false);
  }
  into.content_type = text_of(*result.response, "Content-Type");
  into.content_encoding = text_of(*result.response, "Content-Encoding");
  co_return std::nullopt;
}

Task<std::optional<http::Failure>> HttpTransport::connected(http::ClientConnection& connection,
                                                            BootTime until) {
  const milliseconds within = left(until);
  std::optional<http::Failure> failed;
  if (within <= milliseconds(0) || aborted_) {
    failed = http::Failure{http::Trouble::timed_out, false, "the attempt timed out"};
  } else {
    failed = co_await connection.connect(within);
  }
  co_return failed;
}

milliseconds HttpTransport::left(BootTime until) const {
  const BootTime now = deps_.clock.since_boot();
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(until - now));
}

HttpTransport::PooledConnectionPtr HttpTransport::take(const http::Url& url,
                                                       const Destination& to) {
  std::string where = place(url, to);
  const auto found = idle_.find(where);
  if (found == idle_.end())
    return std::make_shared<PooledConnection>(deps_, lookups_, url, to, std::move(where));
  PooledConnectionPtr pooled = std::move(found->second.back());
  found->second.pop_back();
  // If this one is too old, the others are older still.
  const bool old = deps_.clock.since_boot() - pooled->idle_since >= kMaxIdle;
  if (found->second.empty() || old) idle_.erase(found);
  return old ? std::make_shared<PooledConnection>(deps_, lookups_, url, to, std::move(where))
             : pooled;
}

void HttpTransport::return_to_pool(const PooledConnectionPtr& pooled, std::size_t most) {
  if (aborted_ || !pooled->connection.reusable()) return;
  std::vector<PooledConnectionPtr>& connections = idle_[pooled->place];
  if (connections.size() >= most) return;
  pooled->idle_since = deps_.clock.since_boot();
  connections.push_back(pooled);
}

void HttpTransport::close_idle() {
  const BootTime now = deps_.clock.since_boot();
  for (auto place = idle_.begin(); place != idle_.end();) {
    std::erase_if(place->second, [&](const PooledConnectionPtr& each) {
      return now - each->idle_since >= kMaxIdle;
    });
    place = place->second.empty() ? idle_.erase(place) : std::next(place);
  }
}

void HttpTransport::abort_all() {
  aborted_ = true;
  idle_.clear();
  for (PooledConnection* each : busy_) each->connection.abort();
}

std::size_t HttpTransport::idle() const {
  std::size_t sum = 0;
  for (const auto& [place, connections] : idle_) sum += connections.size();
  return sum;
}

}  // namespace hapax::deliver
