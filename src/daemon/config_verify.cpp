// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/ascii.hpp"
#include "daemon/config_source.hpp"
#include "model/field.hpp"
#include "verify/schemes.hpp"

#include <algorithm>
#include <array>

namespace hapax::daemon {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

template <class T>
struct Word {
  std::string_view word;
  T meaning;
};

enum class Family : std::uint8_t { hmac, hash, token, basic, public_key };

struct SchemeWord {
  std::string_view word;
  Family family;
  Algorithm algorithm;
};

constexpr auto kSchemes = std::to_array<SchemeWord>({
    {"hmac", Family::hmac, Algorithm::hmac_sha256},
    {"hash", Family::hash, Algorithm::sha256},
    {"token", Family::token, Algorithm::token},
    {"basic", Family::basic, Algorithm::basic},
    {"ed25519", Family::public_key, Algorithm::ed25519},
    {"ecdsa", Family::public_key, Algorithm::ecdsa_p256},
    {"rsa", Family::public_key, Algorithm::rsa_sha256},
});

constexpr auto kHashes = std::to_array<Word<Algorithm>>({
    {"md5", Algorithm::hmac_md5},
    {"sha1", Algorithm::hmac_sha1},
    {"sha256", Algorithm::hmac_sha256},
    {"sha384", Algorithm::hmac_sha384},
    {"sha512", Algorithm::hmac_sha512},
});

constexpr auto kEncodings = std::to_array<Word<Encoding>>({
    {"hex", Encoding::hex},
    {"base64", Encoding::base64},
    {"base64url", Encoding::base64url},
});

constexpr auto kSecretForms = std::to_array<Word<SecretForm>>({
    {"text", SecretForm::text},
    {"base64", SecretForm::base64},
    {"hex", SecretForm::hex},
});

constexpr auto kTimeFormats = std::to_array<Word<TimeFormat>>({
    {"unix", TimeFormat::unix_seconds},
    {"unix_ms", TimeFormat::unix_milliseconds},
    {"rfc3339", TimeFormat::rfc3339},
    {"utc", TimeFormat::utc_without_zone},
    {"http_date", TimeFormat::http_date},
});

// Which keys have an effect with which schemes.
constexpr unsigned bit(Family family) {
  return 1U << static_cast<unsigned>(family);
}
constexpr unsigned kKeyed = bit(Family::hmac) | bit(Family::hash);
constexpr unsigned kSigned = kKeyed | bit(Family::public_key);
constexpr unsigned kPlaced = kSigned | bit(Family::token);

struct KeyUse {
  std::string_view name;
  unsigned families;
};
constexpr auto kUses = std::to_array<KeyUse>({
    {"scheme", ~0U},
    {"hash", bit(Family::hmac)},
    {"header", kPlaced},
    {"place", kPlaced},
    {"prefix", kPlaced},
    {"encoding", kSigned},
    {"signed", kSigned},
    {"timestamp", kSigned},
    {"time_format", kSigned},
    {"tolerance", kSigned},
    {"future", kSigned},
    {"secret_encoding", kKeyed},
    {"secret_prefix", kKeyed},
    {"separator", kSigned},
    {"pair", kSigned},
    {"label", kSigned},
    {"time_label", kSigned},
});

template <class Table>
std::string words_of(const Table& table) {
  std::string text;
  for (const auto& each : table) {
    text += (text.empty() ? "\"" : ", \"") + std::string(each.word) + "\"";
  }
  return text;
}

// The entry of `table` that the text names.
template <class Table>
const typename Table::value_type* find_word(const Node& node, const Table& table, Report& report) {
  const std::optional<std::string> text = read_text(node, report);
  if (!text) return nullptr;
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& each) { return each.word == *text; });
  if (found != table.end()) return &*found;
  report.problem(node, in_quotes(*text) + " is unknown; use one of: " + words_of(table));
  return nullptr;
}

template <class T, class Table>
void take_word(const Node& table, std::string_view key, const Table& words, T& into,
               Report& report) {
  const Node* node = table.find(key);
  if (node == nullptr) return;
  if (const auto* found = find_word(*node, words, report)) into = found->meaning;
}

void take_view(const Node& table, std::string_view key, std::string_view& into, Report& report) {
  const Node* node = table.find(key);
  if (node != nullptr && read_text(*node, report)) into = node->text;
}

void take_letter(const Node& table, std::string_view key, char& into, Report& report) {
  const Node* node = table.find(key);
  if (node == nullptr || !read_text(*node, report)) return;
  if (node->text.size() == 1) {
    into = node->text.front();
  } else {
    report.problem(*node,
                   in_quotes(node->text) + " is not a single character; use one, like \",\"");
  }
}

void check_uses(const Node& table, const SchemeWord& scheme, Report& report) {
  for (const Node& member : table.children) {
    for (const KeyUse& use : kUses) {
      if (use.name != member.name || (use.families & bit(scheme.family)) != 0) continue;
      report.problem(member,
                     "has no effect with scheme = \"" + std::string(scheme.word) + "\"; remove it");
    }
  }
}

// Checks the place of a signature.
void check_place(const Node& node, const std::string& place, bool token, Report& report) {
  const Result<Field> field = parse_field(place);
  if (!field) {
    report.problem(node, field.error().detail());
    return;
  }
  const bool usable = field->from == Field::From::header || field->from == Field::From::json ||
                      field->from == Field::From::form;
  if (!usable) {
    report.problem(node,
                   "a signature is in a header, a JSON value or a form field; use "
                   "\"header:NAME\", \"json:/pointer\" or \"form:NAME\"");
  } else if (field->from == Field::From::header && (field->name.find(',') != std::string::npos ||
                                                    (token && field->name.ends_with('*')))) {
    report.problem(node, "write the name of one header");
  }
}

void read_place(const Node& table, bool token, std::deque<std::string>& kept, Scheme& scheme,
                Report& report) {
  const Node* header = table.find("header");
  const Node* place = table.find("place");
  if (header != nullptr && place != nullptr) {
    report.problem(*place,
                   "header already defines the place of the signature; remove one of the two");
    return;
  }
  const Node* given = header != nullptr ? header : place;
  if (given == nullptr) {
    report.problem_of(table, "header", "required: the name of the header with the signature");
    return;
  }
  if (!read_text(*given, report)) return;
  kept.push_back((header != nullptr ? "header:" : "") + given->text);
  scheme.signatures[0].at = kept.back();
  check_place(*given, kept.back(), token, report);
}

// The keys for a signature header with a list, like "t=1760000000,v1=5257a8...".
void read_list_form(const Node& table, SignaturePlace& place, Report& report) {
  take_letter(table, "separator", place.item, report);
  take_letter(table, "pair", place.pair, report);
  take_view(table, "label", place.label, report);
  take_view(table, "time_label", place.time_label, report);
  if (table.find("pair") != nullptr && table.find("separator") == nullptr) {
    report.problem_of(table, "pair", "only valid with separator; add separator");
  }
  for (const std::string_view key : {"label", "time_label"}) {
    if (table.find(key) != nullptr && table.find("pair") == nullptr) {
      report.problem_of(table, key,
                        std::string(key) + " names items like v1=...; add pair = \"=\"");
    }
  }
  if (table.find("pair") != nullptr && table.find("label") == nullptr) {
    report.problem_of(table, "label", "required: the label of signature items, like \"v1\"");
  }
}

// Anyone who captures a request could change an unsigned time.
bool is_time_signed(std::string_view timestamp, std::string_view message) {
  const std::string text = to_lower(std::string(message));
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  if (has("{time}") || has("{headers:")) return true;
  if (timestamp.starts_with("header:")) return has("{" + to_lower(std::string(timestamp)) + "}");
  return timestamp.starts_with("json:") && has("{body");
}

void check_time(const Node& table, const Scheme& scheme, Report& report) {
  const Node& node = *table.find("timestamp");
  const std::string_view at = scheme.time.at;
  if (at == "item") {
    if (scheme.signatures[0].item == 0 || scheme.signatures[0].time_label.empty()) {
      report.problem(
          node, "the time is an item of the signature list; add separator, pair and time_label");
    }
  } else if (!at.starts_with("header:") && !at.starts_with("json:")) {
    report.problem(node, in_quotes(at) +
                             " is not a place of a time; use \"header:NAME\", \"json:/pointer\" or "
                             "\"item\"");
    return;
  } else if (const Result<Field> field = parse_field(at); !field) {
    report.problem(node, field.error().detail());
    return;
  }
  for (const std::string_view message : scheme.messages) {
    if (message.empty() || is_time_signed(at, message)) continue;
    report.problem(node,
                   "the timestamp is not signed: anyone who captures a request could change it; "
                   "add {time} to signed, like signed = \"{time}.{body}\"");
    return;
  }
}

void read_time(const Node& table, Scheme& scheme, Report& report) {
  if (table.find("timestamp") == nullptr) {
    for (const std::string_view key : {"time_format", "tolerance", "future"}) {
      if (table.find(key) == nullptr) continue;
      report.problem_of(
          table, key, "only valid with timestamp; add timestamp = \"header:NAME\", or remove this");
    }
    return;
  }
  scheme.time.past = verify_detail::kWindow;
  scheme.time.future = verify_detail::kFuture;
  take_view(table, "timestamp", scheme.time.at, report);
  take_word(table, "time_format", kTimeFormats, scheme.time.format, report);
  take(table, "tolerance", scheme.time.past, read_duration, milliseconds(seconds(1)), report);
  take(table, "future", scheme.time.future, read_duration, milliseconds(0), report);
  if (!scheme.time.at.empty()) check_time(table, scheme, report);
}

void read_messages(const Node& table, Scheme& scheme, Report& report) {
  scheme.messages[0] = "{body}";
  const Node* node = table.find("signed");
  if (node == nullptr) return;
  const std::vector<const Node*> texts = read_texts(*node, true, report);
  if (texts.size() > scheme.messages.size()) {
    report.problem(*node, "at most two texts, either of which may be signed");
    return;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) scheme.messages[i] = texts[i]->text;
  if (!texts.empty() && !verify_detail::covers_body(scheme)) {
    report.warning(*node,
                   "the body is not signed: anyone who captures a request can change it; add "
                   "{body} if the sender signs it");
  }
}

// A hash of "SECRET BODY" allows length extension without the secret. A hash without a secret can
// be computed by anyone.
void check_plain_hash(const Node& table, const Scheme& scheme, Report& report) {
  for (const std::string_view message : scheme.messages) {
    if (message.empty() || message.ends_with("{secret}")) continue;
    if (message.find("{secret}") == message.npos) {
      report.problem_of(table, "signed",
                        "{secret} is missing: anyone could compute the hash; add {secret} where "
                        "the sender puts it");
      return;
    }
    const Node* const node = table.find("signed");
    report.warning(node != nullptr ? *node : table,
                   "the secret is not last, which allows length extension; bodies with the bytes "
                   "80 00 00 00 are rejected. Prefer scheme = \"hmac\" if the sender supports it");
    return;
  }
}

void read_signed_scheme(const Node& table, Family family, Scheme& scheme, Report& report) {
  read_messages(table, scheme, report);
  take_word(table, "encoding", kEncodings, scheme.signatures[0].encoding, report);
  read_list_form(table, scheme.signatures[0], report);
  read_time(table, scheme, report);
  if (family == Family::public_key) {
    scheme.secret.form = SecretForm::public_key;
    return;
  }
  take_word(table, "hash", kHashes, scheme.algorithm, report);
  take_word(table, "secret_encoding", kSecretForms, scheme.secret.form, report);
  take_view(table, "secret_prefix", scheme.secret.prefix, report);
  if (family == Family::hash) check_plain_hash(table, scheme, report);
}

}  // namespace

std::optional<Scheme> read_verify(const Node& table, std::deque<std::string>& kept,
                                  Report& report) {
  const std::size_t before = report.count();
  check_keys(table, {key_names(kUses)}, report);
  const Node* word = table.find("scheme");
  if (word == nullptr) {
    report.problem_of(table, "scheme", "required; one of: " + words_of(kSchemes));
    return std::nullopt;
  }
  const SchemeWord* chosen = find_word(*word, kSchemes, report);
  if (chosen == nullptr) return std::nullopt;
  check_uses(table, *chosen, report);
  Scheme scheme;
  scheme.algorithm = chosen->algorithm;
  if (chosen->family != Family::basic) {
    read_place(table, chosen->family == Family::token, kept, scheme, report);
    take_view(table, "prefix", scheme.signatures[0].prefix, report);
  }
  if ((bit(chosen->family) & kSigned) != 0) {
    read_signed_scheme(table, chosen->family, scheme, report);
  }
  if (report.count() != before) return std::nullopt;
  return scheme;
}

}  // namespace hapax::daemon
