// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "model/ids.hpp"

#include <gmock/gmock.h>

#include <set>

// /v1/events, over every store that does not need a server.
namespace hapax::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace json = boost::json;
using namespace std::string_literals;  // NOLINT: "..."s has NULs

class AdminEvents : public testing::TestWithParam<StoreKind> {
 protected:
  std::vector<std::string> ids(const std::string& query) {
    const ApiAnswer answer = api_.get("/v1/events" + query);
    EXPECT_EQ(answer.status, 200) << query << answer.body;
    return answer.status == 200 ? ids_in(answer) : std::vector<std::string>();
  }
  std::string complaint(const std::string& target) {
    const ApiAnswer answer = api_.get(target);
    EXPECT_EQ(answer.status, 400) << target << answer.body;
    EXPECT_EQ(answer.problem(), "bad-request");
    return answer.detail();
  }
  void sweep(std::chrono::milliseconds keep) {
    const store::Periods periods{source_no(api_, "demo"), keep, keep};
    while (!api_.driver().queue->sweep({.periods = std::span(&periods, 1)}).value().done) {
    }
  }

  Api api_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, AdminEvents, testing::Values(StoreKind::memory, StoreKind::sqlite),
                         [](const auto& kind) {
                           return kind.param == StoreKind::memory ? "Memory" : "Sqlite";
                         });

TEST_P(AdminEvents, TheListIsEmptyAtFirst) {
  EXPECT_EQ(api_.get("/v1/events").body, "{\"events\":[],\"next\":null}\n");
}

TEST_P(AdminEvents, ShowTheirDetails) {
  const auto event = admit(api_, {{.id = "evt_1",
                                   .tenant = "acme",
                                   .type = "order.paid",
                                   .order_key = "order-7",
                                   .version = 42,
                                   .body = "{}",
                                   .destinations = {"work"}}})
                         .front();
  const ApiAnswer list = api_.get("/v1/events");
  const json::value whole = list.json();
  const json::object& row = whole.at("events").at(0).as_object();
  EXPECT_EQ(row.at("event"), json::value(event));
  EXPECT_EQ(row.at("source"), "demo");
  EXPECT_EQ(row.at("tenant"), "acme");
  EXPECT_EQ(row.at("id"), "evt_1");
  EXPECT_EQ(row.at("type"), "order.paid");
  EXPECT_EQ(row.at("order_key"), "order-7");
  EXPECT_EQ(row.at("version"), 42);
  EXPECT_EQ(row.at("status"), "pending");
  EXPECT_EQ(row.at("size"), 2);
  EXPECT_EQ(row.at("sha256"), json::value(to_hex(view(sha256("{}")))));
  EXPECT_EQ(row.at("duplicates"), 0);
  EXPECT_EQ(row.at("would"), nullptr);
  EXPECT_THAT(std::string(row.at("received_at").as_string()), StartsWith("2023-11-14T22:13:20"));
}

TEST_P(AdminEvents, PagesHaveNoGapsOrRepetitions) {
  constexpr std::size_t kCount = 2500;
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < kCount; ++i) samples.push_back({.id = std::to_string(i)});
  admit(api_, samples);
  for (const std::size_t limit : {37U, 100U, 1000U}) {
    std::vector<std::string> seen;
    std::string target = "/v1/events?limit=" + std::to_string(limit);
    for (std::string after;;) {
      const ApiAnswer page = api_.get(target + after);
      ASSERT_EQ(page.status, 200);
      const std::vector<std::string> its = ids_in(page);
      EXPECT_LE(its.size(), limit);
      seen.insert(seen.end(), its.begin(), its.end());
      const json::value next = page.json().at("next");
      if (next.is_null()) break;
      after = "&after=" + std::string(next.as_string());
    }
    ASSERT_EQ(seen.size(), kCount);
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(seen[i], std::to_string(kCount - 1 - i));
  }
  EXPECT_EQ(ids("").size(), 100U);
}

TEST_P(AdminEvents, PagesStayConsistentWhileRowsAreAdded) {
  admit(api_, {{.id = "a"}, {.id = "b"}, {.id = "c"}});
  const ApiAnswer first = api_.get("/v1/events?limit=2");
  EXPECT_THAT(ids_in(first), ElementsAre("c", "b"));
  api_.clock().advance(seconds(1));
  admit(api_, {{.id = "d"}});
  const std::string next(first.json().at("next").as_string());
  EXPECT_THAT(ids("?limit=2&after=" + next), ElementsAre("a"));
}

TEST_P(AdminEvents, CanBeFiltered) {
  admit(api_, {{.id = "1", .tenant = "acme", .type = "paid", .destinations = {"work"}}});
  api_.clock().advance(hours(1));
  admit(api_, {{.id = "2", .source = "other", .order_key = "k&=1"}});
  api_.clock().advance(hours(1));
  admit(api_, {{.id = "3", .tenant = "acme", .type = "p+d"}});
  EXPECT_THAT(ids("?source=demo"), ElementsAre("3", "1"));
  EXPECT_THAT(ids("?source=other"), ElementsAre("2"));
  EXPECT_THAT(ids("?source=nobody"), IsEmpty());
  EXPECT_THAT(ids("?source=quiet"), IsEmpty());
  EXPECT_THAT(ids("?tenant=acme"), ElementsAre("3", "1"));
  EXPECT_THAT(ids("?tenant="), ElementsAre("2"));
  EXPECT_THAT(ids("?status=pending"), ElementsAre("1"));
  EXPECT_THAT(ids("?status=completed"), ElementsAre("3", "2"));
  EXPECT_THAT(ids("?status=dead"), IsEmpty());
  EXPECT_THAT(ids("?type=paid"), ElementsAre("1"));
  EXPECT_THAT(ids("?type=p%2Bd"), ElementsAre("3"));
  EXPECT_THAT(ids("?id=2"), ElementsAre("2"));
  EXPECT_THAT(ids("?order_key=k%26%3d1"), ElementsAre("2"));
  EXPECT_THAT(ids("?since=2023-11-14T23:13:20Z"), ElementsAre("3", "2"));
  EXPECT_THAT(ids("?until=2023-11-14T23:13:20Z"), ElementsAre("1"));
  EXPECT_THAT(ids("?since=2023-11-14T23:00:00Z&until=2023-11-15T01:00:00%2B01:00"),
              ElementsAre("2"));
  EXPECT_THAT(ids("?tenant=acme&status=completed&source=demo"), ElementsAre("3"));
  EXPECT_THAT(ids("?tenant=acme&status=completed&source=other"), IsEmpty());
}

TEST_P(AdminEvents, ARareMatchIsFound) {
  std::vector<Sample> samples{{.id = "needle", .type = "rare"}};
  for (int i = 0; i < 3000; ++i) samples.push_back({.id = std::to_string(i)});
  admit(api_, samples);
  std::vector<std::string> seen;
  std::string target = "/v1/events?type=rare&limit=10";
  for (int pages = 0; pages < 1000; ++pages) {
    const ApiAnswer page = api_.get(target);
    for (const std::string& each : ids_in(page)) seen.push_back(each);
    const json::value next = page.json().at("next");
    if (next.is_null()) break;
    target = "/v1/events?type=rare&limit=10&after=" + std::string(next.as_string());
  }
  EXPECT_THAT(seen, ElementsAre("needle"));
}

TEST_P(AdminEvents, ErrorsNameTheWrongParameter) {
  EXPECT_THAT(complaint("/v1/events?limit=0"),
              StartsWith("limit: must be a number from 1 to 1000"));
  for (const char* each : {"1001", "-1", "x", "", "1.5", "99999999999999999999", "+1"}) {
    EXPECT_THAT(complaint("/v1/events?limit=" + std::string(each)), StartsWith("limit: "));
  }
  for (const char* each : {"", "yesterday", "2023-02-30T00:00:00Z", "2023-01-01", "1700000000"}) {
    EXPECT_THAT(complaint("/v1/events?since=" + std::string(each)), StartsWith("since: "));
    EXPECT_THAT(complaint("/v1/events?until=" + std::string(each)), StartsWith("until: "));
  }
  for (const char* each : {"", "lost", "PENDING"}) {
    EXPECT_THAT(complaint("/v1/events?status=" + std::string(each)), StartsWith("status: "));
  }
  for (const char* each : {"", "x", "0", "e0000000000000000"}) {
    EXPECT_THAT(complaint("/v1/events?after=" + std::string(each)), StartsWith("after: "));
  }
  EXPECT_THAT(complaint("/v1/events?colour=red"), StartsWith("colour: unknown parameter"));
  EXPECT_THAT(complaint("/v1/events?id=1&id=2"), StartsWith("id: given more than once"));
  EXPECT_THAT(complaint("/v1/events?%ff%00=1"), HasSubstr("unknown parameter"));
  EXPECT_THAT(complaint("/v1/stats?x"), HasSubstr("none is accepted"));
}

TEST_P(AdminEvents, NonUtf8BytesAreShownAsLatin1) {
  const std::string odd = "\xff\x00\"\\\n\xc3\xa9\xed\xa0\x80"s;
  const auto event = admit(api_, {{.id = odd,
                                   .tenant = odd,
                                   .type = odd,
                                   .order_key = odd,
                                   .body = odd,
                                   .headers = {{"x-odd", "\xff"}}}})
                         .front();
  EXPECT_EQ(ids("").size(), 1U);
  EXPECT_EQ(ids("?id=%ff%00%22%5c%0a%c3%a9%ed%a0%80").size(), 1U) << "ids match byte for byte";
  EXPECT_EQ(ids("?type=%ff%00%22%5c%0a%c3%a9%ed%a0%80&id=%ff").size(), 0U);
  const json::value detail = api_.get("/v1/events/" + event).json();
  EXPECT_EQ(detail.at("id"), json::value("\xc3\xbf\x00\"\\\n\xc3\xa9\xc3\xad\xc2\xa0\xc2\x80"s));
  EXPECT_EQ(detail.at("headers").at(0).at(1), "\xc3\xbf");
  EXPECT_EQ(api_.get("/v1/events/" + event + "/body").body, odd);
}

TEST_P(AdminEvents, ShowTheirDeliveriesAndAttempts) {
  const auto event =
      admit(api_, {{.id = "1",
                    .headers = {{"Content-Type", "text/plain"}, {"X-A", "1"}, {"x-a", "2"}},
                    .destinations = {"work", "mail"}}})
          .front();
  const store::LeaseRequest request{
      .from = destination_no(api_, "work"), .max = 1, .lease = seconds(30), .holder = {}};
  const store::Leased leased = api_.driver()
                                   .queue->write({.lease = std::span(&request, 1)})
                                   .lease.value()
                                   .front()
                                   .deliveries.front();
  json::value detail = api_.get("/v1/events/" + event).json();
  EXPECT_EQ(detail.at("status"), "leased");
  EXPECT_EQ(detail.at("headers"),
            json::parse(R"([["Content-Type","text/plain"],["X-A","1"],["x-a","2"]])"));
  const json::value work = detail.at("deliveries").at(0);
  EXPECT_EQ(work.at("destination"), "work");
  EXPECT_EQ(work.at("status"), "leased");
  EXPECT_EQ(work.at("due_at"), nullptr);
  EXPECT_THAT(std::string(work.at("lease_until").as_string()), StartsWith("2023-11-14T22:13:50"));
  EXPECT_EQ(work.at("delivery"),
            json::value(to_text(DeliveryRef{leased.event.no, leased.delivery})));
  EXPECT_THAT(std::string(detail.at("deliveries").at(1).at("due_at").as_string()),
              StartsWith("2023-11-14T22:13:20"));

  const store::Settlement settlement{{leased.event.no, leased.delivery},
                                     leased.fence,
                                     Dead{EndReason::gone},
                                     {.when = api_.clock().wall(),
                                      .took = std::chrono::milliseconds(12),
                                      .status = 410,
                                      .error = "status",
                                      .excerpt = "\xff"}};
  ASSERT_EQ(
      api_.driver().queue->write({.settle = std::span(&settlement, 1)}).settle.value().front(),
      store::Settled::ok);
  detail = api_.get("/v1/events/" + event).json();
  EXPECT_EQ(detail.at("status"), "dead");
  EXPECT_EQ(detail.at("deliveries").at(0).at("reason"), "gone");
  EXPECT_NE(detail.at("deliveries").at(0).at("ended_at"), nullptr);
  const json::value attempt = detail.at("attempts").at(0);
  EXPECT_EQ(attempt.at("outcome"), "dead");
  EXPECT_EQ(attempt.at("http_status"), 410);
  EXPECT_EQ(attempt.at("took_ms"), 12);
  EXPECT_EQ(attempt.at("excerpt"), "\xc3\xbf");
  EXPECT_THAT(ids("?status=dead"), ElementsAre("1"));
}

TEST_P(AdminEvents, ShowChangedBodies) {
  const auto event = admit(api_, {{.id = "1", .body = "first"}}).front();
  EXPECT_EQ(api_.get("/v1/events/" + event + "/body?variant=last").status, 404);
  const store::DuplicateNote note{
      event_from(event).value(), 3, {{sha256("other"), api_.clock().wall(), "other"}}};
  ASSERT_TRUE(api_.driver().queue->note_duplicates(std::span(&note, 1)));
  const json::value detail = api_.get("/v1/events/" + event).json();
  EXPECT_EQ(detail.at("duplicates"), 3);
  EXPECT_EQ(detail.at("variants").as_array().size(), 1U);
  EXPECT_EQ(detail.at("variants").at(0).at("sha256"), json::value(to_hex(view(sha256("other")))));
  EXPECT_EQ(api_.get("/v1/events/" + event + "/body?variant=last").body, "other");
  EXPECT_EQ(api_.get("/v1/events/" + event + "/body").body, "first");
  EXPECT_THAT(complaint("/v1/events/" + event + "/body?variant=first"), StartsWith("variant: "));
}

TEST_P(AdminEvents, BodiesOfAnyBytesAndSizeAreReturned) {
  const std::vector<std::string> bodies{"", "\0"s, "a\0b\r\n\r\n\xff"s, std::string(1 << 20, '\0')};
  for (const std::string& body : bodies) {
    const auto event = admit(api_, {{.id = std::to_string(body.size()), .body = body}}).front();
    ApiAnswer answer = api_.get("/v1/events/" + event + "/body");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers["content-type"], "application/octet-stream");
    EXPECT_EQ(answer.headers["content-disposition"], "attachment");
    EXPECT_TRUE(answer.body == body) << body.size();
    EXPECT_EQ(api_.ask("HEAD", "/v1/events/" + event + "/body", "").headers["content-length"],
              std::to_string(body.size()));
  }
}

TEST_P(AdminEvents, UnknownEventsAreNotFound) {
  const auto event = admit(api_, {{.id = "1"}}).front();
  const std::string later = to_text(EventNo(event_from(event)->value() + 1));
  std::string slip = event;
  slip[5] = slip[5] == '0' ? '1' : '0';
  for (const std::string& each : {later, slip, "x"s, event + "0", "%65" + event.substr(1), "e"s,
                                  "..."s, std::string(2000, 'e'), "%00"s, "d" + event.substr(1)}) {
    EXPECT_EQ(api_.get("/v1/events/" + each).problem(), "not-found") << each;
    EXPECT_EQ(api_.get("/v1/events/" + each + "/body").problem(), "not-found") << each;
  }
}

TEST_P(AdminEvents, RemovedEventsAreGone) {
  const auto event = admit(api_, {{.id = "1"}}).front();
  api_.clock().advance(hours(47));
  sweep(hours(48));
  EXPECT_EQ(api_.get("/v1/events/" + event).status, 200);
  api_.clock().advance(hours(2));
  sweep(hours(48));
  for (const char* tail : {"", "/body", "/body?variant=last"}) {
    const ApiAnswer answer = api_.get("/v1/events/" + event + tail);
    EXPECT_EQ(answer.status, 410) << tail;
    EXPECT_EQ(answer.problem(), "body-gone") << tail;
  }
  EXPECT_THAT(ids(""), IsEmpty());
}

}  // namespace
}  // namespace hapax::test
