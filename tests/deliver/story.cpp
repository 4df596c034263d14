// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/story.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace hapax::test {

namespace json = boost::json;

std::string destination(const std::string& name, const std::string& url, const std::string& more) {
  const bool has_timeout = more.find("timeout = ") != std::string::npos;
  return "[[destination]]\nname = '" + name + "'\nurl = '" + url + "'\n" +
         (has_timeout ? "" : "timeout = '5m'\n") + more;
}

std::string push_config(const std::vector<std::string>& to, const std::string& destinations,
                        const std::string& source, const std::string& store) {
  std::string list;
  for (const std::string& each : to) list += (list.empty() ? "'" : ", '") + each + "'";
  return "[server]\nlisten = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\n" + kGenerousServer +
         "[store]\nurl = '" + store + "'\n" + kGenerousStore +
         "[[source]]\nname = 'demo'\npreset = 'standard-webhooks'\nsecrets = ['" + kDemoSecret +
         "']\ndeliver_to = [" + list + "]\n" + source + destinations;
}

std::string text(const json::value& object, std::string_view member) {
  const json::value* found = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  if (found == nullptr || found->is_null()) return "";
  return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
}

std::int64_t number(const json::value& object, std::string_view member) {
  const json::value* found = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  return found != nullptr && found->is_int64() ? found->get_int64() : -1;
}

std::string Story::send(const std::string& id, const std::string& body) const {
  RawClient client(serve.port());
  const HttpAnswer answer = serve.post(client, id, body);
  EXPECT_EQ(answer.status, 200) << answer.body;
  json::error_code error;
  return text(json::parse(answer.body, error), "event");
}

json::value Story::get(const std::string& target) const {
  const HttpAnswer answer = serve.ask(target);
  EXPECT_EQ(answer.status, 200) << target << answer.body;
  json::error_code error;
  return json::parse(answer.body, error);
}

HttpAnswer Story::post(const std::string& target, const std::string& body) const {
  std::ifstream file(serve.file("admin.token"));
  std::string token;
  std::getline(file, token);
  RawClient client(serve.admin_port());
  return client.post(target, {{"Authorization", "Bearer " + token}}, body);
}

json::value Story::delivery(const std::string& event_id, const std::string& name) const {
  const json::value whole = event(event_id);
  for (const json::value& each : whole.at("deliveries").as_array()) {
    if (text(each, "destination") == name) return each;
  }
  return {};
}

json::value Story::destination(const std::string& name) const {
  const json::value all = get("/v1/destinations");
  for (const json::value& each : all.at("destinations").as_array()) {
    if (text(each, "name") == name) return each;
  }
  return {};
}

bool Story::becomes(const std::string& event_id, const std::string& name,
                    const std::string& status) const {
  const bool done = eventually([&] { return text(delivery(event_id, name), "status") == status; });
  EXPECT_TRUE(done) << json::serialize(event(event_id)) << "\n" << serve.log();
  return done;
}

std::vector<std::string> Story::attempts(const std::string& event_id) const {
  const json::value whole = event(event_id);
  std::vector<std::string> list;
  for (const json::value& each : whole.at("attempts").as_array()) {
    // A lease that arrives late from a busy store is released unused and granted again.
    if (text(each, "error") == "not begun") continue;
    list.push_back(text(each, "outcome") + " " + text(each, "http_status") + " " +
                   text(each, "error"));
  }
  return list;
}

}  // namespace hapax::test
