// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/receive.hpp"

#include "gateway/source_of.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <future>

namespace hapax::gateway {

namespace {

// For requests that are rejected before the store is used.
class NoCommit final : public AsyncStore {
 public:
  Task<store::AdmitAnswer> admit(const store::Admit&) override { co_return failure(); }
  Task<Result<store::Lease>> lease(const store::LeaseRequest&) override { co_return failure(); }
  Task<Result<std::vector<store::Settled>>> settle(std::span<const store::Settlement>) override {
    co_return failure();
  }

 private:
  static Error failure() { return Error(Code::store_unavailable, "there is no store"); }
};

Source signed_source(std::size_t secrets) {
  Source source = test::source_of("demo", 1);
  for (std::size_t i = 0; i < secrets; ++i) {
    source.secrets.push_back("secret number " + std::to_string(i));
  }
  Scheme scheme;
  scheme.signatures[0].at = "header:X-Signature";
  scheme.messages = {"{body}"};
  source.verifier = Verifier::make(scheme, source.secrets).value();
  return source;
}

struct Forged {
  explicit Forged(std::size_t size) : body(size, 'x') {}

  std::string body;
  std::vector<Header> headers{{"X-Signature", "00"}};
  Request request{.method = "POST", .url = "https://h/in/demo", .headers = headers, .body = body};
};

class ReceiveTest : public testing::Test {
 protected:
  // Starts to receive a request and runs everything that does not wait for another thread. Sets
  // `received` when the request is finished.
  void begin(const Source& source, const Forged& forged, std::optional<Received>& received) {
    boost::asio::co_spawn(loop_.get_executor(), receive(source, forged.request, received),
                          boost::asio::detached);
    loop_.restart();
    loop_.poll();
  }

  test::ManualClock clock_;
  NoCommit commit_;
  NodeNumbers numbers_{clock_};
  DuplicateCounts duplicates_;
  UnclaimedRate unclaimed_{clock_};
  DeliveryNotifier notifier_;
  boost::asio::thread_pool verifying_{1};
  Receiver receiver_{{commit_, numbers_, duplicates_, unclaimed_, notifier_, clock_}, &verifying_};
  boost::asio::io_context loop_{1};

 private:
  Task<void> receive(const Source& source, const Request& request,
                     std::optional<Received>& received) {
    const ReceiveContext context{.received = clock_.wall()};
    received = co_await receiver_.receive(source, request, context);
  }
};

bool is_refused(const std::optional<Received>& received) {
  return received && std::holds_alternative<Refused>(*received) &&
         std::get<Refused>(*received).reason == Reason::signature_invalid;
}

TEST_F(ReceiveTest, ACostlyVerificationDoesNotBlockTheIoThread) {
  std::promise<void> proceed;
  boost::asio::post(verifying_, [held = proceed.get_future()] { held.wait(); });
  const Source source = signed_source(16);
  const Forged large(128UL << 10);
  const Forged small(1024);
  std::optional<Received> of_large;
  std::optional<Received> of_small;
  begin(source, large, of_large);
  begin(source, small, of_small);
  EXPECT_FALSE(of_large) << "verified on the I/O thread";
  EXPECT_TRUE(is_refused(of_small));
  proceed.set_value();
  loop_.restart();
  loop_.run();
  EXPECT_TRUE(is_refused(of_large));
}

TEST(CostlyRequests, HashMoreThanOneMebibyte) {
  constexpr std::size_t kMebibyte = 1UL << 20;
  EXPECT_FALSE(is_costly(signed_source(1), Forged(kMebibyte).request));
  EXPECT_TRUE(is_costly(signed_source(1), Forged(kMebibyte + 1).request));
  EXPECT_TRUE(is_costly(signed_source(16), Forged(kMebibyte / 16 + 1).request));
  EXPECT_FALSE(is_costly(signed_source(16), Forged(kMebibyte / 16).request));
  Forged packed(kMebibyte / 50);
  packed.headers.push_back({"content-encoding", "gzip"});
  packed.request.headers = packed.headers;
  EXPECT_TRUE(is_costly(signed_source(1), packed.request));
}

}  // namespace

}  // namespace hapax::gateway
