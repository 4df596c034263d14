// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/http_courier.hpp"

#include "deliver/judge.hpp"
#include "deliver/refetch.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>

namespace hapax::deliver {

namespace asio = boost::asio;

namespace {

using std::chrono::milliseconds;

// Below the five seconds after which Node.js, the most impatient of the usual servers, closes.
constexpr BootTime kMaxIdle = std::chrono::seconds(4);
// Of an answer's body, to find its end and keep the connection.
constexpr std::size_t kReadOver = 64 * 1024;
constexpr milliseconds kReadOverTime = std::chrono::seconds(1);
constexpr std::size_t kMaxReadingOver = 64;
constexpr std::size_t kMaxFetched = 4 * 1024 * 1024;

Answer no_answer(std::string error, bool sent) {
  Answer answer;
  answer.error = std::move(error);
  answer.sent = sent;
  return answer;
}

Answer no_answer(const http::Failure& failure) {
  return no_answer(std::string(name(failure.trouble)), failure.sent);
}

std::string text_of(const http::Response& response, std::string_view header) {
  const std::string* const found = response.find(header);
  return found == nullptr ? std::string() : *found;
}

std::string place(const http::Url& url, const Destination& to) {
  return (url.tls ? "https://" : "http://") + url.authority() + (to.allow_private ? "" : " public");
}

}  // namespace

struct HttpCourier::Line {
  Line(const With& with, http::Lookups& lookups, const http::Url& url, const Destination& to,
       std::string given_place)
      : place(std::move(given_place)),
        connection(with.executor, url,
                   {.connect = to.timeout, .total = to.timeout, .public_only = !to.allow_private},
                   with.tls, &lookups) {}

  const std::string place;
  http::ClientConnection connection;
  BootTime idle_since{};
};

class HttpCourier::Trip {
 public:
  Trip(std::list<Line*>& busy, Line& line) : busy_(busy), place_(busy.insert(busy.end(), &line)) {}
  ~Trip() { busy_.erase(place_); }
  Trip(const Trip&) = delete;
  Trip& operator=(const Trip&) = delete;

 private:
  std::list<Line*>& busy_;
  std::list<Line*>::iterator place_;
};

HttpCourier::HttpCourier(const With& with) : with_(with), lookups_(with.executor) {}
HttpCourier::~HttpCourier() = default;

Task<Answer> HttpCourier::carry(const Destination& to, const store::Leased& what) {
  const BootTime until = with_.clock.since_boot() + to.timeout;
  const Result<std::string> source = co_await with_.names.of(what.event.source);
  if (!source) {
    Answer untried = no_answer("store-unavailable", false);
    untried.tried = false;
    co_return untried;
  }
  Fetched fetched;
  if (!to.refetch.empty()) {
    std::optional<Answer> failed = co_await fetch(to, what, until, fetched);
    if (failed) co_return *failed;
  }
  const OutgoingDelivery delivery =
      outgoing(to, what, *source, with_.clock.wall(), to.refetch.empty() ? nullptr : &fetched);
  const http::Outgoing request{"POST", to.url.target, delivery.headers, delivery.body};
  Answer answer = co_await post(to, request, until);
  co_return answer;
}

// What was kept alive and closed just before is no failure of the handler's: nothing was sent.
Task<Answer> HttpCourier::post(const Destination& to, const http::Outgoing& request,
                               BootTime until) {
  Answer answer = co_await post_once(to, request, until);
  const bool again = !answer.sent && answer.error == name(http::Trouble::closed) && !abandoned_;
  if (again) answer = co_await post_once(to, request, until);
  co_return answer;
}

Task<Answer> HttpCourier::post_once(const Destination& to, const http::Outgoing& request,
                                    BootTime until) {
  const LinePtr line = take(to.url, to);
  const Trip trip(busy_, *line);
  const std::optional<http::Failure> unconnected = co_await connected(line->connection, until);
  if (unconnected) co_return no_answer(*unconnected);
  if (abandoned_) co_return no_answer("closed", false);
  http::Exchanged result = co_await line->connection.begin(request, left(until));
  if (!result.response) co_return no_answer(result.failure);
  Answer answer;
  answer.status = result.response->status;
  answer.retry_after = text_of(*result.response, "Retry-After");
  answer.excerpt = std::move(result.response->body);
  if (line->connection.reusable()) {
    give_back(line, to.concurrency);
  } else if (!is_success(answer.status)) {
    const milliseconds within = std::min(left(until), kReadOverTime);
    co_await line->connection.rest(answer.excerpt, kReadOver, within);
    give_back(line, to.concurrency);
  } else if (reading_over_ < kMaxReadingOver) {
    asio::co_spawn(with_.executor, read_over(line, to.concurrency), asio::detached);
  }
  if (answer.excerpt.size() > store::kMaxExcerpt) answer.excerpt.resize(store::kMaxExcerpt);
  co_return answer;
}

// It went well; only the connection is at stake.
Task<void> HttpCourier::read_over(LinePtr line, std::size_t most) {
  const Trip trip(busy_, *line);
  ++reading_over_;
  std::string ignored;
  co_await line->connection.rest(ignored, kReadOver, kReadOverTime);
  --reading_over_;
  give_back(line, most);
}

Task<std::optional<Answer>> HttpCourier::fetch(const Destination& to, const store::Leased& what,
                                               BootTime until, Fetched& into) {
  const Result<Refetch> refetch = Refetch::parse(to.refetch);
  if (!refetch) co_return no_answer("refetch-value", false);
  const Result<http::Url> url = refetch->url_for(what.event.body);
  if (!url) co_return no_answer("refetch-value", false);
  const LinePtr line = take(*url, to);
  const Trip trip(busy_, *line);
  const std::array<Header, 2> headers{{{"Accept", "*/*"}, {"Accept-Encoding", "identity"}}};
  const http::Outgoing request{"GET", url->target, headers, {}};
  std::optional<http::Failure> failed = co_await connected(line->connection, until);
  http::Exchanged result;
  if (!failed && !abandoned_) {
    result = co_await line->connection.begin(request, left(until));
    if (!result.response) failed = std::move(result.failure);
  }
  if (failed) co_return no_answer("refetch-" + std::string(name(failed->trouble)), false);
  if (!result.response) co_return no_answer("refetch-closed", false);
  into.body = std::move(result.response->body);
  const int status = result.response->status;
  const bool good = status == 200 || status == 203;  // any other has no object in it
  const std::size_t most = good ? kMaxFetched + 1 : store::kMaxExcerpt;
  const bool whole = co_await line->connection.rest(into.body, most, left(until));
  give_back(line, to.concurrency);
  if (!good) {
    Answer answer = no_answer("refetch-status", false);
    answer.retry_after = text_of(*result.response, "Retry-After");
    answer.excerpt = into.body.substr(0, store::kMaxExcerpt);
    co_return answer;
  }
  if (into.body.size() > kMaxFetched) co_return no_answer("refetch-too-large", false);
  if (!whole) {
    const bool late = left(until) <= milliseconds(0);
    co_return no_answer(late ? "refetch-timed-out" : "refetch-closed", false);
  }
  into.content_type = text_of(*result.response, "Content-Type");
  into.content_encoding = text_of(*result.response, "Content-Encoding");
  co_return std::nullopt;
}

Task<std::optional<http::Failure>> HttpCourier::connected(http::ClientConnection& connection,
                                                          BootTime until) {
  const milliseconds within = left(until);
  std::optional<http::Failure> failed;
  if (within <= milliseconds(0) || abandoned_) {
    failed = http::Failure{http::Trouble::timed_out, false, "no time was left"};
  } else {
    failed = co_await connection.connect(within);
  }
  co_return failed;
}

milliseconds HttpCourier::left(BootTime until) const {
  const BootTime now = with_.clock.since_boot();
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(until - now));
}

HttpCourier::LinePtr HttpCourier::take(const http::Url& url, const Destination& to) {
  std::string where = place(url, to);
  const auto found = idle_.find(where);
  if (found == idle_.end())
    return std::make_shared<Line>(with_, lookups_, url, to, std::move(where));
  LinePtr line = std::move(found->second.back());
  found->second.pop_back();
  const bool old = with_.clock.since_boot() - line->idle_since >= kMaxIdle;  // so are the others
  if (found->second.empty() || old) idle_.erase(found);
  return old ? std::make_shared<Line>(with_, lookups_, url, to, std::move(where)) : line;
}

void HttpCourier::give_back(const LinePtr& line, std::size_t most) {
  if (abandoned_ || !line->connection.reusable()) return;
  std::vector<LinePtr>& lines = idle_[line->place];
  if (lines.size() >= most) return;
  line->idle_since = with_.clock.since_boot();
  lines.push_back(line);
}

void HttpCourier::tidy() {
  const BootTime now = with_.clock.since_boot();
  for (auto place = idle_.begin(); place != idle_.end();) {
    std::erase_if(place->second,
                  [&](const LinePtr& each) { return now - each->idle_since >= kMaxIdle; });
    place = place->second.empty() ? idle_.erase(place) : std::next(place);
  }
}

void HttpCourier::abandon() {
  abandoned_ = true;
  idle_.clear();
  for (Line* each : busy_) each->connection.abort();
}

std::size_t HttpCourier::idle() const {
  std::size_t sum = 0;
  for (const auto& [place, lines] : idle_) sum += lines.size();
  return sum;
}

}  // namespace hapax::deliver
