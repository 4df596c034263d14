// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/arguments.hpp"
#include "http/client.hpp"

#include <boost/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace hapax::cli {

// Address and credentials of the admin listener of a running server.
struct AdminArguments {
  std::string config = "hapax.toml";
  std::string url;
  std::string token_file;
  std::string ca;

  std::vector<Option> options();  // they point into this object
};

// The admin API of a running server: sequential requests over one connection.
class AdminClient {
 public:
  // The configuration file is read only for missing arguments. misconfigured: no address or no
  // token.
  static Result<AdminClient> make(const AdminArguments& arguments);
  ~AdminClient();
  AdminClient(AdminClient&&) noexcept;
  AdminClient& operator=(AdminClient&&) noexcept;

  // Returns the body of a 200 or 202 response. Any other response, or none, is an error with the
  // server's explanation or a remedy. invalid_argument: the server answered 400.
  Result<std::string> get(const std::string& target);
  Result<boost::json::value> get_json(const std::string& target);
  // As get_json(), with a JSON body.
  Result<boost::json::value> post_json(const std::string& target, const std::string& body);
  Result<boost::json::value> delete_json(const std::string& target);
  // Like post_json(), with an Idempotency-Key: if the answer is lost, or the server is unavailable,
  // the request is repeated a few times with the same key, and the server executes it once.
  // unknown: no answer decided it; a later request with the same key returns the outcome.
  Result<boost::json::value> post_once(const std::string& target, const std::string& body,
                                       const std::string& key);

 private:
  struct Impl;
  Result<std::string> send(std::string_view method, const std::string& target,
                           std::string_view body);
  explicit AdminClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A member of a response; null if it is missing or the response is not an object.
const boost::json::value* member_in(const boost::json::value& object, std::string_view member);
// Display text of a response member: strings verbatim, null as "", other values as JSON. Terminal
// control characters are replaced, because senders choose ids and headers.
std::string member_text(const boost::json::value& object, std::string_view member);
// An integer member; 0 if it is missing.
std::int64_t member_number(const boost::json::value& object, std::string_view member);
std::string without_controls(std::string_view text);

// An array member; null if it is missing.
boost::json::array* list_in(boost::json::value& object, std::string_view member);
// An array member; empty if it is missing.
const boost::json::array& list_or_none(const boost::json::value& object, std::string_view member);

}  // namespace hapax::cli
