// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/framing.hpp"

#include "model/field.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <charconv>

namespace hapax::http {

namespace {

namespace beast = boost::beast;
using beast::error_code;

constexpr std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

bool within(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

// A parser that ignores everything; base of the parsers below.
class Quiet : public beast::http::basic_parser<true> {
 protected:
  void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int,
                       error_code&) override {}
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_field_impl(beast::http::field, beast::string_view, beast::string_view,
                     error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, error_code&) override {
    return body.size();
  }
  void on_finish_impl(error_code&) override {}
};

class HeadParser final : public Quiet {
 public:
  HeadParser(std::string_view bytes, const HeadLimits& limits, Head& head)
      : bytes_(bytes), limits_(limits), head_(head) {
    header_limit(static_cast<std::uint32_t>(bytes.size() + 1));
    body_limit(boost::none);
  }

  std::optional<Refusal> parse() {
    error_code error;
    put(boost::asio::buffer(bytes_.data(), bytes_.size()), error);
    if (too_many_) return Refusal::headers_too_large;
    if (error || folded_ || !is_header_done()) return Refusal::framing;
    head_.keep_alive = keep_alive();
    return {};
  }

  int version() const { return version_; }

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, error_code&) override {
    head_.method = view(method);
    head_.target = view(target);
    version_ = version;
  }

  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     error_code& error) override {
    too_many_ = head_.headers.size() >= limits_.headers;
    // Beast joins a folded value in its own buffer, outside of bytes_.
    folded_ = folded_ || (!value.empty() && !within(view(value), bytes_));
    if (too_many_ || folded_) {
      error = beast::http::error::bad_field;
      return;
    }
    head_.headers.push_back({view(name), view(value)});
  }

  std::string_view bytes_;
  const HeadLimits& limits_;
  Head& head_;
  int version_ = 0;
  bool too_many_ = false;
  bool folded_ = false;
};

// For Beast, a folded line with nothing before the fold is an ordinary one.
bool has_fold(std::string_view bytes) {
  for (std::size_t at = bytes.find('\n'); at + 1 < bytes.size(); at = bytes.find('\n', at + 1)) {
    if (bytes[at + 1] == ' ' || bytes[at + 1] == '\t') return true;
  }
  return false;
}

std::optional<std::uint64_t> length_of(std::string_view text) {
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  // For unsigned numbers from_chars accepts neither sign nor space: only digits.
  return whole ? std::optional(length) : std::nullopt;
}

struct Counts {
  int lengths = 0;
  int encodings = 0;
  int hosts = 0;
};

// Reads the headers that determine framing and host. Returns false if one of them is invalid.
bool read_framing(Head& head, Counts& counts) {
  for (const Header& each : head.headers) {
    if (equal_ignoring_case(each.name, "Content-Length")) {
      const std::optional<std::uint64_t> length = length_of(each.value);
      if (!length) return false;
      head.length = *length;
      ++counts.lengths;
    } else if (equal_ignoring_case(each.name, "Transfer-Encoding")) {
      head.chunked = equal_ignoring_case(each.value, "chunked");
      if (!head.chunked) return false;
      ++counts.encodings;
    } else if (equal_ignoring_case(each.name, "Host")) {
      ++counts.hosts;
    } else if (equal_ignoring_case(each.name, "Expect")) {
      head.expects_continue = equal_ignoring_case(each.value, "100-continue");
    }
  }
  return true;
}

bool is_beyond_doubt(Head& head, int version) {
  Counts counts;
  if (!read_framing(head, counts)) return false;
  if (counts.lengths > 1 || counts.encodings > 1 || counts.hosts > 1) return false;
  if (counts.lengths + counts.encodings > 1) return false;
  if (version < 11 && head.chunked) return false;
  if (version >= 11 && counts.hosts == 0) return false;
  head.old = version < 11;
  if (head.old) head.expects_continue = false;  // it has no 1xx responses
  // RFC 9112 requires the absolute form ("GET http://host/path") too. Only proxies receive it; here
  // it would name the host twice, which is ambiguous.
  return !head.target.empty() && head.target.front() == '/';
}

}  // namespace

std::optional<Refusal> parse_head(std::string_view bytes, const HeadLimits& limits, Head& head) {
  std::vector<Header> headers = std::move(head.headers);  // reuses its memory
  headers.clear();
  head = Head{};
  head.headers = std::move(headers);
  if (bytes.size() > limits.bytes) return Refusal::headers_too_large;
  HeadParser parser(bytes, limits, head);
  if (std::optional<Refusal> refused = parser.parse()) return refused;
  if (head.target.size() > limits.target) return Refusal::headers_too_large;
  if (has_fold(bytes) || !is_beyond_doubt(head, parser.version())) return Refusal::framing;
  return {};
}

struct ChunkReader::Parser final : public Quiet {
  explicit Parser(std::size_t limit) : left(limit) {
    constexpr std::string_view kHead = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    error_code error;
    body_limit(boost::none);
    put(boost::asio::buffer(kHead.data(), kHead.size()), error);
    eager(true);
  }

  void on_chunk_header_impl(std::uint64_t size, beast::string_view, error_code& error) override {
    begun = true;
    too_large = size > left;
    if (too_large) {
      error = beast::http::error::body_limit;
    } else {
      left -= static_cast<std::size_t>(size);
    }
  }

  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view part, error_code&) override {
    out->append(part.data(), part.size());
    return part.size();
  }

  std::size_t left;
  bool begun = false;
  bool too_large = false;
  std::string* out = nullptr;
};

ChunkReader::ChunkReader(std::size_t limit) : parser_(std::make_unique<Parser>(limit)) {}
ChunkReader::~ChunkReader() = default;
ChunkReader::ChunkReader(ChunkReader&&) noexcept = default;
ChunkReader& ChunkReader::operator=(ChunkReader&&) noexcept = default;

ChunkReader::State ChunkReader::read(std::string_view bytes, std::size_t& taken,
                                     std::string& body) {
  taken = 0;
  // After the first chunk the rest begins with the end of its line; anything else is invalid at
  // once.
  if (!parser_->begun && is_short_last_chunk(bytes)) return State::needs_more;
  error_code error;
  parser_->out = &body;
  taken = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (parser_->too_large) return State::too_large;
  if (error && error != beast::http::error::need_more) return State::bad;
  return parser_->is_done() ? State::done : State::needs_more;
}

}  // namespace hapax::http
