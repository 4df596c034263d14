// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/connection.hpp"

#include <poll.h>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <type_traits>

namespace hapax::http {

namespace {

namespace asio = boost::asio;
using Tls = asio::ssl::stream<Socket>;
using boost::system::error_code;

// Limits of the input that is discarded after the last response, before the connection is closed.
constexpr std::size_t kMaxLingering = 256 * 1024;
constexpr std::chrono::seconds kLinger{2};
// Limit of incomplete chunk sizes, extensions and trailers.
constexpr std::size_t kMaxChunkOverhead = 32 * 1024;
constexpr std::size_t kReadSize = 64 * 1024;
// Memory that a connection may keep without a reservation. A typical event is smaller.
constexpr std::size_t kFree = 16 * 1024;

std::string peer_of(const Socket& socket) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? std::string() : endpoint.address().to_string();
}

Socket& next_layer(Socket& socket) {
  return socket;
}
Socket& next_layer(Tls& stream) {
  return stream.next_layer();
}

}  // namespace

template <class Stream>
Connection<Stream>::Connection(Stream stream, IoThread& io_thread, Handler& handler,
                               const Limits& limits, ConnectionLimiter::Permit& permit)
    : stream_(std::move(stream)),
      io_thread_(io_thread),
      handler_(handler),
      limits_(limits),
      permit_(permit),
      place_(io_thread.add(*this)),
      peer_(peer_of(next_layer(stream_))) {}

template <class Stream>
Connection<Stream>::~Connection() {
  io_thread_.remove(place_);
}

template <class Stream>
void Connection<Stream>::cancel() {
  error_code ignored;
  stream_.lowest_layer().cancel(ignored);
}

// Detects a close behind unread bytes too: a pipelined request, the end of TLS.
template <class Stream>
bool Connection<Stream>::peer_closed() {
  pollfd asked{.fd = next_layer(stream_).native_handle(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;
}

template <class Stream>
Task<void> Connection<Stream>::run() {
  // Each co_await is a separate statement: g++ 12 miscompiles conditions that contain one.
  bool goes_on = co_await open();
  while (goes_on) goes_on = co_await exchange();
  co_await close();
}

template <class Stream>
Task<bool> Connection<Stream>::open() {
  if constexpr (std::is_same_v<Stream, Tls>) {
    error_code error;
    deadline = io_thread_.now() + limits_.head_time;
    co_await stream_.async_handshake(Tls::server, asio::redirect_error(kUseTask, error));
    co_return !error;
  }
  co_return true;
}

// Serves one request. Returns false if the connection ends.
template <class Stream>
Task<bool> Connection<Stream>::exchange() {
  const bool has_head = co_await read_head();
  if (!has_head) co_return false;
  const std::variant<ReadBody, Reply> decision = handler_.on_headers(head_, peer_);
  if (const Reply* early = std::get_if<Reply>(&decision)) {
    // A request without a body leaves nothing unread, so the connection can be kept.
    const bool whole = head_.length == 0 && !head_.chunked;
    used_ = head_size_;
    const bool stays = co_await respond(*early, whole);
    co_return stays;
  }
  const ReadBody& wanted = std::get<ReadBody>(decision);
  const bool has_body = co_await read_body(wanted.limit);
  if (!has_body) co_return false;
  refresh_views();
  deadline = BootTime::max();  // the store has its own timeout
  const Incoming request{head_, body_, peer_, this, wanted.context.get()};
  const Reply reply = co_await handler_.answer(request);
  const bool stays = co_await respond(reply, true);
  co_return stays;
}

template <class Stream>
Task<bool> Connection<Stream>::read_head() {
  constexpr std::string_view kEnd = "\r\n\r\n";
  shrink_buffers();
  wants_no_body_ = false;
  idle = buffer_.view().empty();
  const auto stranger = std::min(limits_.idle, limits_.stranger_idle.value_or(limits_.idle));
  deadline = io_thread_.now() + (!idle ? limits_.head_time : trusted_ ? limits_.idle : stranger);
  for (std::size_t searched = 0;;) {
    const std::string_view bytes = buffer_.view();
    const std::size_t end = bytes.find(kEnd, searched);
    if (end != std::string_view::npos) {
      head_size_ = end + kEnd.size();
      break;
    }
    if (bytes.size() > limits_.head.bytes) co_return co_await refuse(Refusal::headers_too_large);
    searched = bytes.size() < kEnd.size() ? 0 : bytes.size() - (kEnd.size() - 1);
    if (idle && io_thread_.stopping()) co_return false;
    const bool more = co_await read_more(kReadSize);
    if (!more) co_return false;
    if (idle) deadline = io_thread_.now() + limits_.head_time;
    idle = expired = false;
    if (!reserve_memory()) co_return co_await refuse(Refusal::queue_full);
  }
  idle = false;
  deadline = io_thread_.now() + limits_.request_time;
  const std::string_view bytes = buffer_.view().substr(0, head_size_);
  parsed_at_ = bytes.data();
  const std::optional<Refusal> refused = parse_head(bytes, limits_.head, head_);
  if (refused) co_return co_await refuse(*refused);
  wants_no_body_ = head_.method == "HEAD";
  co_return true;
}

template <class Stream>
Task<bool> Connection<Stream>::read_body(std::size_t limit) {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  if (!head_.chunked && head_.length > limit) co_return co_await refuse(Refusal::body_too_large);
  const bool waits = head_.expects_continue && buffer_.view().size() == head_size_;
  bool goes_on = true;
  const BootTime until = deadline;  // of the whole request; write() sets its own
  if (waits) goes_on = co_await write(kContinue);
  if (!goes_on) co_return false;
  deadline = until;
  if (head_.chunked) {
    goes_on = co_await read_chunks(limit);
  } else {
    goes_on = co_await read_length();
  }
  co_return goes_on;
}

template <class Stream>
Task<bool> Connection<Stream>::read_length() {
  const std::size_t length = static_cast<std::size_t>(head_.length);
  used_ = head_size_ + length;
  while (buffer_.view().size() < used_) {
    const bool more = co_await read_more(used_ - buffer_.view().size());
    if (!more) co_return false;
    if (!reserve_memory()) co_return co_await refuse(Refusal::queue_full);
  }
  body_ = buffer_.view().substr(head_size_, length);
  co_return true;
}

template <class Stream>
Task<bool> Connection<Stream>::read_chunks(std::size_t limit) {
  ChunkReader reader(limit);
  chunked_.clear();
  for (;;) {
    std::size_t taken = 0;
    const auto state = reader.read(buffer_.view().substr(head_size_), taken, chunked_);
    buffer_.remove(head_size_, taken);
    if (state == ChunkReader::State::done) break;
    if (state == ChunkReader::State::bad) co_return co_await refuse(Refusal::framing);
    if (state == ChunkReader::State::too_large) co_return co_await refuse(Refusal::body_too_large);
    if (buffer_.view().size() > head_size_ + kMaxChunkOverhead) {
      co_return co_await refuse(Refusal::framing);
    }
    const bool more = co_await read_more(kReadSize);
    if (!more) co_return false;
    if (!reserve_memory()) co_return co_await refuse(Refusal::queue_full);
  }
  used_ = head_size_;
  chunked_.reserve(chunked_.size() + kBodyPadding);
  body_ = chunked_;
  co_return true;
}

// Parses the head again if the buffer has moved, because head_ has views of it.
template <class Stream>
void Connection<Stream>::refresh_views() {
  const std::string_view bytes = buffer_.view().substr(0, head_size_);
  if (bytes.data() == parsed_at_) return;
  parse_head(bytes, limits_.head, head_);
  parsed_at_ = bytes.data();
}

// Reserves the memory that the connection uses now.
template <class Stream>
bool Connection<Stream>::reserve_memory() {
  const std::size_t kept = buffer_.capacity() + chunked_.capacity();
  return kept <= kFree || permit_.try_reserve(kept);
}

// Idle connections keep little memory, because there may be many.
template <class Stream>
void Connection<Stream>::shrink_buffers() {
  buffer_.shrink();
  if (chunked_.capacity() > kFree) chunked_ = std::string();
  if (out_.capacity() > kFree) out_ = std::string();
  if (buffer_.capacity() <= kFree) permit_.release_bytes();
}

// True for a request that arrived just before shutdown; it is still served.
template <class Stream>
bool Connection<Stream>::has_late_request() {
  error_code error;
  const bool waits = idle && io_thread_.stopping() && next_layer(stream_).available(error) > 0;
  if (waits) idle = expired = false;
  return waits && !error;
}

// Returns false if no more data comes. A request that is too slow gets 408.
template <class Stream>
Task<bool> Connection<Stream>::read_more(std::size_t wanted) {
  error_code error;
  const std::span<char> room = buffer_.room(wanted);
  const std::size_t got = co_await stream_.async_read_some(asio::buffer(room.data(), room.size()),
                                                           asio::redirect_error(kUseTask, error));
  if (!error) {
    buffer_.filled(got);
    co_return true;
  }
  if (has_late_request()) {
    deadline = io_thread_.now() + limits_.head_time;
    const bool came = co_await read_more(wanted);
    co_return came;
  }
  if (expired && !idle) co_await refuse(Refusal::request_timeout);
  co_return false;
}

template <class Stream>
Task<bool> Connection<Stream>::write(std::string_view bytes) {
  error_code error;
  deadline = io_thread_.now() + limits_.write_time;
  std::size_t sent = 0;
  if constexpr (std::is_same_v<Stream, Socket>) {
    // The socket's buffer nearly always has room, so no wait is needed.
    sent = stream_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
    if (error && error != asio::error::would_block) co_return false;
    if (sent == bytes.size()) co_return true;
  }
  co_await asio::async_write(stream_, asio::buffer(bytes.data() + sent, bytes.size() - sent),
                             asio::redirect_error(kUseTask, error));
  co_return !error;
}

// Large bodies are not copied: a copy would double the memory until the client has read it.
template <class Stream>
bool Connection<Stream>::is_written_separately(const Reply& reply) const {
  return reply.body.size() > kFree && !wants_no_body_ && reply.status != 204;
}

template <class Stream>
void Connection<Stream>::serialize(const Reply& reply, bool keep) {
  out_.clear();
  out_ += "HTTP/1.1 ";
  out_ += std::to_string(reply.status);
  out_ += ' ';
  out_ += status_text(reply.status);
  out_ += "\r\nDate: ";
  out_ += io_thread_.date();
  if (!reply.content_type.empty()) {
    out_ += "\r\nContent-Type: ";
    out_ += reply.content_type;
  }
  for (const OwnedHeader& each : reply.headers) {
    out_ += "\r\n";
    out_ += each.name;
    out_ += ": ";
    out_ += each.value;
  }
  if (reply.status != 204) out_ += "\r\nContent-Length: " + std::to_string(reply.body.size());
  if (!keep) out_ += "\r\nConnection: close";
  if (keep && head_.old) out_ += "\r\nConnection: keep-alive";  // HTTP/1.0 closes by default
  out_ += "\r\n\r\n";
  if (!wants_no_body_ && reply.status != 204 && !is_written_separately(reply)) out_ += reply.body;
}

// Returns true if the connection can take another request.
template <class Stream>
Task<bool> Connection<Stream>::respond(const Reply& reply, bool keep) {
  const bool stay = keep && head_.keep_alive && !io_thread_.stopping();
  serialize(reply, stay);
  bool written = !reply.unsent || !peer_closed();  // a write succeeds even if the peer has left
  if (written) written = co_await write(out_);
  if (written && is_written_separately(reply)) written = co_await write(reply.body);
  if (!written && reply.unsent) reply.unsent();
  if (!written) co_return false;
  buffer_.remove(0, used_);
  co_return stay;
}

// Responds and ends the connection: after a framing error the remaining input cannot be trusted.
template <class Stream>
Task<bool> Connection<Stream>::refuse(Refusal why) {
  handler_.refused(why, peer_);
  expired = false;
  const Reply reply = problem(why);
  used_ = buffer_.view().size();
  serialize(reply, false);
  co_await write(out_);
  co_return false;
}

// Shuts down the sending side and discards some input, so that a client that is still sending
// receives the response and not a reset.
template <class Stream>
Task<void> Connection<Stream>::close() {
  error_code error;
  if constexpr (std::is_same_v<Stream, Tls>) {
    deadline = io_thread_.now() + kLinger;
    co_await stream_.async_shutdown(asio::redirect_error(kUseTask, error));
  }
  Socket& socket = next_layer(stream_);
  if (!expired) socket.shutdown(Socket::shutdown_send, error);
  if (expired || error) co_return;
  deadline = io_thread_.now() + kLinger;
  buffer_ = Buffer();
  for (std::size_t total = 0; total < kMaxLingering;) {
    const std::span<char> room = buffer_.room(kReadSize);
    const std::size_t got = co_await socket.async_read_some(asio::buffer(room.data(), room.size()),
                                                            asio::redirect_error(kUseTask, error));
    if (error) co_return;
    total += got;
  }
}

template class Connection<Socket>;
template class Connection<Tls>;

}  // namespace hapax::http
