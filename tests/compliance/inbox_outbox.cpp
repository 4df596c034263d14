// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The outbox: committed messages become events and use the same deliveries.
#include "compliance/inbox_suite.hpp"
#include "model/message.hpp"

namespace hapax::test {

namespace {

MessageId message_id(unsigned char number) {
  MessageId id;
  id.bytes.fill(number);
  return id;
}

// Moves all messages and returns their number.
std::size_t move_all(InboxSteps& steps, std::size_t at_once = 10) {
  std::size_t moved = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<EventNo> numbers;
    for (std::size_t n = 0; n < at_once; ++n) numbers.push_back(steps.new_number());
    const auto part = steps.next().queue->move_messages(numbers);
    if (!part) {
      ADD_FAILURE() << part.error().to_string();
      return moved;
    }
    moved += part->messages;
    if (!part->more) return moved;
  }
  ADD_FAILURE() << "move_messages() never finishes";
  return moved;
}

void enqueue(InboxSteps& steps, unsigned char number, const Message& message) {
  const auto answer = steps.next().queue->enqueue(message_id(number), message);
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_FALSE(answer->duplicate);
  EXPECT_EQ(answer->message, message_id(number));
}

void a_message_becomes_an_event_with_one_delivery(InboxSteps& steps) {
  enqueue(steps, 1,
          {.destination = "mail", .payload = "hello", .headers = {{"X-A", "1"}, {"X-A", ""}}});
  EXPECT_TRUE(steps.nothing_due("mail")) << "it is not in the queue yet";
  EXPECT_EQ(move_all(steps), 1U);
  EXPECT_EQ(move_all(steps), 0U) << "once";
  const Leased lease = steps.lease_one("mail");
  EXPECT_EQ(lease.event.source, steps.source(std::string(kOutboxSource)));
  EXPECT_EQ(lease.event.tenant, "");
  EXPECT_EQ(lease.event.id, message_id(1).to_string());
  EXPECT_EQ(lease.event.body, "hello");
  const auto headers = decode_headers(lease.event.headers);
  ASSERT_TRUE(headers);
  ASSERT_EQ(headers->size(), 2U);
  EXPECT_EQ(headers->at(1).name, "X-A");
  EXPECT_EQ(headers->at(1).value, "");
  steps.ack(lease);
  EXPECT_EQ(steps.detail(lease.event.no).row.digest, sha256("hello"));
}

void messages_with_one_order_key_stay_in_order(InboxSteps& steps) {
  enqueue(steps, 1, {.destination = "mail", .payload = "1", .order_key = "k"});
  enqueue(steps, 2, {.destination = "mail", .payload = "2", .order_key = "k"});
  enqueue(steps, 3, {.destination = "mail", .payload = "3"});
  enqueue(steps, 4, {.destination = "mail", .payload = "4", .order_key = "k"});
  EXPECT_EQ(move_all(steps, 2), 4U);
  EXPECT_EQ(steps.leased("mail", {.max = 10}).size(), 2U) << "1 and 3";
  steps.advance(seconds(30));
  std::string order;
  for (int i = 0; i < 4; ++i) {
    const Leased lease = steps.lease_one("mail");
    if (lease.event.body != "3") order += lease.event.body;
    steps.ack(lease);
  }
  EXPECT_EQ(order, "124");
}

void a_message_with_a_key_is_sent_once(InboxSteps& steps) {
  const Message message{.destination = "mail", .key = "order-1", .payload = "hello"};
  enqueue(steps, 1, message);
  enqueue(steps, 1, message);  // the call repeated, as after a lost answer
  const auto again = steps.next().queue->enqueue(message_id(2), message);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(again->message, message_id(1));
  const auto reused = steps.next().queue->enqueue(
      message_id(3), {.destination = "mail", .key = "order-1", .payload = "x"});
  ASSERT_FALSE(reused);
  EXPECT_EQ(reused.error().code(), Code::key_reused);
  enqueue(steps, 4, {.destination = "sms", .key = "order-1", .payload = "hello"});
  EXPECT_EQ(move_all(steps), 2U);
  enqueue(steps, 1, message);  // repeated after the move
  EXPECT_EQ(move_all(steps), 0U);
}

void a_used_number_moves_nothing(InboxSteps& steps) {
  const EventNo taken = steps.fresh({});
  enqueue(steps, 1, {.destination = "mail", .payload = "hello"});
  const auto moved = steps.next().queue->move_messages(std::span(&taken, 1));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code(), Code::store_busy);
  EXPECT_EQ(move_all(steps), 1U);
}

// After a lost answer: messages moved by the first call are counted and not moved again.
void a_repeated_move_returns_its_first_result(InboxSteps& steps) {
  for (unsigned char i = 1; i <= 3; ++i) {
    enqueue(steps, i, {.destination = "mail", .payload = std::to_string(i)});
  }
  const std::vector<EventNo> numbers{steps.new_number(), steps.new_number()};
  for (int i = 0; i < 2; ++i) {
    const auto moved = steps.next().queue->move_messages(numbers);
    ASSERT_TRUE(moved) << moved.error().to_string();
    EXPECT_EQ(moved->messages, 2U);
    EXPECT_TRUE(moved->more);
  }
  EXPECT_EQ(steps.leased("mail", {.max = 10}).size(), 2U);
  EXPECT_EQ(move_all(steps), 1U);
}

// kamu-cli #1398, eventuous #222, fable #22: a cursor passed the number of a row that was committed
// later, and the row was never sent.
void a_message_committed_late_is_not_lost(InboxSteps& steps) {
  std::unique_ptr<OpenMessage> late =
      steps.subject().begin_message({.destination = "mail", .payload = "late"});
  enqueue(steps, 1, {.destination = "mail", .payload = "early"});
  EXPECT_EQ(move_all(steps), 1U);
  enqueue(steps, 2, {.destination = "mail", .payload = "between"});
  EXPECT_EQ(move_all(steps), 1U);
  if (late == nullptr) return;  // the store has a single writer: no transaction can stay open
  late->commit();
  EXPECT_EQ(move_all(steps), 1U);
  std::string bodies;
  for (const Leased& each : steps.leased("mail", {.max = 10})) bodies += each.event.body + " ";
  EXPECT_EQ(bodies, "early between late ");
}

constexpr InboxCase kOutboxCases[] = {
    {"AMessageBecomesAnEventWithOneDelivery", a_message_becomes_an_event_with_one_delivery},
    {"MessagesWithOneOrderKeyStayInOrder", messages_with_one_order_key_stay_in_order},
    {"AMessageWithAKeyIsSentOnce", a_message_with_a_key_is_sent_once},
    {"AUsedNumberMovesNothing", a_used_number_moves_nothing},
    {"ARepeatedMoveReturnsItsFirstResult", a_repeated_move_returns_its_first_result},
    {"AMessageCommittedLateIsNotLost", a_message_committed_late_is_not_lost, false},
};

}  // namespace

std::span<const InboxCase> outbox_cases() {
  return kOutboxCases;
}

}  // namespace hapax::test
