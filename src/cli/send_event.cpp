// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/send_event.hpp"

#include "base/json_pointer.hpp"
#include "base/try.hpp"
#include "cli/percent.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace hapax::cli {

namespace {

namespace json = boost::json;

enum class Overwrite : std::uint8_t { no, yes };

// Stores `what` at the pointer and creates missing parents; a star is the first element. Returns
// false if the place is occupied (unless it may be overwritten) or a parent has another type.
bool put(json::value& at, std::string_view pointer, const json::value& what, Overwrite overwrite) {
  if (pointer.empty()) {
    if (!at.is_null() && overwrite == Overwrite::no) return false;
    at = what;
    return true;
  }
  const PointerStep step(pointer);
  if (step.is_star() || (at.is_array() && step.index() == 0U)) {
    if (at.is_null()) at.emplace_array();
    if (!at.is_array()) return false;
    if (at.get_array().empty()) at.get_array().emplace_back(nullptr);
    return put(at.get_array().front(), step.rest(), what, overwrite);
  }
  if (at.is_null()) at.emplace_object();
  return at.is_object() && put(at.get_object()[step.name()], step.rest(), what, overwrite);
}

// A request under construction.
class Draft {
 public:
  explicit Draft(const EventShape& shape)
      : shape_(shape), split_(pointer_of(shape.preset->identity.split)) {
    if (shape.body) read_body(*shape.body);
  }

  Result<ReadyEvent> sign_for(const std::string& id, WallTime now);

 private:
  static std::string pointer_of(std::string_view place) {
    return place.starts_with("json:") ? std::string(place.substr(5)) : std::string();
  }

  void read_body(const std::string& text) {
    json::error_code error;
    root_ = json::parse(text, error);
    is_json_ = !error;
  }
  bool made_up() const { return !shape_.body; }
  void identify(const std::string& id);
  void prepare_signature(const std::string& id, WallTime now);
  void fill(const std::string& id);
  void place(std::string_view where, const std::string& value, Overwrite overwrite);
  void place_signed_parts(std::string_view message, const std::string& value);
  void add_query(std::string_view name, std::string_view value);
  std::string text() const;
  bool is_form() const;

  const EventShape& shape_;
  const std::string split_;
  json::value root_;
  bool is_json_ = true;
  bool changed_ = false;
  std::string form_;
  std::string query_;
  std::vector<OwnedHeader> headers_;
};

void Draft::add_query(std::string_view name, std::string_view value) {
  const bool first = query_.empty() && shape_.target.find('?') == std::string::npos;
  query_ += (first ? "?" : "&") + percent_encoded(name) + "=" + percent_encoded(value);
}

void Draft::place(std::string_view where, const std::string& value, Overwrite overwrite) {
  const std::size_t colon = where.find(':');
  if (colon == std::string_view::npos) return;  // "none"
  const std::string_view kind = where.substr(0, colon);
  const std::string_view name = where.substr(colon + 1);
  const std::string_view first = name.substr(0, name.find(','));
  if (kind == "header") headers_.push_back({std::string(first), value});
  if (kind == "query") add_query(first, value);
  if (kind == "form" && made_up()) {
    form_ += (form_.empty() ? "" : "&") + percent_encoded(first) + "=" + percent_encoded(value);
  }
  if (kind == "json" && is_json_) {
    const bool put_there = put(root_, split_ + std::string(name), json::value(value), overwrite);
    changed_ = changed_ || put_there;
  }
}

void Draft::identify(const std::string& id) {
  const IdentityRule& rule = shape_.preset->identity;
  const Overwrite overwrite = shape_.own_id ? Overwrite::yes : Overwrite::no;
  for (const std::string_view each : rule.id) {
    // A part of the id that is also the type keeps the value of the type.
    const bool is_type = !each.empty() && each == rule.type;
    place(each, is_type ? shape_.type : id, is_type ? Overwrite::no : overwrite);
  }
  if (made_up() || rule.type.starts_with("header:")) {
    place(rule.type, shape_.type, Overwrite::no);
  }
}

// Some schemes sign values in the body, or store the time or signature there: creates these
// members.
void Draft::prepare_signature(const std::string& id, WallTime now) {
  const Scheme& scheme = shape_.preset->verify;
  for (const std::string_view each : scheme.messages) place_signed_parts(each, id);
  const std::string_view signature = scheme.signatures[0].at;
  if (signature.starts_with("json:")) place(signature, "", Overwrite::no);
  if (!scheme.time.at.starts_with("json:")) return;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const bool in_millis = scheme.time.format == TimeFormat::unix_milliseconds;
  put(root_, pointer_of(scheme.time.at), json::value(in_millis ? seconds * 1000 : seconds),
      Overwrite::yes);
  changed_ = true;
}

// Adds the {json:/pointer} and {json*:/pointer} members of the message that the body lacks.
void Draft::place_signed_parts(std::string_view message, const std::string& value) {
  for (const std::string_view mark : {"{json:", "{json*:"}) {
    for (std::size_t at = message.find(mark); at != message.npos; at = message.find(mark, at + 1)) {
      const std::size_t begin = at + mark.size();
      const std::string_view pointer = message.substr(begin, message.find('}', begin) - begin);
      place("json:" + std::string(pointer), value, Overwrite::no);
    }
  }
}

// Adds ordinary members and padding up to the requested size.
void Draft::fill(const std::string& id) {
  if (!made_up() || is_form()) return;
  place("json:/id", id, Overwrite::no);
  place("json:/type", shape_.type, Overwrite::no);
  place("json:/data/note", "made by hapax send", Overwrite::no);
  constexpr std::string_view kAround = R"(,"padding":"")";
  const std::size_t least = json::serialize(root_).size() + kAround.size();
  if (shape_.size > least) {
    place("json:/padding", std::string(shape_.size - least, 'x'), Overwrite::no);
  }
}

bool Draft::is_form() const {
  return !form_.empty();
}

std::string Draft::text() const {
  if (!made_up()) return is_json_ && changed_ ? json::serialize(root_) : *shape_.body;
  return is_form() ? form_ : json::serialize(root_);
}

Result<ReadyEvent> Draft::sign_for(const std::string& id, WallTime now) {
  const bool untouched = !made_up() && !is_json_;
  identify(id);
  if (!untouched) prepare_signature(id, now);
  fill(id);
  headers_.insert(headers_.begin(),
                  {"Content-Type", is_form() || untouched ? "application/x-www-form-urlencoded"
                                                          : "application/json"});
  const std::string body = text();
  const std::string url = shape_.signed_url + query_;
  std::vector<Header> views;
  for (const OwnedHeader& each : headers_) views.push_back({each.name, each.value});
  std::vector<Header> parameters;
  for (const OwnedHeader& each : shape_.parameters) parameters.push_back({each.name, each.value});
  const Request request{"POST", url, views, body, 0};
  HAPAX_TRY_ASSIGN(made, sign(shape_.preset->verify, shape_.secret, request, id, now,
                              Context{shape_.key_id, parameters}));
  ReadyEvent event{std::move(headers_), std::move(made.body), shape_.target + query_};
  event.headers.insert(event.headers.end(), made.headers.begin(), made.headers.end());
  // Signing can only append to the URL.
  event.target += made.url.substr(std::min(url.size(), made.url.size()));
  return event;
}

}  // namespace

Result<ReadyEvent> make_event(const EventShape& shape, const std::string& id, WallTime now) {
  return Draft(shape).sign_for(id, now);
}

Result<std::string> id_of(const ReadyEvent& event, const Identifier& identifier) {
  std::vector<Header> headers;
  for (const OwnedHeader& each : event.headers) headers.push_back({each.name, each.value});
  const std::string url = "http://localhost" + event.target;
  Scratch scratch;
  const Request request{"POST", url, headers, event.body, 0};
  const Identified found = identifier.identify(request, scratch);
  const bool one = found.reason == Reason::none && !found.items.empty() &&
                   found.items.front().reason == Reason::none;
  if (one) return found.items.front().identity.id;
  const std::string& why = found.items.empty() ? found.detail : found.items.front().detail;
  return Error(Code::misconfigured,
               "the generated event would lack the id of this source (" + why +
                   "); give a real one with --body FILE, as the provider sends it");
}

}  // namespace hapax::cli
