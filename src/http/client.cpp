// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/client.hpp"

#include "http/buffer.hpp"
#include "http/client_stream.hpp"
#include "http/framing.hpp"
#include "http/message.hpp"
#include "model/field.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/parser.hpp>

#include <algorithm>
#include <utility>

namespace hapax::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using beast::error_code;

// A body that grows with the received bytes. Beast's string_body reserves the announced length.
struct TextBody {
  using value_type = std::string;

  class reader {  // NOLINT: the names are Beast's
   public:
    template <bool is_request, class Fields>
    reader(beast::http::header<is_request, Fields>&, value_type& text) : text_(text) {}

    void init(const boost::optional<std::uint64_t>&, error_code& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code& error) {
      error = {};
      const std::size_t before = text_.size();
      for (const auto each : beast::buffers_range_ref(buffers)) {
        text_.append(static_cast<const char*>(each.data()), each.size());
      }
      return text_.size() - before;
    }
    void finish(error_code& error) { error = {}; }

   private:
    value_type& text_;
  };
};
using Parser = beast::http::response_parser<TextBody>;

constexpr std::size_t kResponseReadSize = 64 * 1024;
constexpr int kMaxInterim = 16;  // 1xx before the final response

bool is_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

bool can_be_sent(const Outgoing& request) {
  const auto word = [](std::string_view text) {
    return !text.empty() && is_line(text) && text.find(' ') == std::string_view::npos;
  };
  return word(request.method) && word(request.target) &&
         std::all_of(request.headers.begin(), request.headers.end(),
                     [&](const Header& each) { return word(each.name) && is_line(each.value); });
}

std::string written(const Outgoing& request, const Url& to) {
  std::string out;
  const auto add = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  out.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  add("Host", to.authority());
  for (const Header& each : request.headers) add(each.name, each.value);
  const bool bare = request.body.empty() && (request.method == "GET" || request.method == "HEAD");
  if (!bare) add("Content-Length", std::to_string(request.body.size()));
  out.append("\r\n").append(request.body);
  return out;
}

// Beast accepts some responses whose end another parser would see elsewhere.
bool ends_beyond_doubt(const Parser& parser) {
  const auto& head = parser.get();
  const auto encodings = head.count(beast::http::field::transfer_encoding);
  if (encodings == 0) return true;
  const auto encoding = head[beast::http::field::transfer_encoding];
  return encodings == 1 && equal_ignoring_case({encoding.data(), encoding.size()}, "chunked") &&
         head.count(beast::http::field::content_length) == 0 && head.version() == 11;
}

// Moves the body too; afterwards the parser holds only later bytes of it.
Response taken_from(Parser& parser) {
  Response response;
  auto& message = parser.get();
  response.status = static_cast<int>(message.result_int());
  for (const auto& each : message) {
    const auto name = each.name_string();
    response.headers.push_back({std::string(name.data(), name.size()),
                                std::string(each.value().data(), each.value().size())});
  }
  response.body = std::exchange(message.body(), {});
  return response;
}

}  // namespace

std::string_view name(Trouble trouble) noexcept {
  switch (trouble) {
    case Trouble::bad_request:
      return "bad-request";
    case Trouble::unresolved:
      return "unresolved";
    case Trouble::refused:
      return "refused";
    case Trouble::unreachable:
      return "unreachable";
    case Trouble::certificate:
      return "certificate";
    case Trouble::tls:
      return "tls";
    case Trouble::timed_out:
      return "timed-out";
    case Trouble::closed:
      return "closed";
    case Trouble::malformed:
      return "malformed";
    case Trouble::too_large:
      return "too-large";
    case Trouble::address_refused:
      break;
  }
  return "address-refused";
}

const std::string* Response::find(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const OwnedHeader& each) {
    return equal_ignoring_case(each.name, name);
  });
  return found == headers.end() ? nullptr : &found->value;
}

struct ClientConnection::Impl {
  Impl(const Executor& executor, Url given, ClientLimits given_limits,
       std::shared_ptr<const ClientTls> tls, Lookups* lookups)
      : to(std::move(given)),
        limits(given_limits),
        stream(executor, to, std::move(tls), limits.public_only, lookups) {}

  Task<std::optional<Failure>> connect(std::chrono::milliseconds within);
  Task<Exchanged> exchange(const Outgoing& request);
  Task<Exchanged> begin(const Outgoing& request, std::chrono::milliseconds total);
  Task<bool> rest(std::string& body, std::size_t most, std::chrono::milliseconds within);
  Task<std::optional<Failure>> send(const Outgoing& request, std::chrono::milliseconds total);
  Task<Exchanged> read_answer(bool head_only);
  Task<Exchanged> read_head();
  void take_body();
  Task<std::optional<Failure>> read_message(Parser& parser);
  std::optional<Failure> parse(Parser& parser);
  Task<std::optional<Failure>> read_more(Parser& parser);
  Failure failure(Trouble trouble, std::string_view why) const;

  const Url to;
  const ClientLimits limits;
  ClientStream stream;
  Buffer buffer;
  bool fresh = false;            // open, and no request was sent yet
  bool kept = false;             // the last response was complete and allows another request
  bool sent = false;             // of the current exchange: a byte may have been sent
  bool got_bytes = false;        // of the current exchange
  bool all_sent = false;         // of the current exchange: the whole request
  std::optional<Parser> answer;  // after begin(): its head is read
  bool more = false;             // more of its body is expected
  bool whole = false;            // its body is complete
};

Failure ClientConnection::Impl::failure(Trouble trouble, std::string_view why) const {
  return {trouble, sent, to.host + ":" + std::to_string(to.port) + ": " + std::string(why)};
}

Task<std::optional<Failure>> ClientConnection::Impl::connect(std::chrono::milliseconds within) {
  const bool good = stream.is_open() && (fresh || kept) && stream.is_quiet(kept);
  if (good) co_return std::nullopt;
  kept = false;
  sent = false;
  buffer = Buffer();
  std::optional<Failure> failed = co_await stream.open(within);
  fresh = !failed;
  co_return failed;
}

// Connects if necessary, then sends. On success the clock of the exchange is running.
Task<std::optional<Failure>> ClientConnection::Impl::send(const Outgoing& request,
                                                          std::chrono::milliseconds total) {
  sent = false;
  got_bytes = false;
  more = false;
  if (!can_be_sent(request)) {
    co_return failure(Trouble::bad_request, "line break in a header or in the target");
  }
  std::optional<Failure> failed = co_await connect(std::min(limits.connect, total));
  if (failed) co_return failed;
  fresh = false;
  kept = false;
  const std::string bytes = written(request, to);
  stream.start_clock(total);
  const ClientStream::IoResult result = co_await stream.write(bytes);
  // With TLS the number of bytes sent is unknown.
  sent = result.bytes > 0 || to.tls;
  all_sent = !result.error;
  co_return std::nullopt;
}

Task<Exchanged> ClientConnection::Impl::exchange(const Outgoing& request) {
  Exchanged result;
  std::optional<Failure> failed = co_await send(request, limits.total);
  if (failed) {
    result.failure = std::move(*failed);
    co_return result;
  }
  // A server that rejects a request may close before it has read all of it; its response still
  // counts.
  result = co_await read_answer(request.method == "HEAD");
  stream.stop_clock();
  kept = kept && all_sent;
  if (!kept) stream.close();
  co_return result;
}

Task<Exchanged> ClientConnection::Impl::begin(const Outgoing& request,
                                              std::chrono::milliseconds total) {
  Exchanged result;
  std::optional<Failure> failed = co_await send(request, total);
  if (failed) {
    result.failure = std::move(*failed);
    co_return result;
  }
  result = co_await read_head();
  stream.stop_clock();
  if (!kept && !more) stream.close();
  co_return result;
}

// Reads the head of the final response; skips 1xx.
Task<Exchanged> ClientConnection::Impl::read_head() {
  Exchanged result;
  for (int i = 0; i < kMaxInterim; ++i) {
    answer.emplace();
    answer->header_limit(static_cast<std::uint32_t>(limits.head));
    answer->body_limit(boost::none);
    std::optional<Failure> failed = parse(*answer);
    while (!failed && !answer->is_header_done()) {
      failed = co_await read_more(*answer);
      if (!failed) failed = parse(*answer);
    }
    if (failed && !answer->is_header_done()) {
      result.failure = std::move(*failed);
      co_return result;
    }
    const unsigned status = answer->get().result_int();
    if (status / 100 == 1 && status != 101) continue;
    if (status < 200) break;
    take_body();
    result.response = taken_from(*answer);
    co_return result;
  }
  result.failure = failure(Trouble::malformed, "only 1xx responses received");
  co_return result;
}

// Parses the received part of the body. If the framing is ambiguous or the body is malformed, no
// more is read and the connection is not reused.
void ClientConnection::Impl::take_body() {
  more = false;
  whole = false;
  if (!ends_beyond_doubt(*answer)) return;
  answer->eager(true);
  if (parse(*answer)) return;
  whole = answer->is_done();
  more = !whole;
  kept = whole && all_sent && answer->keep_alive() && !answer->need_eof() && buffer.view().empty();
}

Task<bool> ClientConnection::Impl::rest(std::string& body, std::size_t most,
                                        std::chrono::milliseconds within) {
  if (!more) co_return whole;
  const std::string& got = answer->get().body();
  stream.start_clock(within);
  while (more && body.size() + got.size() < most) {
    const std::optional<Failure> failed = co_await read_more(*answer);
    if (failed) break;
    take_body();
    // The size line of a chunk has no limit of its own.
    if (buffer.view().size() > limits.head + kResponseReadSize) break;
  }
  stream.stop_clock();
  more = false;
  const std::size_t room = most - std::min(most, body.size());
  whole = whole && got.size() <= room;
  body.append(got, 0, room);
  if (!kept) stream.close();
  co_return whole;
}

Task<Exchanged> ClientConnection::Impl::read_answer(bool head_only) {
  Exchanged result;
  for (int i = 0; i < kMaxInterim; ++i) {
    Parser parser;
    parser.header_limit(static_cast<std::uint32_t>(limits.head));
    parser.body_limit(limits.body);
    parser.skip(head_only);
    std::optional<Failure> failed = co_await read_message(parser);
    if (failed) {
      result.failure = std::move(*failed);
      co_return result;
    }
    const unsigned status = parser.get().result_int();
    if (status / 100 == 1 && status != 101) continue;
    if (status < 200) break;
    kept = parser.keep_alive() && !parser.need_eof() && buffer.view().empty();
    result.response = taken_from(parser);
    co_return result;
  }
  result.failure = failure(Trouble::malformed, "only 1xx responses received");
  co_return result;
}

Task<std::optional<Failure>> ClientConnection::Impl::read_message(Parser& parser) {
  parser.eager(true);
  for (;;) {
    std::optional<Failure> failed = parse(parser);
    if (failed || parser.is_done()) co_return failed;
    failed = co_await read_more(parser);
    if (failed || parser.is_done()) co_return failed;
  }
}

// Passes the received bytes to the parser.
std::optional<Failure> ClientConnection::Impl::parse(Parser& parser) {
  if (buffer.view().empty()) return std::nullopt;
  error_code error;
  const std::string_view bytes = buffer.view();
  const bool chunks = parser.is_header_done() && parser.chunked();
  if (chunks && is_short_last_chunk(bytes)) return std::nullopt;
  const std::size_t taken = parser.put(asio::buffer(bytes.data(), bytes.size()), error);
  buffer.remove(0, taken);
  if (error == beast::http::error::header_limit) {
    return failure(Trouble::too_large, "response headers too large");
  }
  if (error == beast::http::error::body_limit) {
    return failure(Trouble::too_large, "response body too large");
  }
  if (error && error != beast::http::error::need_more) {
    return failure(Trouble::malformed, "invalid HTTP response: " + error.message());
  }
  if (parser.is_header_done() && !ends_beyond_doubt(parser)) {
    return failure(Trouble::malformed, "ambiguous response framing");
  }
  return std::nullopt;
}

Task<std::optional<Failure>> ClientConnection::Impl::read_more(Parser& parser) {
  const std::span<char> room = buffer.room(kResponseReadSize);
  const ClientStream::IoResult result = co_await stream.read_some(room);
  if (stream.expired()) co_return failure(Trouble::timed_out, "response timed out");
  if (!result.error) {
    buffer.filled(result.bytes);
    got_bytes = true;
    co_return std::nullopt;
  }
  error_code error = beast::http::error::partial_message;
  if (result.error == asio::error::eof && parser.got_some()) parser.put_eof(error);
  if (!error) co_return std::nullopt;  // a body delimited by the end of the connection
  co_return failure(Trouble::closed,
                    got_bytes ? "response truncated" : "connection closed without a response");
}

ClientConnection::ClientConnection(const Executor& executor, Url to, ClientLimits limits,
                                   std::shared_ptr<const ClientTls> tls, Lookups* lookups)
    : impl_(std::make_unique<Impl>(executor, std::move(to), limits, std::move(tls), lookups)) {}

ClientConnection::~ClientConnection() = default;

Task<std::optional<Failure>> ClientConnection::connect(
    const std::optional<std::chrono::milliseconds>& within) {
  return impl_->connect(within.value_or(impl_->limits.connect));
}

Task<Exchanged> ClientConnection::exchange(const Outgoing& request) {
  return impl_->exchange(request);
}

Task<Exchanged> ClientConnection::begin(const Outgoing& request, std::chrono::milliseconds total) {
  return impl_->begin(request, total);
}

Task<bool> ClientConnection::rest(std::string& body, std::size_t most,
                                  std::chrono::milliseconds within) {
  return impl_->rest(body, most, within);
}

void ClientConnection::abort() {
  impl_->stream.start_clock(std::chrono::milliseconds(0));
}

bool ClientConnection::reusable() const {
  return impl_->stream.is_open() && (impl_->fresh || impl_->kept);
}

void ClientConnection::close() {
  impl_->kept = false;
  impl_->fresh = false;
  impl_->stream.close();
}

}  // namespace hapax::http
