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
  int status = 0;  // 0: the connection ended without one
  std::string head;
  std::string body;

  // The first header of that name, in any case; "" when it is not there.
  std::string header(std::string_view name) const;
  // The end of "urn:hapax:error:NAME"; "" when the body is no problem document of ours.
  std::string problem() const;
};

// A client that sends exactly the bytes it is given. Blocks; gives up after five minutes, so that a
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

  // One request with a body, and its answer.
  HttpAnswer post(std::string_view target, const std::vector<OwnedHeader>& headers,
                  std::string_view body);
  HttpAnswer get(std::string_view target, const std::vector<OwnedHeader>& headers = {});

 private:
  bool read_more();

  int socket_ = -1;
  std::string buffer_;
};

// `body`, signed for `preset` now, as headers.
std::vector<OwnedHeader> signed_headers(std::string_view preset_name, const std::string& secret,
                                        std::string_view body, std::string_view id);

}  // namespace hapax::test
