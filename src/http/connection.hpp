// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/buffer.hpp"
#include "http/framing.hpp"
#include "http/message.hpp"
#include "http/reactor.hpp"
#include "http/server.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <optional>
#include <string>

// One connection, from its first byte to its last: requests one after the other, each read,
// checked, answered, and taken out of the buffer. What is pipelined waits there.
namespace hapax::http {

using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;

template <class Stream>
class Connection final : public Timed, public Line {
 public:
  Connection(Stream stream, Reactor& reactor, Handler& handler, const Limits& limits,
             Door::Visit& visit);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Task<void> run();
  void cancel() override;
  bool is_cut() override;
  void trust() override { trusted_ = true; }

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
  bool goes_apart(const Reply& reply) const;
  void put_together(const Reply& reply, bool keep);
  void settle_views();
  bool may_keep();
  void give_back();
  bool was_called_again();

  Stream stream_;
  Reactor& reactor_;
  Handler& handler_;
  const Limits& limits_;
  Door::Visit& visit_;
  const std::list<Timed*>::iterator place_;
  std::string peer_;
  Buffer buffer_;
  Head head_;  // of views into the buffer: to be read only where that has not moved
  bool trusted_ = false;
  bool wants_no_body_ = false;  // HEAD
  std::size_t head_size_ = 0;
  const char* parsed_at_ = nullptr;  // where the buffer was when head_ was parsed
  std::string chunked_;              // a chunked body, put together
  std::string_view body_;
  std::size_t used_ = 0;  // bytes of the buffer that are this request
  std::string out_;
};

}  // namespace hapax::http
