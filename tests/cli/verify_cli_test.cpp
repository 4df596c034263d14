// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// `hapax verify`, `sign` and `presets`, with the real binary.
#include "support/sanitizer.hpp"
#include "support/world.hpp"
#include "verify/keys.hpp"

#include <hapax/verify.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <boost/json.hpp>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace hapax {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

struct Ran {
  int exit_code;
  std::string out;
  std::string err;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class VerifyCli : public testing::Test {
 protected:
  Ran hapax(const std::string& arguments) const {
    const std::string err = directory_.file("err");
    const std::string command = std::string(HAPAX_BINARY) + " " + arguments + " 2>" + err;
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
    const int status = pclose(pipe);
    test::expect_no_report(read_file(err));
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out, read_file(err)};
  }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = directory_.file(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // Signs `body`, builds a captured request from it, and verifies it with `secret`.
  json::object sign_and_verify(const std::string& preset, const std::string& signing_secret,
                               const std::string& secret, const std::string& body,
                               const std::string& more = "") const;

  test::TempDir directory_;
};

constexpr std::string_view kUrl = "https://hooks.example.com/in/x?a=1";

std::string shell_word(std::string_view text) {
  return "'" + std::string(text) + "'";
}

json::object VerifyCli::sign_and_verify(const std::string& preset,
                                        const std::string& signing_secret,
                                        const std::string& secret, const std::string& body,
                                        const std::string& more) const {
  const std::string common =
      " --preset " + preset + " --now 1760000000 --url " + shell_word(kUrl) + " " + more;
  const std::string body_file = write("body", body);
  const std::string body_out = directory_.file("signed-body");
  const Ran signed_by = hapax("sign" + common + " --secret " + shell_word(signing_secret) +
                              " --body " + body_file + " --body-out " + body_out);
  EXPECT_EQ(signed_by.exit_code, 0) << signed_by.out << signed_by.err;
  const std::string request = "POST /in/x?a=1 HTTP/1.1\r\nHost: hooks.example.com\r\n" +
                              signed_by.out + "\r\n" + read_file(body_out);
  const Ran verified = hapax("verify --json" + common + " --secret " + shell_word(secret) + " " +
                             write("request", request));
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err << request;
  return json::parse(verified.out).as_object();
}

TEST_F(VerifyCli, SignAndVerifyRoundTrip) {
  const std::string body = R"({"id":"evt_1","type":"invoice.paid","event_id":"evt_1"})";
  for (const std::string preset : {"stripe", "github", "slack", "shopify", "square", "paddle",
                                   "linear", "hubspot-v1", "telegram", "recurly", "sanity",
                                   "trello", "vercel", "paystack", "orb", "zendesk", "klaviyo"}) {
    SCOPED_TRACE(preset);
    const std::string its_body =
        preset == "linear" ? R"({"webhookTimestamp":1760000000000})" : body;
    const json::object answer = sign_and_verify(preset, "s3cret", "s3cret", its_body);
    EXPECT_EQ(answer.at("verdict").as_string(), "valid");
    EXPECT_EQ(answer.at("secret").as_int64(), 1);
  }
  const std::string whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  for (const char* preset : {"standard-webhooks", "svix", "openai"}) {
    const json::object answer = sign_and_verify(preset, whsec, whsec, body, "--key-id k");
    EXPECT_EQ(answer.at("verdict").as_string(), "valid") << preset;
  }
  const std::string mail = R"({"signature":{"timestamp":"1","token":"t","signature":""}})";
  EXPECT_EQ(sign_and_verify("mailgun", "s", "s", mail).at("verdict").as_string(), "valid");
}

TEST_F(VerifyCli, SignsWithAPrivateKeyAndVerifiesWithThePublicKey) {
  const test::KeyPair ed25519 = test::make_ed25519();
  const json::object answer =
      sign_and_verify("discord", ed25519.private_pem, ed25519.public_pem, R"({"id":"1"})");
  EXPECT_EQ(answer.at("verdict").as_string(), "valid");
}

TEST_F(VerifyCli, ReadsStandardInputAndPrintsTheEvent) {
  const Ran signed_by = hapax("sign --preset stripe --secret s --now 1760000000 --body " +
                              write("b", R"({"id":"e9"})"));
  const std::string request =
      write("r", "POST / HTTP/1.1\nHost: h\n" + signed_by.out + "\n{\"id\":\"e9\"}");
  const Ran ran =
      hapax("verify --preset stripe --secret x --secret s --now 1760000000 < " + request);
  EXPECT_EQ(ran.exit_code, 0);
  const json::object answer = json::parse(ran.out).as_object();
  EXPECT_EQ(answer.at("events").at(0).at("id").as_string(), "e9");
  EXPECT_EQ(answer.at("secret").as_int64(), 2);
}

TEST_F(VerifyCli, ExplainsAFailureWithoutTheSecret) {
  const Ran signed_by = hapax(
      "sign --preset stripe --secret s3cret-s3cret --now 1760000000 --body " + write("b", "{}"));
  const std::string request = write("r", "POST / HTTP/1.1\n" + signed_by.out + "\n{}\n");
  const Ran ran =
      hapax("verify --preset stripe --secret s3cret-s3cret --now 1760000000 " + request);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("signature-invalid"));
  EXPECT_THAT(ran.out, HasSubstr("A line break was appended"));
  const Ran late = hapax("verify --preset stripe --secret s3cret-s3cret --now 1760000999 " +
                         write("r2", "POST / HTTP/1.1\n" + signed_by.out + "\n{}"));
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.out, HasSubstr("999 s ago"));
  for (const Ran& each : {signed_by, ran, late}) {
    EXPECT_THAT(each.out + each.err, testing::Not(HasSubstr("s3cret-s3cret")));
  }
}

TEST_F(VerifyCli, AcceptsARequestLineWithAnAbsoluteUrl) {
  const Ran signed_by = hapax(
      "sign --preset square --secret s --url https://h.example.com/x --body " + write("b", "{}"));
  const std::string request = write(
      "r", "POST https://h.example.com/x HTTP/1.1\nHost: h.example.com\n" + signed_by.out + "\n{}");
  EXPECT_EQ(hapax("verify --preset square --secret s " + request).exit_code, 0);
}

TEST_F(VerifyCli, WrongUsageIsExitCodeTwoAndShowsNoSecret) {
  const std::string request = write("r", "POST / HTTP/1.1\n\n{}");
  for (const std::string& arguments :
       {"verify --secret s3cret-s3cret " + request,
        "verify --preset nope --secret s3cret-s3cret " + request,
        "verify --preset stripe " + request,
        "verify --preset stripe --secret s3cret-s3cret --now soon " + request,
        "verify --preset standard-webhooks --secret 's3cret-s3cret!' " + request,
        "verify --preset paypal --secret s3cret-s3cret --param novalue " + request,
        "verify --preset stripe --secret s3cret-s3cret " + write("e", "no request"),
        "sign --preset stripe --secret a --secret s3cret-s3cret --body " + request}) {
    const Ran ran = hapax(arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments << ran.out << ran.err;
    EXPECT_THAT(ran.out + ran.err, testing::Not(HasSubstr("s3cret-s3cret"))) << arguments;
  }
  EXPECT_THAT(hapax("verify --preset stripes --secret s " + request).err, HasSubstr("stripe"));
}

// Vectors.

TEST_F(VerifyCli, RunsVectorsAndPrintsOneLineEach) {
  // Excludes a vector that expects an id that is not in its request.
  std::istringstream all(read_file(HAPAX_TEST_DATA "/signatures.jsonl"));
  std::string kept;
  std::vector<json::object> asked;
  for (std::string line; std::getline(all, line);) {
    if (line.find("twilio/twilio-form/header-names-lowercase") != line.npos) continue;
    kept += line + "\n";
    asked.push_back(json::parse(line).as_object());
  }
  const Ran ran = hapax("verify --vectors " + write("v", kept));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(std::to_string(asked.size()) + " vectors"));
  EXPECT_THAT(ran.err, HasSubstr("0 not as expected"));
  std::istringstream lines(ran.out);
  std::size_t i = 0;
  for (std::string line; std::getline(lines, line); ++i) {
    const json::object answer = json::parse(line).as_object();
    ASSERT_LT(i, asked.size());
    for (const char* field : {"provider", "scheme", "case"}) {
      EXPECT_EQ(answer.at(field), asked[i].at(field));
    }
    EXPECT_TRUE(answer.at("reason").is_string());
    EXPECT_TRUE(answer.at("event_id").is_string() || answer.at("event_id").is_null());
    const std::string verdict(answer.at("verdict").as_string());
    EXPECT_TRUE(verdict == "valid" || verdict == "invalid" || verdict == "unsupported");
  }
  EXPECT_EQ(i, asked.size());
}

TEST_F(VerifyCli, AFailedVectorIsExitCodeOne) {
  std::istringstream all(read_file(HAPAX_TEST_DATA "/signatures.jsonl"));
  std::string first;
  std::getline(all, first);
  std::string corrupted = first;
  corrupted.replace(corrupted.find("v1,VBLx"), 7, "v1,AAAA");
  const Ran ran = hapax("verify --vectors " + write("v", first + "\n" + corrupted + "\n"));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err,
              HasSubstr("2 vectors: 1 valid, 1 invalid, 0 unsupported; 1 not as expected"));
  std::string wrong_id = first;
  wrong_id.replace(wrong_id.find(R"("event_id":"msg_)"), 16, R"("event_id":"gsm_)");
  EXPECT_EQ(hapax("verify --vectors " + write("w", wrong_id + "\n")).exit_code, 1);
  EXPECT_EQ(hapax("verify --vectors " + write("x", "{}\n")).exit_code, 1);
  EXPECT_EQ(hapax("verify --vectors " + directory_.file("none")).exit_code, 1);
  EXPECT_EQ(hapax("verify --vectors " + write("empty", "")).exit_code, 0);
}

// Presets.

TEST_F(VerifyCli, TheProvidersPageIsGeneratedFromTheTable) {
  const Ran ran = hapax("presets --markdown");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, read_file(HAPAX_SOURCE_DIR "/docs/providers.md"))
      << "run: hapax presets --markdown > docs/providers.md";
}

TEST_F(VerifyCli, PresetsAreListedAndShown) {
  const Ran all = hapax("presets --json");
  std::istringstream lines(all.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const json::object preset = json::parse(line).as_object();
    EXPECT_TRUE(preset.at("id_signed").is_bool());
    EXPECT_TRUE(preset.at("time_signed").is_bool());
  }
  EXPECT_EQ(count, presets().size());
  const Ran one = hapax("presets stripe --json");
  EXPECT_EQ(json::parse(one.out).as_object().at("name").as_string(), "stripe");
  EXPECT_EQ(hapax("presets nope").exit_code, 2);
}

}  // namespace
}  // namespace hapax
