// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::test {

struct HttpAnswer {
  int status = 0;  // 0: the connection ended without a response
  std::string head;
  std::string body;

  // The first header with that name, case-insensitive; "" if there is none.
  std::string header(std::string_view name) const;
  // NAME of "urn:hapax:error:NAME"; "" if the body is not a problem document of hapax.
  std::string problem() const;
};

// A blocking client that sends exactly the given bytes. Times out after five minutes, so that a
// test cannot hang.
class RawClient {
 public:
  // `from`: an address of this machine, other than 127.0.0.1.
  explicit RawClient(int port, const char* from = nullptr);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return socket_ >= 0; }
  bool send(std::string_view bytes);
  HttpAnswer receive();       // the next answer; 1xx ones are skipped
  std::string receive_all();  // until the other side closes
  bool closed_by_peer();      // waits for it
  void finish_sending();
  int handle() const { return socket_; }

  // Sends one request with a body and returns its response.
  HttpAnswer post(std::string_view target, const std::vector<OwnedHeader>& headers,
                  std::string_view body);
  HttpAnswer get(std::string_view target, const std::vector<OwnedHeader>& headers = {});

 private:
  bool read_more();

  int socket_ = -1;
  std::string buffer_;
};

// The headers that sign `body` for the preset, at the current time.
std::vector<OwnedHeader> signed_headers(std::string_view preset_name, const std::string& secret,
                                        std::string_view body, std::string_view id);

}  // namespace hapax::test
