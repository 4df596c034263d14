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

// Where the admin listener of a running server is, and what opens it.
struct AdminArguments {
  std::string config = "hapax.toml";
  std::string url;
  std::string token_file;
  std::string ca;

  std::vector<Option> options();  // which point into this
};

// The admin API of a running server, one request after the other over one connection.
class AdminClient {
 public:
  // The file is read only for what was not given. misconfigured: no address or no token.
  static Result<AdminClient> make(const AdminArguments& arguments);
  ~AdminClient();
  AdminClient(AdminClient&&) noexcept;
  AdminClient& operator=(AdminClient&&) noexcept;

  // The body of a 200 or 202. Anything else is an error: what the server says about it, or what to
  // do when it does not answer. invalid_argument: the server took the request for a wrong one
  // (400).
  Result<std::string> get(const std::string& target);
  Result<boost::json::value> get_json(const std::string& target);
  // As get_json(), with a JSON body.
  Result<boost::json::value> post_json(const std::string& target, const std::string& body);
  Result<boost::json::value> delete_json(const std::string& target);
  // As post_json(), with an Idempotency-Key: when the answer is lost it is asked for again, a few
  // times, and the server does what is wanted once. unknown: it never came; the same key, later,
  // still finds out.
  Result<boost::json::value> post_once(const std::string& target, const std::string& body,
                                       const std::string& key);

 private:
  struct Impl;
  Result<std::string> send(std::string_view method, const std::string& target,
                           std::string_view body);
  explicit AdminClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A member of a response; null: there is none, or the response is no object.
const boost::json::value* member_in(const boost::json::value& object, std::string_view member);
// Display text of a response member: a string as it is, null as "", anything else as JSON. Without
// what a terminal would take for a command: senders choose ids and headers.
std::string member_text(const boost::json::value& object, std::string_view member);
// An integer; 0 where there is none.
std::int64_t member_number(const boost::json::value& object, std::string_view member);
std::string without_controls(std::string_view text);

// The list that is a member of an answer; null: there is none.
boost::json::array* list_in(boost::json::value& object, std::string_view member);
// Empty where there is none.
const boost::json::array& list_or_none(const boost::json::value& object, std::string_view member);

}  // namespace hapax::cli
