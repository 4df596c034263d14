// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/buffer.hpp"
#include "http/framing.hpp"
#include "http/io_thread.hpp"
#include "http/message.hpp"
#include "http/server.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <optional>
#include <string>

// One connection, from accept to close: requests are read, checked, answered and removed from the
// buffer one after another. Pipelined requests wait in the buffer.
namespace hapax::http {

using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;

template <class Stream>
class Connection final : public HasDeadline, public PeerProbe {
 public:
  Connection(Stream stream, IoThread& io_thread, Handler& handler, const Limits& limits,
             ConnectionLimiter::Permit& permit);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Task<void> run();
  void cancel() override;
  bool peer_closed() override;
  void mark_trusted() override { trusted_ = true; }

 private:
  Task<bool> open();
  Task<bool> exchange();
  Task<bool> read_head();
  Task<bool> read_body(std::size_t limit);
  Task<bool> read_length();
  Task<bool> read_chunks(std::size_t limit);
  Task<bool> read_more(std::size_t wanted);
  Task<bool> write(std::string_view bytes);
  Task<bool> respond(const Reply& reply, bool keep);
  Task<bool> refuse(Refusal why);
  Task<void> close();
  bool is_written_separately(const Reply& reply) const;
  void serialize(const Reply& reply, bool keep);
  void refresh_views();
  bool reserve_memory();
  void shrink_buffers();
  bool has_late_request();

  Stream stream_;
  IoThread& io_thread_;
  Handler& handler_;
  const Limits& limits_;
  ConnectionLimiter::Permit& permit_;
  const std::list<HasDeadline*>::iterator place_;
  std::string peer_;
  Buffer buffer_;
  Head head_;  // views of the buffer; invalid once the buffer moves
  bool trusted_ = false;
  bool wants_no_body_ = false;  // HEAD
  std::size_t head_size_ = 0;
  const char* parsed_at_ = nullptr;  // address of the buffer when head_ was parsed
  std::string chunked_;              // the decoded chunked body
  std::string_view body_;
  std::size_t used_ = 0;  // bytes of the current request in the buffer
  std::string out_;
};

}  // namespace hapax::http
