// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/gate.hpp"

#include "postgres/gate_link.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace hapax::test {

namespace {

Fd listen_on_any_port() {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(fd.get(), 64), 0);
  return fd;
}

int port_of(const Fd& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

// The result is closed if the server is not running.
Fd connect_to_server(const std::string& path) {
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.close();
  return fd;
}

}  // namespace

// A single thread owns the connections. Other threads post tasks to it.
class Gate::Loop {
 public:
  explicit Loop(const std::string& directory)
      : server_path_(directory + "/.s.PGSQL.5432"), thread_([this] { run(); }) {}
  ~Loop() {
    run_on_loop([this] { stopping_ = true; });
    thread_.join();
  }

  int port() const { return port_; }

  // Runs `what` on the loop's thread and waits for it.
  void run_on_loop(std::function<void()> what) {
    std::packaged_task<void()> task(std::move(what));
    std::future<void> done = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    eventfd_write(wake_.get(), 1);
    done.get();
  }

  int strikes() const {
    const std::lock_guard lock(mutex_);
    return strikes_;
  }
  bool wait_for_strikes(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLongTimeout, [&] { return strikes_ >= count; });
  }
  void wait_until_drained() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_holding_; });
  }

  // The following run on the loop's thread only.
  void arm(Fault fault, Kind kind) { armed_ = {{fault, kind}}; }
  void then_arm(Fault fault, Kind kind) { armed_.emplace_back(fault, kind); }
  void cut_all() {
    for (Link& link : links_) {
      if (link.client.is_open()) link.cut();
    }
  }
  void silence_all() {
    for (Link& link : links_) {
      if (link.client.is_open()) silence(link);
    }
  }
  void release_held() {
    for (Link& link : links_) {
      if (link.state != Link::State::holding) continue;
      link.to_server.add(std::move(link.held), pace);
      link.state = Link::State::draining;
      if (!link.server.is_open()) answered(link);
    }
  }

  Pace pace;
  OnConnect on_connect = OnConnect::forward;

 private:
  void run() {
    while (!stopping_) {
      const Moment now = std::chrono::steady_clock::now();
      std::vector<pollfd> wanted = list_sockets(now);
      poll(wanted.data(), wanted.size(), milliseconds_to_next(now));
      run_tasks();
      if ((wanted[1].revents & POLLIN) != 0) accept_client();
      std::size_t place = 2;
      for (Link& link : links_) {
        if (place + 1 >= wanted.size()) break;  // accepted in this iteration
        serve(link, wanted[place].revents, wanted[place + 1].revents);
        place += 2;
      }
      links_.remove_if([](const Link& link) { return link.state == Link::State::over; });
    }
  }

  std::vector<pollfd> list_sockets(Moment now) const {
    std::vector<pollfd> wanted{{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    const auto events = [now](const Lane& lane) {
      return static_cast<short>(lane.due() <= now ? POLLIN | POLLOUT : POLLIN);
    };
    for (const Link& link : links_) {
      wanted.push_back({link.client.get(), events(link.to_client), 0});
      wanted.push_back({link.server.get(), events(link.to_server), 0});
    }
    return wanted;
  }

  // Time until the next delayed chunk is due.
  int milliseconds_to_next(Moment now) const {
    Moment next = kNever;
    for (const Link& link : links_) {
      for (const Lane* lane : {&link.to_client, &link.to_server}) {
        if (lane->due() > now) next = std::min(next, lane->due());
      }
    }
    if (next == kNever) return -1;
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count());
  }

  void run_tasks() {
    eventfd_t ignored = 0;
    eventfd_read(wake_.get(), &ignored);
    std::vector<std::packaged_task<void()>> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (auto& each : tasks) each();
  }

  void accept_client() {
    Fd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.is_open()) return;
    const int yes = 1;
    setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (on_connect == OnConnect::refuse) return client.reset();
    Link& link = links_.emplace_back();
    link.client = std::move(client);
    if (on_connect == OnConnect::swallow) return silence(link);
    link.server = connect_to_server(server_path_);
    if (!link.server.is_open()) link.cut();
  }

  void serve(Link& link, short client, short server) {
    constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
    if (link.client.is_open() && (client & kReadable) != 0) read_client(link);
    if (link.server.is_open() && (server & kReadable) != 0) read_server(link);
    forward(link.to_client, link.client, client, link);
    forward(link.to_server, link.server, server, link);
  }

  void forward(Lane& lane, const Fd& to, short events, Link& link) const {
    if (!to.is_open() || (events & POLLOUT) == 0 || lane.empty()) return;
    const bool writable = lane.send_some(to.get(), pace) || errno == EAGAIN;
    if (!writable) link.cut();
  }

  // Returns an empty string at the end of the stream.
  static std::string read_some(const Fd& from) {
    std::string bytes(65536, '\0');
    const ssize_t count = recv(from.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
  }

  void read_client(Link& link) {
    const std::string bytes = read_some(link.client);
    if (bytes.empty()) return lose_client(link);
    if (link.state != Link::State::forwarding) return;
    link.requests.feed(bytes);
    while (std::optional<Piece> piece = link.requests.next()) {
      if (!armed_.empty() && piece->is_request && piece->is(armed_.front().second)) {
        const Fault fault = armed_.front().first;
        armed_.pop_front();
        return strike(link, std::move(piece->bytes), fault);
      }
      if (piece->asks_for_encryption) link.answers.expect_a_bare_byte();
      link.to_server.add(std::move(piece->bytes), pace);
    }
  }

  void lose_client(Link& link) {
    if (!link.awaits_answer()) return finish(link, link.to_server, link.server);
    link.client.close();
    link.state = Link::State::cutting_after;
  }

  void read_server(Link& link) {
    std::string bytes = read_some(link.server);
    const bool ended = bytes.empty();
    if (ended && !link.drops_answers()) return finish(link, link.to_client, link.client);
    if (link.answers.ends_in(bytes) || ended) answered(link);
    if (!link.drops_answers()) link.to_client.add(std::move(bytes), pace);
    if (ended) link.server.close();
  }

  // One side has closed. Bytes it sent before are still delivered, at full speed.
  static void finish(Link& link, Lane& rest, const Fd& other) {
    if (link.state == Link::State::forwarding) {
      while (!rest.empty() && rest.send_some(other.get(), Pace{})) {
      }
    }
    link.client.close();
    link.server.close();
    link.state = Link::State::over;
  }

  static void silence(Link& link) {
    link.state = Link::State::silent;
    link.to_client.clear();
    link.to_server.clear();
  }

  // Counted before it takes effect, so that the count is up to date once a client notices.
  void strike(Link& link, std::string request, Fault fault) {
    const bool is_after = fault == Fault::cut_after || fault == Fault::silence_after;
    if (is_after) {
      link.to_server.add(std::move(request), pace);
      link.state =
          fault == Fault::cut_after ? Link::State::cutting_after : Link::State::silencing_after;
      return;
    }
    struck();
    if (fault == Fault::cut_before) link.cut();
    if (fault == Fault::silence_before) silence(link);
    if (fault == Fault::hold) hold(link, std::move(request));
  }

  void hold(Link& link, std::string request) {
    note([this] { is_holding_ = true; });
    link.held = std::move(request);
    link.state = Link::State::holding;
    link.client.reset();
  }

  // The server has completed its answer or closed the connection.
  void answered(Link& link) {
    if (link.awaits_answer()) struck();
    if (link.state == Link::State::cutting_after) {
      link.cut();
    } else if (link.state == Link::State::silencing_after) {
      silence(link);
    } else if (link.state == Link::State::draining) {
      link.cut();
      note([this] { is_holding_ = false; });
    }
  }

  void struck() {
    note([this] { ++strikes_; });
  }

  // Changes state under the lock and notifies waiters.
  template <class Change>
  void note(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  const std::string server_path_;
  const Fd listener_ = listen_on_any_port();
  const int port_ = port_of(listener_);
  const Fd wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::list<Link> links_;
  std::deque<std::pair<Fault, Kind>> armed_;
  bool stopping_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::packaged_task<void()>> tasks_;
  int strikes_ = 0;
  bool is_holding_ = false;  // until the server answers the held request

  std::thread thread_;  // last: it uses the members above
};

Gate::Gate(const std::string& directory) : loop_(std::make_unique<Loop>(directory)) {}
Gate::~Gate() = default;

std::string Gate::url(const std::string& database) const {
  return "postgres://hapax@127.0.0.1:" + std::to_string(loop_->port()) + "/" + database +
         "?sslmode=disable";
}

void Gate::delay_each_chunk(std::chrono::milliseconds by) {
  loop_->run_on_loop([&] { loop_->pace.delay = by; });
}
void Gate::trickle(std::size_t bytes_at_a_time) {
  loop_->run_on_loop([&] { loop_->pace.at_a_time = bytes_at_a_time; });
}
void Gate::on_connect(OnConnect treatment) {
  loop_->run_on_loop([&] { loop_->on_connect = treatment; });
}
void Gate::cut() {
  loop_->run_on_loop([&] { loop_->cut_all(); });
}
void Gate::half_open() {
  loop_->run_on_loop([&] {
    loop_->on_connect = OnConnect::swallow;
    loop_->silence_all();
  });
}
void Gate::heal() {
  loop_->run_on_loop([&] {
    loop_->on_connect = OnConnect::forward;
    loop_->pace = Pace{};
  });
}

void Gate::arm(Fault fault, Kind kind) {
  loop_->run_on_loop([&] { loop_->arm(fault, kind); });
}
void Gate::then_arm(Fault fault, Kind kind) {
  loop_->run_on_loop([&] { loop_->then_arm(fault, kind); });
}
int Gate::strikes() const {
  return loop_->strikes();
}
bool Gate::wait_for_strikes(int count) {
  return loop_->wait_for_strikes(count);
}

void Gate::release_held() {
  loop_->run_on_loop([&] { loop_->release_held(); });
}
void Gate::wait_until_held_is_answered() {
  loop_->wait_until_drained();
}

}  // namespace hapax::test
