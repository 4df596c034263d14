// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/admin_client.hpp"

#include "base/try.hpp"
#include "base/utf8.hpp"
#include "cli/blocking_client.hpp"
#include "cli/server_file.hpp"
#include "env/environment.hpp"
#include "env/pause.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>

namespace hapax::cli {

namespace {

namespace json = boost::json;

constexpr int kUnavailable = 503;
constexpr std::size_t kMaxAnswer = 64 * 1024 * 1024;  // a body may be as large as max_body

Result<std::string> read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  std::getline(file, token);
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  const auto visible = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!std::all_of(token.begin(), token.end(), visible)) {
    return Error(Code::misconfigured, path +
                                          " does not contain a token (visible ASCII on the first "
                                          "line); give another file with --token-file");
  }
  if (!token.empty()) return token;
  return Error(Code::misconfigured, path +
                                        " contains no token; 'hapax serve' writes it at first "
                                        "start. Give it with --token-file or "
                                        "in HAPAX_ADMIN_TOKEN");
}

Error no_answer(const http::Failure& failure) {
  std::string detail = failure.detail;
  if (failure.trouble == http::Trouble::refused) detail += "; is 'hapax serve' running there?";
  if (failure.trouble == http::Trouble::certificate) {
    detail += "; give the certificate of its CA with --ca FILE";
  }
  return Error(Code::misconfigured, Outcome::did_not_happen, detail);
}

// Pauses before a request whose answer was lost is repeated. A server that was killed may have
// restarted by then.
constexpr std::array<std::chrono::milliseconds, 5> kBeforeAgain{
    {std::chrono::milliseconds(250), std::chrono::milliseconds(500), std::chrono::seconds(1),
     std::chrono::seconds(2), std::chrono::seconds(4)}};

Error never_answered(const http::Failure& failure, const std::string& key) {
  return Error(Code::misconfigured, Outcome::unknown,
               failure.detail + "; the outcome is unknown. Repeat with --key " + key +
                   "; it will not be done twice");
}

Error refused(const http::Response& response) {
  json::error_code error;
  const json::value answer = json::parse(response.body, error);
  std::string detail = "the server answered " + std::to_string(response.status);
  const std::string said = error ? std::string() : member_text(answer, "detail");
  if (!said.empty()) detail += ": " + said;
  if (response.status == 401) detail += " (the token: --token-file, or HAPAX_ADMIN_TOKEN)";
  if (response.status == 400) return Error(Code::invalid_argument, detail);
  const bool no = response.status == 404 || response.status == 409 || response.status == 410 ||
                  response.status == 422;
  return Error(no ? Code::refused : Code::misconfigured, detail);
}

Result<std::string> accepted(http::Response response) {
  if (response.status != 200 && response.status != 202) return refused(response);
  return std::move(response.body);
}

struct Access {
  std::string url;
  std::string token;
};

Result<std::string> token_of(const AdminArguments& arguments, const daemon::Config* config) {
  if (!arguments.token_file.empty()) return read_token(arguments.token_file);
  if (const auto token = environment_variable("HAPAX_ADMIN_TOKEN")) return *token;
  if (config->admin_token) return *config->admin_token;
  return read_token(config->data_dir + "/admin.token");
}

Result<Access> access_of(const AdminArguments& arguments) {
  const bool has_token =
      !arguments.token_file.empty() || environment_variable("HAPAX_ADMIN_TOKEN").has_value();
  std::optional<daemon::Config> config;
  if (arguments.url.empty() || !has_token) {
    HAPAX_TRY_TO(config, read_server_file(arguments.config, "give --admin and --token-file"));
  }
  Access access{arguments.url, {}};
  if (access.url.empty()) {
    HAPAX_TRY_TO(access.url, url_of(config->admin, "give --admin"));
  }
  HAPAX_TRY_TO(access.token, token_of(arguments, config ? &*config : nullptr));
  return access;
}

Result<json::value> parsed(const std::string& body) {
  json::error_code error;
  json::value answer = json::parse(body, error);
  if (!error) return answer;
  return Error(Code::misconfigured, "unexpected response; is this the admin listener?");
}

}  // namespace

std::vector<Option> AdminArguments::options() {
  return {{"-c,--config", &config, "Configuration file of the server"},
          {"--admin", &url, "URL of the admin listener, overrides the file"},
          {"--token-file", &token_file,
           "Token file; default: HAPAX_ADMIN_TOKEN, then the server's token file"},
          {"--ca", &ca, "PEM file with an additional trusted certificate"}};
}

struct AdminClient::Impl {
  Impl(const http::Url& to, const std::string& token, std::shared_ptr<const http::ClientTls> tls)
      : authorization("Bearer " + token), client(to, limits(), std::move(tls)) {}

  static http::ClientLimits limits() {
    http::ClientLimits limits;
    limits.body = kMaxAnswer;
    limits.total = std::chrono::seconds(60);
    return limits;
  }

  const std::string authorization;
  BlockingClient client;
};

AdminClient::AdminClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminClient::~AdminClient() = default;
AdminClient::AdminClient(AdminClient&&) noexcept = default;
AdminClient& AdminClient::operator=(AdminClient&&) noexcept = default;

Result<AdminClient> AdminClient::make(const AdminArguments& arguments) {
  HAPAX_TRY_ASSIGN(access, access_of(arguments));
  HAPAX_TRY_ASSIGN(to, http::parse_url(access.url));
  std::shared_ptr<const http::ClientTls> tls;
  if (to.tls) {
    HAPAX_TRY_TO(tls, http::ClientTls::make(arguments.ca));
  }
  return AdminClient(std::make_unique<Impl>(to, access.token, std::move(tls)));
}

Result<std::string> AdminClient::get(const std::string& target) {
  return send("GET", target, {});
}

Result<std::string> AdminClient::send(std::string_view method, const std::string& target,
                                      std::string_view body) {
  const std::array<Header, 1> headers{{{"Authorization", impl_->authorization}}};
  const http::Outgoing request{method, target, headers, body};
  http::Exchanged result = impl_->client.exchange(request);
  if (!result.response) return no_answer(result.failure);
  return accepted(*std::move(result.response));
}

Result<json::value> AdminClient::post_once(const std::string& target, const std::string& body,
                                           const std::string& key) {
  const std::array<Header, 2> headers{
      {{"Authorization", impl_->authorization}, {"Idempotency-Key", key}}};
  const http::Outgoing request{"POST", target, headers, body};
  http::Exchanged result = impl_->client.exchange(request);
  const http::Failure first = result.failure;
  if (!result.response && !first.sent) return no_answer(first);
  const bool lost = !result.response;
  const auto open = [&] {
    return !result.response || (lost && result.response->status == kUnavailable);
  };
  for (auto wait = kBeforeAgain.begin(); open() && wait != kBeforeAgain.end(); ++wait) {
    pause(*wait);
    result = impl_->client.exchange(request);
  }
  if (open()) return never_answered(first, key);
  HAPAX_TRY_ASSIGN(answer, accepted(*std::move(result.response)));
  return parsed(answer);
}

Result<json::value> AdminClient::get_json(const std::string& target) {
  HAPAX_TRY_ASSIGN(body, get(target));
  return parsed(body);
}

Result<json::value> AdminClient::post_json(const std::string& target, const std::string& body) {
  HAPAX_TRY_ASSIGN(answer, send("POST", target, body));
  return parsed(answer);
}

Result<json::value> AdminClient::delete_json(const std::string& target) {
  HAPAX_TRY_ASSIGN(answer, send("DELETE", target, {}));
  return parsed(answer);
}

std::string without_controls(std::string_view text) {
  return printable(text);
}

const json::value* member_in(const json::value& object, std::string_view member) {
  return object.is_object() ? object.get_object().if_contains(member) : nullptr;
}

std::string member_text(const json::value& object, std::string_view member) {
  const json::value* found = member_in(object, member);
  if (found == nullptr || found->is_null()) return {};
  if (!found->is_string()) return printable_json(json::serialize(*found));
  const json::string& text = found->get_string();
  return without_controls({text.data(), text.size()});
}

std::int64_t member_number(const json::value& object, std::string_view member) {
  const json::value* found = member_in(object, member);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

json::array* list_in(json::value& object, std::string_view member) {
  json::value* found = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  return found != nullptr && found->is_array() ? &found->get_array() : nullptr;
}

const json::array& list_or_none(const json::value& object, std::string_view member) {
  static const json::array none;
  const json::value* found = member_in(object, member);
  return found != nullptr && found->is_array() ? found->get_array() : none;
}

}  // namespace hapax::cli
