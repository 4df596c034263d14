// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"

#include "admin/api/resources.hpp"
#include "admin/endpoint.hpp"
#include "async/group_commit_queue.hpp"
#include "base/check.hpp"
#include "deliver/listeners.hpp"
#include "deliver/replays.hpp"
#include "gateway/readmit.hpp"
#include "http/generous.hpp"
#include "model/headers.hpp"
#include "model/ids.hpp"
#include "store/memory/driver.hpp"
#include "store/sqlite/driver.hpp"
#include "support/eventually.hpp"
#include "support/faulty_driver.hpp"
#include "support/http.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace hapax::test {

namespace {

namespace json = boost::json;

class Lines final : public Log {
 public:
  void line(Level, std::string_view, std::initializer_list<LogField> fields) override {
    const std::lock_guard lock(mutex);
    for (const LogField& each : fields) {
      if (each.name == "reason") reasons.emplace_back(each.value);
    }
  }
  mutable std::mutex mutex;
  std::vector<std::string> reasons;
};

// A store that is unavailable, and hangs on request.
class Unavailable {
 public:
  explicit Unavailable(Clock& clock) : inner_(store::memory::make_driver(1, clock)) {}

  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  store::Driver driver() { return faulty_.driver(); }

 private:
  store::fault::Fault fail(std::string_view operation) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !held_ || operation != "paused"; });
    return store::fault::Fault::fail;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  store::Driver inner_;
  store::fault::FaultyDriver faulty_{
      inner_, [this](std::string_view operation) { return fail(operation); }};
};

store::Driver make(StoreKind kind, const std::string& file, Clock& clock) {
  if (kind == StoreKind::memory) return store::memory::make_driver(100'000, clock);
  return store::sqlite::open_driver(file, {.needs = {Capability::inbox}}, clock).value();
}

std::shared_ptr<const admin::ConfigView> make_config_view(
    const store::Driver& driver, const std::vector<std::string>& destinations) {
  auto view = std::make_shared<admin::ConfigView>();
  const auto number = [&](store::NameKind kind, const char* name) {
    return driver.catalog->number_of(kind, name).value_or(0);
  };
  view->sources.push_back({.name = "demo",
                           .no = SourceNo(number(store::NameKind::source, "demo")),
                           .preset = "stripe",
                           .id_signed = true,
                           .time_signed = true,
                           .deliver_to = {"work"},
                           .remember = 30 * days,
                           .keep = 7 * days,
                           .keep_dead = 30 * days});
  view->sources.push_back(
      {.name = "quiet", .no = SourceNo(number(store::NameKind::source, "quiet"))});
  for (const std::string& name : destinations) {
    const DestinationNo no(number(store::NameKind::destination, name.c_str()));
    deliver::Destination how{.name = name, .no = no};
    how.retry = {std::chrono::seconds(10), std::chrono::seconds(20)};
    const bool pushes = name == "pushed";
    if (pushes) how.kind = deliver::Destination::Kind::http;
    view->destinations.push_back(
        {.name = name,
         .kind = pushes ? "http" : "pull",
         .no = no,
         .how = std::make_shared<const deliver::Destination>(std::move(how)),
         .listen = name == "dev"});
  }
  return view;
}

// Sends the request and reads until the peer closes.
std::string send_and_read(std::uint16_t port, const std::string& request) {
  RawClient client(port);
  client.send(request);
  return client.receive_all();
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

ApiAnswer parse(const std::string& text) {
  ApiAnswer answer;
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || text.size() < 12) return answer;
  answer.status = std::stoi(text.substr(9, 3));
  answer.body = text.substr(end + 4);
  std::size_t at = text.find("\r\n") + 2;
  while (at < end) {
    const std::size_t line_end = text.find("\r\n", at);
    const std::size_t colon = text.find(": ", at);
    answer.headers[lower(text.substr(at, colon - at))] =
        text.substr(colon + 2, line_end - colon - 2);
    at = line_end + 2;
  }
  return answer;
}

}  // namespace

std::string ApiAnswer::problem() const {
  constexpr std::string_view kPrefix = "urn:hapax:error:";
  const std::string type(json().at("type").as_string());
  return type.substr(kPrefix.size());
}

std::string ApiAnswer::detail() const {
  return std::string(json().at("detail").as_string());
}

struct Api::Impl {
  Impl(StoreKind kind, const std::vector<std::string>& destinations)
      : driver(kind == StoreKind::unavailable ? unavailable.driver()
                                              : make(kind, directory.file("inbox.db"), clock)),
        view(make_config_view(driver, destinations)) {
    const http::MakeHandler make_admin = [this](std::size_t) {
      auto endpoint = std::make_unique<admin::Endpoint>(deps);
      endpoints.push_back(endpoint.get());
      return endpoint;
    };
    const auto made = server.listen({"127.0.0.1", 0}, std::nullopt, generous_limits(), make_admin);
    port = made.value();
    server.start();
    if (kind != StoreKind::unavailable) replays.start();
  }
  ~Impl() { end_polls(); }

  std::shared_ptr<const admin::Access> access_now() {
    const std::lock_guard lock(access_mutex);
    return access;
  }
  void revoke_tokens() {
    const std::lock_guard lock(access_mutex);
    access = std::make_shared<const admin::Access>(kToken, std::vector<std::string>());
  }

  void end_polls() {
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      server.post(i, [each = endpoints[i]] { each->stop(); });
    }
  }

  TempDir directory;
  ManualClock clock;
  SeededRandom random{1};
  std::unique_ptr<Clock> server_clock = make_system_clock();
  Unavailable unavailable{clock};
  store::Driver driver;
  gateway::Metrics metrics;
  Lines log;
  boost::asio::thread_pool pool{2};
  admin::ServerState state;
  const std::vector<admin::ScopedToken> scoped{
      {"worker", kWorkerToken, {{admin::Right::lease, "audit"}, {admin::Right::settle, "audit"}}},
      {"reader", kReaderToken, {{admin::Right::read}, {admin::Right::dedup, "mail"}}}};
  std::mutex access_mutex;
  std::shared_ptr<const admin::Access> access = std::make_shared<const admin::Access>(
      kToken, std::vector<std::string>{"hapax.internal"}, scoped);
  DeliveryNotifier notifier;
  deliver::LeaseCache lease_cache;
  deliver::Polls polls;
  deliver::LeaseRoom room;
  GroupCommitQueue async_store{
      *driver.queue, clock, {.max_wait = kGenerous}, [](const GroupCommitQueue::BatchStats&) {}};
  std::vector<admin::Endpoint*> endpoints;
  std::shared_ptr<const admin::ConfigView> view;
  gateway::Handshakes handshakes{
      clock, {}, [](std::span<const gateway::ProvisionedSecret>) { return Result<void>(); }};
  deliver::Replays replays{
      {*driver.queue, *driver.catalog, *driver.node, clock, random, notifier, log, true}};
  deliver::Listeners listeners{*driver.catalog, *driver.node, clock, random, [] {}};
  gateway::NodeNumbers numbers{clock};
  gateway::DuplicateCounts duplicates;
  gateway::UnclaimedRate unclaimed{clock};
  const std::shared_ptr<const gateway::Sources> no_sources = std::make_shared<gateway::Sources>();
  gateway::Readmission readmission{
      {.catalog = *driver.catalog,
       .rejects = *driver.rejects,
       .receiver = {async_store, numbers, duplicates, unclaimed, notifier, clock},
       .metrics = metrics,
       .secret = {},
       .sources = [this] { return no_sources; }}};
  admin::EndpointDeps deps{
      .api = {.claims = *driver.claims,
              .queue = *driver.queue,
              .catalog = *driver.catalog,
              .rejects = *driver.rejects,
              .node = *driver.node,
              .metrics = metrics,
              .state = state,
              .clock = clock,
              .random = random,
              .notifier = notifier,
              .handshakes = handshakes,
              .readmission = readmission,
              .replays = replays,
              .listeners = listeners,
              .status =
                  [](const std::string&) { return std::optional<admin::DestinationStatus>(); }},
      .pull = {.async_store = async_store,
               .lease_cache = lease_cache,
               .polls = polls,
               .room = room,
               .node = [] { return std::int64_t{7}; }},
      .log = log,
      .pool = pool,
      .access = [this] { return access_now(); },
      .config = [this] { return view; }};
  const json::value document = json::parse(admin::openapi_document());
  std::uint16_t port = 0;
  http::Server server{*server_clock, kServerThreads};  // declared last: destroyed first
};

Api::Api(StoreKind kind, const std::vector<std::string>& destinations)
    : impl_(std::make_unique<Impl>(kind, destinations)) {}
Api::~Api() = default;

void Api::hold_store(bool held) {
  impl_->unavailable.hold(held);
}
const store::Driver& Api::driver() {
  return impl_->driver;
}
ManualClock& Api::clock() {
  return impl_->clock;
}
admin::ServerState& Api::state() {
  return impl_->state;
}
DeliveryNotifier& Api::notifier() {
  return impl_->notifier;
}
deliver::LeaseCache& Api::lease_cache() {
  return impl_->lease_cache;
}
int Api::port() const {
  return impl_->port;
}
void Api::end_polls() {
  impl_->end_polls();
}
void Api::revoke_tokens() {
  impl_->revoke_tokens();
}
std::vector<std::string> Api::log() const {
  const std::lock_guard lock(impl_->log.mutex);
  return impl_->log.reasons;
}

std::string Api::wire(const std::string& bytes) {
  return send_and_read(impl_->port, bytes);
}

ApiAnswer Api::raw(const std::string& method, const std::string& target,
                   const std::vector<std::string>& headers, const std::string& body) {
  std::string request = method + " " + target + " HTTP/1.1\r\nConnection: close\r\n";
  for (const std::string& each : headers) request += each + "\r\n";
  return parse(wire(request + "\r\n" + body));
}

ApiAnswer Api::ask(const std::string& method, const std::string& target, const std::string& body,
                   const std::string& token) {
  std::vector<std::string> headers{"Host: localhost", "Authorization: Bearer " + token};
  if (method == "POST") headers.push_back("Content-Length: " + std::to_string(body.size()));
  ApiAnswer answer = raw(method, target, headers, body);
  EXPECT_EQ(answer.headers["cache-control"], "no-store") << target;
  EXPECT_EQ(answer.headers["x-content-type-options"], "nosniff") << target;
  const auto found = admin::find_route(method, target.substr(0, target.find('?')));
  if (const auto* match = std::get_if<admin::Match>(&found); match != nullptr && method != "HEAD") {
    for (const std::string& each :
         undocumented(impl_->document, method, std::string(match->route->pattern), answer.status,
                      answer.headers["content-type"], answer.body)) {
      ADD_FAILURE() << method << " " << target << ": " << each << "\n" << answer.body;
    }
  }
  return answer;
}

std::vector<std::string> admit(Api& api, const std::vector<Sample>& samples) {
  std::deque<std::string> headers;
  std::deque<std::vector<store::Target>> targets;
  std::vector<store::Arrival> arrivals;
  static std::atomic<std::int64_t> node = 1;  // event numbers of different calls never collide
  EventNumbers numbers(api.clock(), NodeNo(node++ % kMaxNode));
  std::vector<std::string> ids;
  for (const Sample& each : samples) {
    auto& its = targets.emplace_back();
    for (const std::string& name : each.destinations) its.push_back({destination_no(api, name)});
    arrivals.push_back({.no = numbers.next(),
                        .source = source_no(api, each.source),
                        .tenant = each.tenant,
                        .key = each.id,
                        .id = each.id,
                        .type = each.type,
                        .order_key = each.order_key,
                        .version = each.version,
                        .digest = sha256(each.body),
                        .headers = headers.emplace_back(encode_headers(each.headers)),
                        .body = each.body,
                        .targets = its});
    ids.push_back(to_text(arrivals.back().no));
  }
  const store::Admit request{.arrivals = arrivals};
  const store::Answers answers = api.driver().queue->write({.admit = std::span(&request, 1)});
  for (const store::Admission& each : answers.admit.at(0).value()) {
    EXPECT_EQ(each.kind, store::Admission::Kind::fresh);
  }
  return ids;
}

std::string settle_first(Api& api, const std::string& destination, const Disposition& disposition,
                         std::chrono::milliseconds horizon) {
  const store::LeaseRequest request{.from = destination_no(api, destination),
                                    .lease = std::chrono::seconds(30),
                                    .holder = {Holder::Kind::push, 1},
                                    .horizon = horizon};
  const store::Answers leased = api.driver().queue->write({.lease = std::span(&request, 1)});
  if (leased.lease->at(0).deliveries.empty()) return "";
  const store::Leased& one = leased.lease->at(0).deliveries.at(0);
  const store::Settlement settlement{{one.event.no, one.delivery}, one.fence, disposition};
  const store::Answers settled = api.driver().queue->write({.settle = std::span(&settlement, 1)});
  EXPECT_EQ(settled.settle->at(0), store::Settled::ok);
  return one.event.id;
}

std::string states_of(Api& api, const std::string& event) {
  std::string text;
  const boost::json::value detail = api.get("/v1/events/" + event).json();
  for (const boost::json::value& each : detail.at("deliveries").as_array()) {
    text += (text.empty() ? "" : " ") + std::string(each.at("status").as_string());
  }
  return text;
}

SourceNo source_no(Api& api, const std::string& name) {
  return SourceNo(api.driver().catalog->number_of(store::NameKind::source, name).value());
}

DestinationNo destination_no(Api& api, const std::string& name) {
  return DestinationNo(api.driver().catalog->number_of(store::NameKind::destination, name).value());
}

boost::json::value ended_replay(Api& api, const std::string& replay) {
  json::value job;
  EXPECT_TRUE(eventually([&] {
    api.clock().advance(std::chrono::milliseconds(100));
    job = api.get("/v1/replays/" + replay).json();
    return job.at("state").as_string() != "running";
  })) << json::serialize(job);
  return job;
}

std::vector<std::string> ids_in(const ApiAnswer& list) {
  std::vector<std::string> ids;
  const json::value value = list.json();
  for (const json::value& each : value.at("events").as_array()) {
    ids.emplace_back(each.at("id").as_string());
  }
  return ids;
}

}  // namespace hapax::test
