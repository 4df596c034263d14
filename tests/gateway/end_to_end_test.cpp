// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"
#include "support/eventually.hpp"
#include "support/postgres.hpp"
#include "verify/sample.hpp"

#include <hapax/identify.hpp>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <iostream>
#include <thread>

// A real server and requests signed by hapax's own signer: the responses, and the contents of the
// store.
namespace hapax::test {

namespace {

const std::string kPublicUrl = "https://hooks.example.com";

std::string toml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

std::string source_of(const Sample& sample) {
  const Context context = sample.context();
  std::string text = "[[source]]\nname = \"" + std::string(sample.preset->name) +
                     "\"\npreset = \"" + std::string(sample.preset->name) + "\"\nsecrets = [";
  for (const std::string& each : sample.secrets) text += toml_text(each) + ", ";
  text += "]\n";
  if (!context.key_id.empty()) text += "key_id = " + toml_text(std::string(context.key_id)) + "\n";
  if (!context.parameters.empty()) {
    text += "parameters = {";
    for (const Header& each : context.parameters) {
      if (text.back() != '{') text += ", ";
      text += std::string(each.name) + " = " + toml_text(std::string(each.value));
    }
    text += "}\n";
  }
  return text + "deliver_to = [\"work\"]\n";
}

std::string with_sources(const std::string& sources) {
  return "[server]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\npublic_url = \"" +
         kPublicUrl + "\"\n" + kGenerousServer + "[store]\nurl = \"sqlite:hapax.db\"\n" +
         kGenerousStore + sources + "[[destination]]\nname = \"work\"\nkind = \"pull\"\n";
}

bool has_id(const Preset& preset, const OwnedRequest& request) {
  Scratch scratch;
  const OwnedRequest::View view = request.view();
  const Identified found = Identifier::make(preset.identity)->identify(*view, scratch);
  return found.reason == Reason::none && found.items.size() == 1 &&
         found.items[0].reason == Reason::none;
}

// A JSON text with `value` at `pointer`: {"a":{"b":"x"}} for "/a/b".
std::string json_with(std::string_view pointer, const std::string& value) {
  if (pointer.empty()) return "\"" + value + "\"";
  const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
  return "{\"" + std::string(pointer.substr(1, end - 1)) +
         "\":" + json_with(pointer.substr(end), value) + "}";
}

// A request of the provider with an event id in its place, or nullopt if that needs more than an
// additional header or a body made here.
std::optional<OwnedRequest> signed_request(const Sample& sample) {
  const WallTime now = make_system_clock()->wall();
  const std::string_view place = sample.preset->identity.id[0];
  const bool composite = !sample.preset->identity.id[1].empty();
  Result<OwnedRequest> request = sample.sign(now);
  if (request && !has_id(*sample.preset, *request) && place.starts_with("json:") && !composite) {
    request = sample.sign(now, json_with(place.substr(5), "evt_1"));
  }
  if (!request) return std::nullopt;
  if (place.starts_with("header:") && !has_id(*sample.preset, *request)) {
    const std::string_view names = place.substr(7);
    request->headers.push_back({std::string(names.substr(0, names.find(','))), "evt_1"});
  }
  if (!has_id(*sample.preset, *request)) return std::nullopt;
  return *request;
}

TEST(EndToEndTest, EveryPresetsRequestIsStoredByteForByte) {
  std::vector<Sample> samples;
  std::string sources;
  for (const Preset* each : signable_presets()) {
    // A time in the body of a sample is outside of the window.
    const bool time_in_body = each->verify.time.at.starts_with("json:");
    if (!each->identity.split.empty() || time_in_body) continue;
    samples.push_back(sample_of(*each));
    samples.back().unsigned_request.url = kPublicUrl + "/in/" + std::string(each->name);
    sources += source_of(samples.back());
  }
  Serve serve(with_sources(sources));
  StoreView view("sqlite:" + serve.file("hapax.db"));
  RawClient client(serve.port());
  int sent = 0;
  for (const Sample& each : samples) {
    SCOPED_TRACE(each.preset->name);
    const std::optional<OwnedRequest> request = signed_request(each);
    if (!request) continue;
    ++sent;
    const std::string target = request->url.substr(kPublicUrl.size());
    const HttpAnswer first = client.post(target, request->headers, request->body);
    ASSERT_EQ(first.status, 200) << first.body << serve.log();
    EXPECT_NE(first.body.find("\"duplicate\":false"), std::string::npos) << first.body;
    const std::string event = first.body.substr(first.body.find(":\"") + 2, 16);
    const std::optional<EventNo> number = event_from(event);
    ASSERT_TRUE(number) << first.body;
    const auto body = view.driver().catalog->body(*number, store::BodyOf::event);
    ASSERT_TRUE(body && body->value);
    EXPECT_EQ(*body->value, request->body);

    const bool claims = each.preset->identity.id[0] != "none";
    const HttpAnswer again = client.post(target, request->headers, request->body);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.header("Hapax-Duplicate"), claims ? "true" : "") << again.body;
  }
  EXPECT_GT(sent, 80);
  std::cout << sent << " presets\n";
}

class DemoTest : public testing::Test {
 protected:
  std::string url() const { return "sqlite:" + serve_.file("hapax.db"); }

  Serve serve_{demo_config("sqlite:hapax.db")};
};

TEST_F(DemoTest, AnyBytesAreStoredUnchanged) {
  std::string binary;
  for (int i = 0; i < 256; ++i) binary += static_cast<char>(i);
  const std::vector<std::pair<std::string, std::string>> bodies = {
      {"empty", ""},
      {"one", "x"},
      {"binary", binary},
      {"gzip",
       std::string(
           "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0", 25)},
      {"large", std::string(1024 * 1024, 'l')},
  };
  RawClient client(serve_.port());
  for (const auto& [id, body] : bodies) {
    std::vector<OwnedHeader> headers = signed_headers("standard-webhooks", kDemoSecret, body, id);
    if (id == "gzip") headers.push_back({"Content-Encoding", "gzip"});
    EXPECT_EQ(client.post("/in/demo", headers, body).status, 200) << id;
  }
  const std::string chunked = "in chunks";
  std::string request = "POST /in/demo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n";
  for (const OwnedHeader& each :
       signed_headers("standard-webhooks", kDemoSecret, chunked, "chunked")) {
    request += each.name + ": " + each.value + "\r\n";
  }
  ASSERT_TRUE(client.send(request + "\r\n2\r\nin\r\n7\r\n chunks\r\n0\r\n\r\n"));
  EXPECT_EQ(client.receive().status, 200);

  std::map<std::string, std::string> expected(bodies.begin(), bodies.end());
  expected["chunked"] = chunked;
  EXPECT_EQ(StoreView(url()).bodies(), expected);
}

TEST_F(DemoTest, ABodyOneByteOverTheLimitStoresNothing) {
  const std::string body(1024 * 1024 + 1, 'x');
  RawClient client(serve_.port());
  const HttpAnswer answer = serve_.post(client, "big", body);
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.problem(), "body-too-large");
  EXPECT_TRUE(StoreView(url()).bodies().empty());
}

TEST_F(DemoTest, AForgedRequestClaimsNoId) {
  RawClient client(serve_.port());
  std::vector<OwnedHeader> headers =
      signed_headers("standard-webhooks", kDemoSecret, "true", "id-1");
  const HttpAnswer forged = client.post("/in/demo", headers, "false");
  EXPECT_EQ(forged.status, 401);
  EXPECT_EQ(forged.problem(), "signature-invalid");
  const HttpAnswer genuine = client.post("/in/demo", headers, "true");
  EXPECT_EQ(genuine.status, 200);
  EXPECT_NE(genuine.body.find("\"duplicate\":false"), std::string::npos);
  EXPECT_EQ(StoreView(url()).bodies(), (std::map<std::string, std::string>{{"id-1", "true"}}));
  EXPECT_NE(serve_.log().find("source=demo reason=signature-invalid"), std::string::npos);
}

TEST_F(DemoTest, AChangedBodyWithAKnownIdIsADuplicateAndKept) {
  RawClient client(serve_.port());
  EXPECT_EQ(serve_.post(client, "id-1", "first").status, 200);
  const HttpAnswer second = serve_.post(client, "id-1", "second");
  EXPECT_EQ(second.header("Hapax-Duplicate"), "true");
  EXPECT_EQ(serve_.stop(), 0);  // writes the duplicate counts
  StoreView view(url());
  const Result<store::EventPage> page = view.driver().catalog->events({});
  ASSERT_TRUE(page && page->events.size() == 1);
  EXPECT_EQ(page->events[0].duplicates, 1U);
  const EventNo event = page->events[0].no;
  const auto detail = view.driver().catalog->event(event);
  ASSERT_TRUE(detail && detail->value);
  EXPECT_EQ(detail->value->variants.size(), 1U);
  EXPECT_EQ(view.driver().catalog->body(event, store::BodyOf::last_variant)->value, "second");
  EXPECT_EQ(view.driver().catalog->body(event, store::BodyOf::event)->value, "first");
}

TEST_F(DemoTest, UnknownSourcesAreRejected) {
  RawClient client(serve_.port());
  const std::vector<std::pair<std::string, std::string>> targets = {
      {"/in/nobody", "source-unknown"},
      {"/in/de%6do", "source-unknown"},
      {"/in/demo/", "tenant-unknown"},
      {"/in/demo%2f..", "source-unknown"},
      {"/in/../demo", "source-unknown"},
      {"/in/\xff\xfe", "source-unknown"},
      {"/in/demo/tenant", "tenant-unknown"},
      {"/in/" + std::string(5000, 'a'), "source-unknown"},
      {"/", "not-found"},
      {"/in", "not-found"},
      {"/metrics", "not-found"},
      {"/v1/events", "not-found"}};
  for (const auto& [target, name] : targets) {
    RawClient one(serve_.port());
    const HttpAnswer answer = one.post(target, {}, "x");
    EXPECT_EQ(answer.status, 404) << target;
    EXPECT_EQ(answer.problem(), name) << target;
  }
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"}) {
    RawClient one(serve_.port());
    ASSERT_TRUE(one.send(std::string(method) + " /in/demo HTTP/1.1\r\nHost: a\r\n\r\n"));
    const HttpAnswer answer = [&] {
      if (std::string(method) != "HEAD") return one.receive();
      HttpAnswer head;
      one.finish_sending();
      const std::string all = one.receive_all();
      head.status = std::stoi(all.substr(9, 3));
      head.head = all;
      return head;
    }();
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.header("Allow"), "POST") << method;
  }
  EXPECT_TRUE(StoreView(url()).bodies().empty());
}

TEST_F(DemoTest, ASourceWithAHandshakeAllowsGet) {
  serve_.reload(demo_config("sqlite:hapax.db") +
                "[[source]]\nname = \"box\"\npreset = \"dropbox\"\nsecrets = [\"s\"]\n");
  RawClient client(serve_.port());
  const HttpAnswer handshake = client.get("/in/box?challenge=abc123");
  EXPECT_EQ(handshake.status, 200);
  EXPECT_EQ(handshake.body, "abc123");
  const std::string name = "X-Content-Type-Options";
  EXPECT_EQ(handshake.header(name), "nosniff");
  EXPECT_EQ(handshake.head.find(name), handshake.head.rfind(name)) << handshake.head;
  for (const char* request : {"DELETE /in/box", "GET /in/box"}) {
    ASSERT_TRUE(client.send(std::string(request) + " HTTP/1.1\r\nHost: a\r\n\r\n"));
    const HttpAnswer answer = client.receive();
    EXPECT_EQ(answer.status, 405) << request;
    EXPECT_EQ(answer.header("Allow"), "GET, HEAD, POST") << request;
  }
}

TEST_F(DemoTest, ASecondServerOnTheSameFileDoesNotStart) {
  const std::string command = std::string(HAPAX_BINARY) + " serve -c " + serve_.file("hapax.toml") +
                              " >/dev/null 2>" + serve_.file("second");
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << "status " << status;
}

TEST_F(DemoTest, AReloadAddsSourcesAndAnInvalidFileChangesNothing) {
  RawClient client(serve_.port());
  const std::string body = "x";
  const auto post_to = [&](const std::string& source) {
    const auto headers = signed_headers("standard-webhooks", kDemoSecret, body, "id");
    return RawClient(serve_.port()).post("/in/" + source, headers, body).status;
  };
  EXPECT_EQ(post_to("second"), 404);
  serve_.reload(demo_config("sqlite:hapax.db") + "nonsense = 1\n");
  EXPECT_NE(serve_.log().find("not reloaded"), std::string::npos) << serve_.log();
  EXPECT_EQ(post_to("demo"), 200);
  serve_.reload(demo_config("sqlite:hapax.db") +
                "[[source]]\nname = \"second\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
                kDemoSecret + "\"]\n");
  EXPECT_TRUE(eventually([&] { return post_to("second") == 200; }));
  EXPECT_EQ(post_to("demo"), 200);
}

TEST_F(DemoTest, ARequestFinishesWithTheSourceItStartedWith) {
  const std::string body = "x";
  const auto headers = signed_headers("standard-webhooks", kDemoSecret, body, "id");
  std::string head =
      "POST /in/demo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n";
  for (const OwnedHeader& each : headers) head += each.name + ": " + each.value + "\r\n";
  RawClient client(serve_.port());
  ASSERT_TRUE(client.send(head + "\r\n"));
  pollfd continues{.fd = client.handle(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&continues, 1, -1), 1);  // 100 Continue: the source was found
  serve_.reload(
      with_sources("[[source]]\nname = \"other\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
                   kDemoSecret + "\"]\n"));
  EXPECT_TRUE(eventually(
      [&] { return RawClient(serve_.port()).post("/in/demo", {}, body).status == 404; }));
  ASSERT_TRUE(client.send(body));
  EXPECT_EQ(client.receive().status, 200);
}

// The responses to a storm of requests with the same event.
struct Storm {
  std::atomic<int> fresh = 0;
  std::atomic<int> duplicates = 0;
  std::atomic<int> others = 0;
};

void storm(const std::vector<int>& ports, int connections, int requests, Storm& storm) {
  const std::string body = R"({"n":1})";
  const auto headers = signed_headers("standard-webhooks", kDemoSecret, body, "the-one");
  std::atomic<int> left = requests;
  std::vector<std::thread> threads;
  for (int i = 0; i < connections; ++i) {
    threads.emplace_back([&, port = ports[static_cast<std::size_t>(i) % ports.size()]] {
      RawClient client(port);
      while (left.fetch_sub(1) > 0) {
        const HttpAnswer answer = client.post("/in/demo", headers, body);
        const bool first = answer.body.find("\"duplicate\":false") != std::string::npos;
        (answer.status != 200 ? storm.others : first ? storm.fresh : storm.duplicates)++;
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST_F(DemoTest, OneEventSentManyTimesIsOneEvent) {
  const int requests = rounds(10'000);
  Storm result;
  storm({serve_.port()}, 64, requests, result);
  EXPECT_EQ(result.fresh, 1);
  EXPECT_EQ(result.duplicates, requests - 1);
  EXPECT_EQ(result.others, 0);
  EXPECT_EQ(StoreView(url()).bodies().size(), 1U);
}

TEST(EndToEndTest, OneEventSentToTwoServersOnPostgresIsOneEvent) {
  PostgresDatabase database;
  Serve first(demo_config(database.url()));
  Serve second(demo_config(database.url()));
  const int requests = rounds(10'000);
  Storm result;
  storm({first.port(), second.port()}, 64, requests, result);
  EXPECT_EQ(result.fresh, 1);
  EXPECT_EQ(result.duplicates, requests - 1);
  EXPECT_EQ(result.others, 0);
  EXPECT_EQ(StoreView(database.url()).bodies().size(), 1U);
}

}  // namespace

}  // namespace hapax::test
