// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The input is a template, a line end, and a request: URL, headers and body. A valid template
// renders, or fails with a reason, for any request, and both results are deterministic.
#include "base/check.hpp"
#include "verify/message.hpp"

#include <cstdint>

namespace {

using namespace hapax;
using namespace hapax::verify_detail;

class Text final : public Sink {
 public:
  void add(std::string_view bytes) override { text.append(bytes); }
  std::string text;
};

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

struct Rendered {
  bool failed;
  std::string text;
};

const std::string kSecret = "the secret of the fuzzer";

Rendered render(const Message& message, const Request& request) {
  const std::array<std::string, 2> alias = {"a-", "b-"};
  const std::vector<OwnedHeader> parameters = {{"p", "value"}};
  const Headers headers(request, alias);
  JsonReader json;
  FieldReader fields(request, json);
  const Ingredients from{request, headers, fields, "1760000000", kSecret, "key", parameters};
  Text sink;
  const MaybeFailure failure = message.render(from, sink);
  if (!failure) return {false, sink.text};
  HAPAX_CHECK(failure->reason != Reason::none);
  return {true, failure->detail};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const Result<Message> message = Message::parse(take_line(rest));
  if (!message) {
    HAPAX_CHECK(message.error().code() == Code::misconfigured);
    return 0;
  }
  const std::string_view url = take_line(rest);
  std::vector<Header> headers;
  while (!rest.empty() && headers.size() < 16) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    const std::size_t colon = std::min(line.find(':'), line.size());
    headers.push_back({line.substr(0, colon), line.substr(std::min(colon + 1, line.size()))});
  }
  const Request request{"POST", url, headers, rest, 0};
  const Rendered once = render(*message, request);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (once.failed && input.find(kSecret) == input.npos) {
    HAPAX_CHECK(once.text.find(kSecret) == std::string::npos);
  }
  const Rendered again = render(*message, request);
  HAPAX_CHECK(once.failed == again.failed && once.text == again.text);
  return 0;
}
