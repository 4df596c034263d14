// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/base64.hpp"
#include "model/field.hpp"
#include "verify/canonical.hpp"
#include "verify/rewrite.hpp"

#include <hapax/verify.hpp>

#include <algorithm>
#include <array>

namespace hapax {

namespace {

using verify_detail::JsonStyle;
using verify_detail::replaced;
using verify_detail::restyled_json;

constexpr std::size_t kMaxRewritten = 4UL << 20;  // larger bodies are not reserialized
constexpr std::string_view kBom = "\xef\xbb\xbf";

// The verification to explain, which can be repeated with one input changed.
class Case {
 public:
  Case(const Scheme& its_scheme, std::span<const std::string> its_secrets,
       const Request& its_request, WallTime now, const Context& context)
      : scheme(its_scheme),
        secrets(its_secrets),
        request(its_request),
        now_(now),
        context_(context) {}

  Verdict verdict(const Scheme& other, std::span<const std::string> other_secrets,
                  const Request& other_request) const {
    const Result<Verifier> verifier = Verifier::make(other, other_secrets, context_);
    Verdict none;
    none.reason = Reason::signature_invalid;
    if (!verifier) return none;
    Scratch scratch;
    return verifier->verify(other_request, now_, scratch);
  }

  bool is_signed(const Scheme& other, std::span<const std::string> other_secrets,
                 const Request& other_request) const {
    const Reason reason = verdict(other, other_secrets, other_request).reason;
    return reason == Reason::none || reason == Reason::timestamp_outside_window;
  }

  bool is_signed_with_body(std::string_view body) const {
    Request other = request;
    other.body = body;
    other.body_padding = 0;
    return is_signed(scheme, secrets, other);
  }

  bool is_signed_with_url(std::string_view url) const {
    Request other = request;
    other.url = url;
    return is_signed(scheme, secrets, other);
  }

  const Scheme& scheme;
  const std::span<const std::string> secrets;
  const Request& request;

 private:
  const WallTime now_;
  const Context& context_;
};

using Sentences = std::vector<std::string>;

// ---- changes of the body in transit

std::string without_last_line_end(std::string_view body) {
  while (body.ends_with('\n') || body.ends_with('\r')) body.remove_suffix(1);
  return std::string(body);
}

void try_line_ends(const Case& it, Sentences& say) {
  const std::string body(it.request.body);
  const std::string bare = without_last_line_end(body);
  if (bare != body && it.is_signed_with_body(bare)) {
    say.push_back(
        "A line break was appended to the body after signing; without it the signature matches. In "
        "a capture, an editor or shell may have added it; a proxy must not.");
  }
  for (const std::string_view end : {"\n", "\r\n"}) {
    if (it.is_signed_with_body(body + std::string(end))) {
      say.push_back(
          "The final line break of the body was removed; with it the signature matches. Preserve "
          "the raw bytes.");
    }
  }
  if (body.find("\r\n") != body.npos && it.is_signed_with_body(replaced(body, "\r\n", "\n"))) {
    say.push_back("The line breaks of the body were changed from LF to CRLF after signing.");
  }
  const std::string with_crlf = replaced(replaced(body, "\r\n", "\n"), "\n", "\r\n");
  if (with_crlf != body && it.is_signed_with_body(with_crlf)) {
    say.push_back("The line breaks of the body were changed from CRLF to LF after signing.");
  }
}

void try_bom(const Case& it, Sentences& say) {
  const std::string body(it.request.body);
  const bool has_bom = body.starts_with(kBom);
  const std::string other = has_bom ? body.substr(kBom.size()) : std::string(kBom) + body;
  if (!it.is_signed_with_body(other)) return;
  say.push_back(has_bom ? "A byte order mark was prepended to the body after signing."
                        : "The byte order mark of the body, which was signed, was removed.");
}

struct Style {
  std::string_view words;
  JsonStyle style;
};

constexpr std::array<Style, 5> kStyles = {{
    {"compact", {"", "", 0}},
    {"pretty-printed with two spaces", {"", " ", 2}},
    {"pretty-printed with four spaces", {"", " ", 4}},
    {"on one line with a space after commas and colons", {" ", " ", 0}},
    {"on one line with a space after commas", {" ", "", 0}},
}};

bool try_style(const Case& it, const std::string& body, std::string_view words, Sentences& say) {
  if (body == it.request.body || !it.is_signed_with_body(body)) return false;
  say.push_back(
      "The body was parsed and reserialized in transit: the signature matches the same JSON " +
      std::string(words) + ". Pass the raw bytes; do not parse before verification.");
  return true;
}

void try_rewritten_json(const Case& it, Sentences& say) {
  if (it.request.body.size() > kMaxRewritten) return;
  for (const Style& style : kStyles) {
    const std::optional<std::string> body = restyled_json(it.request.body, style.style);
    if (!body) return;
    const std::optional<std::string> ascii = verify_detail::ascii_json(*body);
    if (try_style(it, *body, style.words, say) ||
        try_style(it, replaced(*body, "/", "\\/"),
                  std::string(style.words) + " with slashes escaped", say) ||
        try_style(it, replaced(*body, "\\/", "/"),
                  std::string(style.words) + " with slashes not escaped", say) ||
        (ascii &&
         (try_style(it, replaced(*ascii, "\\/", "/"),
                    std::string(style.words) + " with \\u escapes", say) ||
          try_style(it, *ascii, std::string(style.words) + " with \\u escapes and slashes escaped",
                    say)))) {
      return;
    }
  }
}

// ---- secrets in another encoding

Scheme with_form(Scheme scheme, SecretForm form, std::string_view prefix) {
  scheme.secret = {.form = form, .prefix = prefix};
  return scheme;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kSpaces) - first + 1));
}

template <class Change>
std::vector<std::string> changed(std::span<const std::string> secrets, Change change) {
  std::vector<std::string> others;
  for (const std::string& secret : secrets) others.push_back(change(secret));
  return others;
}

void try_secrets(const Case& it, Sentences& say) {
  struct Way {
    SecretForm form;
    std::string_view prefix;
    std::string_view words;
  };
  constexpr std::array<Way, 5> kWays = {{
      {SecretForm::text, "", "as text, whole"},
      {SecretForm::text, "whsec_", "as text, without whsec_"},
      {SecretForm::base64, "", "as base64"},
      {SecretForm::base64, "whsec_", "as base64, without whsec_"},
      {SecretForm::hex, "", "as hexadecimal"},
  }};
  const bool symmetric = it.scheme.secret.form != SecretForm::public_key;
  for (const Way& way : kWays) {
    if (!symmetric ||
        !it.is_signed(with_form(it.scheme, way.form, way.prefix), it.secrets, it.request)) {
      continue;
    }
    say.push_back("The signature matches if the secret is decoded " + std::string(way.words) +
                  ". This preset decodes it differently; is it the right preset?");
    return;
  }
  if (it.is_signed(it.scheme, changed(it.secrets, trimmed), it.request)) {
    say.push_back("The secret has leading or trailing spaces or a line break. Remove it.");
  }
  const auto with_prefix = [](const std::string& secret) { return "whsec_" + secret; };
  if (it.is_signed(it.scheme, changed(it.secrets, with_prefix), it.request)) {
    say.push_back("The secret lacks its prefix whsec_.");
  }
}

// ---- the URL

void try_urls(const Case& it, Sentences& say) {
  const std::string url(it.request.url);
  const std::string bare = url.substr(0, url.find('?'));
  const std::array<std::string, 6> others = {
      replaced(url, "http://", "https://"), replaced(url, "https://", "http://"),
      verify_detail::url_without_port(url), verify_detail::url_with_port(url),
      bare + "/" + url.substr(bare.size()), bare,
  };
  for (const std::string& other : others) {
    if (other == url || !it.is_signed_with_url(other)) continue;
    std::string sentence = "The sender signed a different URL than ";
    sentence.append(url).append(": ").append(other);
    say.push_back(sentence.append(". Set public_url to the URL the sender calls."));
    return;
  }
}

// ---- another provider

bool has_place(const Preset& preset, const Request& request) {
  for (const SignaturePlace& place : preset.verify.signatures) {
    constexpr std::string_view kHeader = "header:";
    if (!place.at.starts_with(kHeader)) continue;
    const std::string_view name = place.at.substr(kHeader.size());
    if (find_header(request, name).status == FieldStatus::found) return true;
  }
  return false;
}

void try_presets(const Case& it, Sentences& say) {
  std::string candidates;
  for (const Preset& preset : presets()) {
    const bool token =
        preset.verify.algorithm == Algorithm::token || preset.verify.algorithm == Algorithm::none;
    if (token || !has_place(preset, it.request)) continue;
    if (it.is_signed(preset.verify, it.secrets, it.request)) {
      say.push_back("The signature matches with preset '" + std::string(preset.name) + "'.");
      return;
    }
    const bool same_place = preset.verify.signatures[0].at == it.scheme.signatures[0].at;
    if (!same_place && candidates.size() < 200) {
      candidates += (candidates.empty() ? "" : ", ") + std::string(preset.name);
    }
  }
  if (!candidates.empty()) {
    say.push_back("The request has signature headers of these presets: " + candidates +
                  ". Is it from another provider?");
  }
}

void explain_missing(const Case& it, Sentences& say) {
  constexpr std::string_view kHeader = "header:";
  for (const SignaturePlace& place : it.scheme.signatures) {
    if (!place.at.starts_with(kHeader)) continue;
    say.push_back("The header '" + std::string(place.at.substr(kHeader.size())) +
                  "' is missing. A proxy may have removed it, or the capture is incomplete.");
  }
}

void explain_invalid(const Case& it, Sentences& say) {
  try_line_ends(it, say);
  try_bom(it, say);
  try_rewritten_json(it, say);
  try_secrets(it, say);
  try_urls(it, say);
  try_presets(it, say);
  if (say.empty()) {
    say.push_back(
        "No common body change or secret encoding explains the mismatch; most likely the secret "
        "belongs to another endpoint or was rotated.");
  }
}

}  // namespace

std::vector<std::string> explain(const Scheme& scheme, std::span<const std::string> secrets,
                                 const Request& request, WallTime now, const Context& context) {
  Sentences say;
  if (const Result<Verifier> made = Verifier::make(scheme, secrets, context); !made) {
    say.push_back(made.error().detail());
    return say;
  }
  const Case it(scheme, secrets, request, now, context);
  const Verdict verdict = it.verdict(scheme, secrets, request);
  switch (verdict.reason) {
    case Reason::none:
      return say;
    case Reason::timestamp_outside_window:
      say.push_back("The signature matches but the time is outside the window: " + verdict.detail +
                    ". Unless this is an old capture, fix this machine's clock (NTP).");
      return say;
    case Reason::signature_missing:
      explain_missing(it, say);
      try_presets(it, say);
      return say;
    case Reason::signature_invalid:
      explain_invalid(it, say);
      return say;
    default:
      say.push_back(verdict.detail + ".");
      return say;
  }
}

}  // namespace hapax
