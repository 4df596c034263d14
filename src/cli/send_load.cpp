// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/send_load.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <cmath>

namespace hapax::cli {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

constexpr std::chrono::milliseconds kProgress{200};
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLongestPause{2000};
constexpr std::size_t kMaxReasons = 32;

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111eb;
  return x ^ (x >> 31U);
}

// A source may have a custom response body; then only the header identifies a duplicate.
bool says_duplicate(const http::Response& response) {
  if (const std::string* header = response.find("Hapax-Duplicate")) return *header == "true";
  json::error_code error;
  const json::value answer = json::parse(response.body, error);
  if (error || !answer.is_object()) return false;
  const json::value* accepted = answer.get_object().if_contains("accepted");
  const json::value* duplicates = answer.get_object().if_contains("duplicates");
  return accepted != nullptr && duplicates != nullptr && *accepted == 0 && *duplicates != 0;
}

bool may_pass_later(const http::Exchanged& result) {
  return !result.response || result.response->status == 503 || result.response->status == 429;
}

class Sender {
 public:
  Sender(const Load& load, Clock& clock, const std::function<void(const Tally&)>& progress)
      : load_(load), clock_(clock), progress_(progress), order_(load.count, load.duplicates) {}

  Result<Tally> run();

 private:
  Task<void> work();
  Task<void> show_progress();
  Task<void> wait_for_turn(std::uint64_t i, Timer& timer);
  Task<http::Exchanged> try_all(http::ClientConnection& connection, const ReadyEvent& event,
                                Timer& timer);
  void count(http::Exchanged result, std::chrono::microseconds took);

  const Load& load_;
  Clock& clock_;
  const std::function<void(const Tally&)>& progress_;
  const Order order_;
  asio::io_context context_{1};
  BootTime begin_{};
  std::uint64_t next_ = 0;
  std::size_t working_ = 0;
  Tally tally_;
  std::optional<Error> error_;
};

Result<Tally> Sender::run() {
  begin_ = clock_.since_boot();
  const std::uint64_t workers = std::min<std::uint64_t>(load_.concurrency, load_.count);
  for (std::uint64_t i = 0; i < workers; ++i) {
    ++working_;
    asio::co_spawn(context_, work(), asio::detached);
  }
  asio::co_spawn(context_, show_progress(), asio::detached);
  context_.run();
  if (error_) return std::move(*error_);
  tally_.took = clock_.since_boot() - begin_;
  tally_.finish();
  return std::move(tally_);
}

Task<void> Sender::work() {
  http::ClientConnection connection(context_.get_executor(), load_.to, load_.limits, load_.tls);
  Timer timer(context_.get_executor());
  while (next_ < load_.count && !error_) {
    const std::uint64_t i = next_++;
    co_await wait_for_turn(i, timer);
    const WallTime now = load_.signed_at.value_or(clock_.wall());
    const Result<ReadyEvent> event =
        make_event(load_.shape, load_.id_of_event(order_.number_of(i)), now);
    if (!event) {
      error_ = event.error();
      break;
    }
    const BootTime before = clock_.since_boot();
    http::Exchanged result = co_await try_all(connection, *event, timer);
    count(std::move(result), clock_.since_boot() - before);
  }
  --working_;
  // The last worker ends the run without waiting for the progress timer.
  if (working_ == 0) context_.stop();
}

Task<void> Sender::wait_for_turn(std::uint64_t i, Timer& timer) {
  if (load_.rate <= 0) co_return;
  const std::chrono::duration<double> at(static_cast<double>(i) / load_.rate);
  const auto due = begin_ + std::chrono::duration_cast<std::chrono::microseconds>(at);
  const BootTime now = clock_.since_boot();
  if (due <= now) co_return;
  boost::system::error_code ignored;
  timer.expires_after(due - now);
  co_await timer.async_wait(asio::redirect_error(kUseTask, ignored));
}

Task<http::Exchanged> Sender::try_all(http::ClientConnection& connection, const ReadyEvent& event,
                                      Timer& timer) {
  std::vector<Header> headers;
  for (const OwnedHeader& each : event.headers) headers.push_back({each.name, each.value});
  const http::Outgoing request{"POST", event.target, headers, event.body};
  std::chrono::milliseconds pause = kFirstPause;
  for (std::uint64_t tries = 0;; ++tries) {
    http::Exchanged result = co_await connection.exchange(request);
    if (tries == load_.retries || !may_pass_later(result)) co_return result;
    ++tally_.retried;
    boost::system::error_code ignored;
    timer.expires_after(pause);
    co_await timer.async_wait(asio::redirect_error(kUseTask, ignored));
    pause = std::min(2 * pause, kLongestPause);
  }
}

Task<void> Sender::show_progress() {
  Timer timer(context_.get_executor());
  for (;;) {
    boost::system::error_code ignored;
    timer.expires_after(kProgress);
    co_await timer.async_wait(asio::redirect_error(kUseTask, ignored));
    tally_.took = clock_.since_boot() - begin_;
    progress_(tally_);
  }
}

void Sender::count(http::Exchanged result, std::chrono::microseconds took) {
  ++tally_.sent;
  if (!result.response) {
    ++tally_.failed;
    if (!tally_.first_failure) tally_.first_failure = std::move(result.failure);
    return;
  }
  tally_.latency_us.push_back(static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(took.count(), 0, std::numeric_limits<std::uint32_t>::max())));
  tally_.last = std::move(*result.response);
  const http::Response& response = *tally_.last;
  if (response.status / 100 != 2) {
    const std::string reason = reason_of(response);
    const bool room = tally_.refused.size() < kMaxReasons || tally_.refused.contains(reason);
    ++tally_.refused[room ? reason : "other"];
  } else if (says_duplicate(response)) {
    ++tally_.duplicate;
  } else {
    ++tally_.accepted;
  }
}

}  // namespace

std::uint64_t Order::repeats_until(std::uint64_t i) const {
  // 128 bits, because the product of two counts may exceed 64 bits.
  __extension__ using Wide = unsigned __int128;
  if (count_ < 2) return 0;
  return static_cast<std::uint64_t>(Wide(i) * duplicates_ / (count_ - 1));
}

std::uint64_t Order::number_of(std::uint64_t i) const {
  if (i == 0) return 0;
  const std::uint64_t before = repeats_until(i - 1);
  const std::uint64_t fresh = i - before;  // events sent before this one
  const bool repeats = repeats_until(i) > before;
  return repeats ? mixed(i) % fresh : fresh;
}

std::string Load::id_of_event(std::uint64_t number) const {
  const bool single = count - duplicates == 1;
  return single ? id : id + "-" + std::to_string(number + 1);
}

std::uint64_t Tally::refusals() const {
  std::uint64_t all = 0;
  for (const auto& [reason, each] : refused) all += each;
  return all;
}

void Tally::finish() {
  std::sort(latency_us.begin(), latency_us.end());
}

double Tally::latency_ms(double percent) const {
  if (latency_us.empty()) return 0;
  const double rank = std::ceil(percent / 100 * static_cast<double>(latency_us.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return latency_us[std::min(index, latency_us.size() - 1)] / 1000.0;
}

Result<Tally> run_load(const Load& load, Clock& clock,
                       const std::function<void(const Tally&)>& progress) {
  return Sender(load, clock, progress).run();
}

std::string reason_of(const http::Response& response) {
  constexpr std::string_view kOurs = "urn:hapax:error:";
  json::error_code error;
  const json::value answer = json::parse(response.body, error);
  if (!error && answer.is_object()) {
    const json::value* type = answer.get_object().if_contains("type");
    if (type != nullptr && type->is_string()) {
      const std::string text(type->get_string());
      if (text.starts_with(kOurs)) return text.substr(kOurs.size());
    }
  }
  return "http-" + std::to_string(response.status);
}

}  // namespace hapax::cli
