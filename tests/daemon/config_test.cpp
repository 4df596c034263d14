// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config.hpp"

#include "base/base64.hpp"
#include "daemon/limits.hpp"

#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>

namespace hapax::daemon {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::optional<std::string> variable(const std::string& name) {
  if (name == "SET") return "a secret of the environment";
  if (name == "EMPTY") return "";
  if (name == "STRIPE_SECRET" || name == "STRIPE_SECRET_OLD") return "whsec_of_" + name;
  if (name == "HAPAX_ADMIN_TOKEN") return "token-of-the-environment";
  return std::nullopt;
}

class ConfigTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.file(name), std::ios::binary) << text;
    return directory_.file(name);
  }

  Loaded load(const std::string& text, mode_t mode = 0600) {
    const std::string path = write("hapax.toml", text);
    chmod(path.c_str(), mode);
    return load_config(path, variable);
  }

  // `text` without the temporary directory.
  std::string shown(std::string text) const {
    const std::string prefix = directory_.path().string() + "/";
    for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix)) {
      text.erase(at, prefix.size());
    }
    return text;
  }

  std::vector<std::string> problems(const std::string& text) {
    std::vector<std::string> list;
    const Loaded loaded = load(text);
    EXPECT_EQ(loaded.config.has_value(), loaded.problems.empty()) << text;
    for (const Problem& each : loaded.problems) list.push_back(shown(each.to_string()));
    return list;
  }

  test::TempDir directory_;
};

const std::string kGood =
    "[[source]]\nname = 'a'\nverify = { scheme = 'hmac', header = 'X-S' }\n"
    "secrets = ['hunter2']\nid = 'json:/id'\n";

// A valid source with `lines` after name, verify, secrets and id, from line 6 on.
std::string with(const std::string& lines) {
  return kGood + lines + "\n";
}

// A source with `inside` in the verify = { ... } of its line 3.
std::string verify(const std::string& inside, const std::string& secrets = "['hunter2']") {
  return "[[source]]\nname = 'a'\nverify = { " + inside + " }\nsecrets = " + secrets +
         "\nid = 'json:/id'\n";
}

std::string preset(const std::string& name, const std::string& more = "") {
  return "[[source]]\nname = 'a'\npreset = '" + name + "'\nsecrets = ['hunter2']\n" + more;
}

TEST_F(ConfigTest, LimitsOfTheServerAreRead) {
  const Loaded loaded = load(R"(
[server]
max_connections = 100
max_connections_per_address = 10
idle_timeout = "1m"
header_timeout = "2s"
body_timeout = "3s"
write_timeout = "4s"
)");
  ASSERT_TRUE(loaded.config);
  const ServerLimits& limits = loaded.config->limits;
  EXPECT_EQ(limits.connections, 100U);
  EXPECT_EQ(limits.per_address, 10U);
  EXPECT_EQ(limits.idle, std::chrono::minutes(1));
  EXPECT_EQ(limits.header, std::chrono::seconds(2));
  EXPECT_EQ(limits.body, std::chrono::seconds(3));
  EXPECT_EQ(limits.write, std::chrono::seconds(4));
}

TEST_F(ConfigTest, TheTimeoutOfTheStoreIsRead) {
  const Loaded loaded = load("[store]\nurl = \"memory:\"\ntimeout = \"30s\"\n");
  ASSERT_TRUE(loaded.config);
  EXPECT_EQ(loaded.config->store_timeout, std::chrono::seconds(30));
}

// Connections never use up the file descriptors that the store needs.
TEST_F(ConfigTest, ConnectionLimitsFollowTheDescriptorLimit) {
  const DescriptorBudget many = descriptor_budget({}, 20'000);
  EXPECT_EQ(many.listen.limiter.connections, 16'384U);
  EXPECT_EQ(many.listen.limiter.connections_per_address, 12'288U);
  EXPECT_EQ(many.admin.limiter.connections, 1024U);
  EXPECT_EQ(many.admin.limiter.connections_per_address, 768U);
  const DescriptorBudget few = descriptor_budget({}, 1024);
  EXPECT_LE(few.listen.limiter.connections + few.admin.limiter.connections + 100, 1024U);
  EXPECT_LT(few.listen.limiter.connections_per_address, few.listen.limiter.connections);
  EXPECT_GT(few.admin.limiter.connections, 0U);
  ServerLimits wanted;
  wanted.per_address = 5;
  EXPECT_EQ(descriptor_budget(wanted, 1024).listen.limiter.connections_per_address, 5U);
  // Deliveries reserve descriptors too, but at most half of them.
  EXPECT_EQ(descriptor_budget({}, 1024, 400).listen.limiter.connections, 372U);
  EXPECT_EQ(descriptor_budget({}, 1024, 100'000).listen.limiter.connections, 336U);
}

TEST_F(ConfigTest, ACompleteFileLoads) {
  const Loaded loaded = load(R"(
[server]
listen = "127.0.0.1:0"
admin  = "[::1]:8421"
data_dir = "data"
public_url = "https://hooks.example.com/"
max_body = "1MiB"

[admin]
token = { env = "HAPAX_ADMIN_TOKEN" }
names = ["Hapax.Internal"]

[store]
url = "sqlite:hapax.db"

[[source]]
name = "stripe"
preset = "stripe"
secrets = [{ env = "STRIPE_SECRET" }, { env = "STRIPE_SECRET_OLD" }]
deliver_to = ["orders"]
remember = "40d"

[[source]]
name = "ours"
secrets = ["plain text works too"]
id = ["json:/id", "json:/account"]
type = "json:/type"
order_key = "json:/data/object/id"
version = "json:/data/object/updated"
deliver_to = ["orders", "audit"]
keep = "7d"
keep_dead = "60d"
sender_retries = "24h"
ack = { status = 202, body = "ok", content_type = "text/plain" }
max_body = 65536
[source.verify]
scheme = "hmac"
hash = "sha256"
header = "X-Signature"
prefix = "sha256="
encoding = "hex"
signed = "{header:X-Timestamp}.{body}"
timestamp = "header:X-Timestamp"
tolerance = "5m"

[[destination]]
name = "orders"
kind = "pull"

[[destination]]
name = "audit"
kind = "pull"
)");
  for (const Problem& each : loaded.problems) ADD_FAILURE() << each.to_string();
  EXPECT_THAT(loaded.warnings, IsEmpty());
  ASSERT_TRUE(loaded.config);
  const Config& config = *loaded.config;
  EXPECT_EQ(config.listen.port, 0);
  EXPECT_EQ(config.admin.host, "::1");
  EXPECT_EQ(config.data_dir, directory_.file("data"));
  EXPECT_EQ(config.public_url, "https://hooks.example.com");
  EXPECT_EQ(config.admin_token, "token-of-the-environment");
  EXPECT_THAT(config.admin_names, ElementsAre("hapax.internal"));
  EXPECT_EQ(config.store_url.text, "sqlite:" + directory_.file("hapax.db"));
  ASSERT_EQ(config.sources.size(), 2U);
  const gateway::Source& stripe = config.sources[0];
  EXPECT_EQ(stripe.name, "stripe");
  EXPECT_EQ(stripe.preset, hapax::preset("stripe"));
  EXPECT_EQ(stripe.secrets.size(), 2U);
  EXPECT_EQ(stripe.remember, hours(40 * 24));
  EXPECT_EQ(stripe.keep, kDefaultTtl);
  EXPECT_EQ(stripe.max_body, 1024U * 1024);
  const gateway::Source& ours = config.sources[1];
  EXPECT_EQ(ours.preset, nullptr);
  EXPECT_EQ(ours.keep, hours(7 * 24));
  EXPECT_EQ(ours.keep_dead, hours(60 * 24));
  EXPECT_EQ(ours.max_body, 65536U);
  ASSERT_TRUE(ours.ack);
  EXPECT_EQ(ours.ack->status, 202);
  EXPECT_EQ(ours.ack->content_type, "text/plain");
  EXPECT_THAT(ours.deliver_to, ElementsAre("orders", "audit"));
  EXPECT_EQ(config.destinations.size(), 2U);
}

TEST_F(ConfigTest, AnEmptyFileMeansTheDefaults) {
  const Loaded loaded = load("");
  ASSERT_TRUE(loaded.config);
  EXPECT_EQ(loaded.config->listen.port, 8420);
  EXPECT_EQ(loaded.config->admin.port, 8421);
  EXPECT_EQ(loaded.config->store_url.text, "sqlite:" + directory_.file("hapax.db"));
  EXPECT_EQ(loaded.config->store_timeout, std::nullopt);
  EXPECT_EQ(loaded.config->data_dir, directory_.path().string());
}

TEST_F(ConfigTest, RelativePathsInTheCurrentDirectoryStayShort) {
  const Loaded loaded = load_config("no-such-hapax.toml", variable);
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_EQ(loaded.problems[0].to_string(),
            "no-such-hapax.toml: the file does not exist; create one with 'hapax init'");
}

TEST_F(ConfigTest, TheExampleOfTheDocumentationLoads) {
  std::ifstream file(HAPAX_SOURCE_DIR "/docs/configuration.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t start = text.find("```toml\n");
  ASSERT_NE(start, text.npos);
  const std::size_t end = text.find("```\n", start + 8);
  write("ours.secret", "hunter2\n");
  write("orders.key", "hunter3\n");
  const Loaded loaded = load(text.substr(start + 8, end - start - 8));
  for (const Problem& each : loaded.problems) ADD_FAILURE() << each.to_string();
  ASSERT_TRUE(loaded.config);
  EXPECT_EQ(loaded.config->sources.size(), 2U);
}

TEST_F(ConfigTest, HeadersThatContainTheSecretAreListed) {
  const Loaded token = load(verify("scheme = 'token', header = 'X-Token'"));
  ASSERT_TRUE(token.config);
  EXPECT_THAT(token.config->sources[0].secret_headers, ElementsAre("X-Token"));
  const Loaded basic = load(verify("scheme = 'basic'", "['user:password']"));
  ASSERT_TRUE(basic.config);
  EXPECT_THAT(basic.config->sources[0].secret_headers, ElementsAre("authorization"));
  const Loaded gitlab = load(preset("gitlab-token"));
  ASSERT_TRUE(gitlab.config) << gitlab.problems[0].to_string();
  EXPECT_THAT(gitlab.config->sources[0].secret_headers, ElementsAre("x-gitlab-token"));
  const Loaded hmac = load(kGood);
  ASSERT_TRUE(hmac.config);
  EXPECT_THAT(hmac.config->sources[0].secret_headers, IsEmpty());
}

TEST_F(ConfigTest, AConfiguredSchemeVerifiesItsRequests) {
  const Loaded loaded = load(
      verify("scheme = 'hmac', hash = 'sha1', header = 'X-Sig', encoding = 'base64', separator = "
             "',', pair = '=', label = 'v1', time_label = 't', timestamp = 'item', tolerance = "
             "'5m', signed = '{time}.{body}', secret_encoding = 'hex'",
             "['00ff', '0102']"));
  ASSERT_TRUE(loaded.config) << loaded.problems[0].to_string();
  Scheme scheme;
  scheme.algorithm = Algorithm::hmac_sha1;
  scheme.signatures[0] = {.at = "header:X-Sig",
                          .encoding = Encoding::base64,
                          .item = ',',
                          .pair = '=',
                          .label = "v1",
                          .time_label = "t"};
  scheme.messages[0] = "{time}.{body}";
  scheme.time = {.at = "item"};
  scheme.secret.form = SecretForm::hex;
  const WallTime now(std::chrono::seconds(1'760'000'000));
  const Request plain{.body = "{}"};
  const Result<Signed> sent = sign(scheme, "0102", plain, "id", now);
  ASSERT_TRUE(sent) << sent.error().to_string();
  std::vector<Header> headers;
  for (const OwnedHeader& each : sent->headers) headers.push_back({each.name, each.value});
  const Request request{.headers = headers, .body = "{}"};
  Scratch scratch;
  const Verifier& verifier = loaded.config->sources[0].verifier;
  const Verdict good = verifier.verify(request, now, scratch);
  EXPECT_TRUE(good.authentic()) << good.detail;
  EXPECT_EQ(good.secret, 1U);
  EXPECT_EQ(verifier.verify(request, now + std::chrono::minutes(6), scratch).reason,
            Reason::timestamp_outside_window);
}

TEST_F(ConfigTest, SecretsFromFilesLoseTheirLastLineEnd) {
  write("one", "from a file\n");
  write("two", "two lines\n\n");
  const Loaded loaded = load(verify("scheme = 'hmac', header = 'X-S'",
                                    "[{ file = 'one' }, { file = 'two' }, { env = 'SET' }, 'x']"));
  ASSERT_TRUE(loaded.config);
  EXPECT_THAT(loaded.config->sources[0].secrets,
              ElementsAre("from a file", "two lines\n", "a secret of the environment", "x"));
}

TEST_F(ConfigTest, APresetIsOverriddenByTheFile) {
  const Loaded loaded = load(preset("adyen-banking", "id_fallback = 'hash:/a,/b'\n"));
  EXPECT_FALSE(loaded.config);  // the secret of this preset must be hexadecimal
  const Loaded good = load(
      "[[source]]\nname = 'a'\npreset = 'buildkite'\nsecrets = ['x']\nid_fallback = 'hash:/a'\n");
  EXPECT_TRUE(good.config);
  const Loaded splits = load(
      "[[source]]\nname='a'\npreset='attio'\nsecrets=['x']\nsplit='json:/events/*'\nid='json:/id'");
  ASSERT_TRUE(splits.config);
  EXPECT_TRUE(splits.config->sources[0].splits);
}

TEST_F(ConfigTest, KeepIsNeverLongerThanRememberUnlessConfigured) {
  const Loaded loaded = load(with("remember = '7d'"));
  ASSERT_TRUE(loaded.config);
  EXPECT_EQ(loaded.config->sources[0].keep, hours(7 * 24));
}

// A compressed body counts with its decompressed size if the sender signs the decompressed body.
TEST_F(ConfigTest, MaxBodyBoundsDecompressedBodies) {
  const std::string packed =
      *from_base64("H4sIAAAAAAACA1NQGAWjYBSMglEwCkbBUAcAKsoWVdAHAAA=");  // 2000 spaces
  const auto reason = [&](const std::string& max_body) {
    const Loaded loaded = load(
        "[[source]]\nname = 'a'\npreset = 'stream-chat'\nsecrets = ['1']\n"
        "max_body = " +
        max_body + "\n");
    EXPECT_TRUE(loaded.config);
    const std::array<Header, 2> headers = {{{"X-Signature", "00"}, {"Content-Encoding", "gzip"}}};
    Scratch scratch;
    const Request request{.url = "https://h/", .headers = headers, .body = packed};
    return loaded.config->sources[0].verifier.verify(request, WallTime(), scratch).reason;
  };
  EXPECT_EQ(reason("1999"), Reason::body_too_large);
  EXPECT_EQ(reason("2000"), Reason::signature_invalid);
}

TEST_F(ConfigTest, WarnsAboutWorldReadableSecrets) {
  EXPECT_THAT(load(kGood, 0600).warnings, IsEmpty());
  EXPECT_THAT(load(kGood, 0640).warnings, IsEmpty());
  const Loaded open = load(kGood, 0644);
  EXPECT_TRUE(open.config);
  ASSERT_EQ(open.warnings.size(), 1U);
  EXPECT_EQ(shown(open.warnings[0].to_string()),
            "hapax.toml: the file contains secrets and is world-readable; run chmod o-rwx on it, "
            "or use { env = ... } or { file = ... }");
  const std::string hidden = verify("scheme = 'hmac', header = 'X-S'", "[{ env = 'SET' }]");
  EXPECT_THAT(load(hidden, 0644).warnings, IsEmpty());
  EXPECT_EQ(load("[store]\nurl = 'postgres://u:pw@h/d'", 0644).warnings.size(), 1U);
  EXPECT_THAT(load("[store]\nurl = 'postgres://u@h/d'", 0644).warnings, IsEmpty());
}

TEST_F(ConfigTest, WarnsAboutAWorldReadableTlsKey) {
  const std::string pem = "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n";
  std::ofstream(directory_.file("cert.pem")) << pem;
  std::ofstream(directory_.file("key.pem")) << pem;
  const std::string tls = "[server]\ntls = { cert = 'cert.pem', key = 'key.pem' }\n";
  chmod(directory_.file("cert.pem").c_str(), 0644);
  chmod(directory_.file("key.pem").c_str(), 0640);
  EXPECT_THAT(load(tls).warnings, IsEmpty());
  chmod(directory_.file("key.pem").c_str(), 0644);
  const Loaded open = load(tls);
  EXPECT_TRUE(open.config);
  ASSERT_EQ(open.warnings.size(), 1U);
  EXPECT_EQ(shown(open.warnings[0].to_string()),
            "hapax.toml:2: server.tls.key: other users of this machine can read the private key in "
            "'key.pem'; run chmod o-rwx on it");
}

TEST_F(ConfigTest, WarnsAboutAnExposedAdminListener) {
  const std::string outside = "[server]\nadmin = '0.0.0.0:8421'\ninsecure = true\n";
  const Loaded insecure = load(outside);
  EXPECT_TRUE(insecure.config);
  ASSERT_EQ(insecure.warnings.size(), 1U);
  EXPECT_EQ(insecure.warnings[0].field, "server.insecure");
  EXPECT_THAT(load("[server]\ninsecure = true\n").warnings, IsEmpty()) << "listens on loopback";
  const Loaded guessed = load(
      "[admin]\ntoken = 'x'\n[[token]]\nname = 'a'\nsecret = 'y'\n"
      "allow = ['read']\n");
  EXPECT_TRUE(guessed.config);
  ASSERT_EQ(guessed.warnings.size(), 2U);
  EXPECT_EQ(guessed.warnings[0].field, "admin.token");
  EXPECT_EQ(guessed.warnings[1].field, "token[1].secret");
  EXPECT_THAT(guessed.warnings[0].text, testing::HasSubstr("can be guessed"));
  EXPECT_THAT(load("[admin]\ntoken = 'sixteen-letters!'\n").warnings, IsEmpty());
}

TEST_F(ConfigTest, WarnsAboutSourcesWithoutVerification) {
  const Loaded loaded = load("[[source]]\nname = 'a'\nverify = 'none'\nid = 'none'\n");
  ASSERT_TRUE(loaded.config);
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_EQ(
      shown(loaded.warnings[0].to_string()),
      "hapax.toml:3: source[1].verify: no verification: anyone who knows the URL can send events");
  EXPECT_TRUE(load("[[source]]\nname='a'\npreset='monday'\nverify='none'\n").config);
}

TEST_F(ConfigTest, AllProblemsAreReportedByLine) {
  EXPECT_THAT(
      problems("[server]\nlisten = 'x'\nmaxbody = 1\n\n[[source]]\nname = '..'\n"
               "preset = 'stripe'\nsecrets = [{ env = 'NOPE' }, '']\nremember = '1'\n"
               "deliver_to = ['work']\nack = { status = 500 }\n"),
      ElementsAre(HasSubstr(":2: server.listen: "), HasSubstr(":3: server.maxbody: "),
                  HasSubstr(":6: source[1].name: "), HasSubstr(":8: source[1].secrets[1].env: "),
                  HasSubstr(":8: source[1].secrets[2]: "), HasSubstr(":9: source[1].remember: "),
                  HasSubstr(":10: source[1].deliver_to[1]: "),
                  HasSubstr(":11: source[1].ack.status: ")));
}

TEST_F(ConfigTest, NoMessageShowsASecret) {
  const std::string secret = "hunter2hunter2";
  for (const std::string& text :
       {"secrets = [" + secret + "]", "secrets = " + secret, "secrets = ['" + secret,
        "secrets = [\"" + secret + "\"2\"]", preset("standard-webhooks", "") + secret,
        "[[source]]\nname='a'\npreset='close'\nsecrets=['" + secret + "']",
        "[[source]]\nname='a'\npreset='close'\nsecrets='" + secret + "'",
        "[[source]]\nname='a'\npreset='close'\nsecrets={ text = '" + secret + "' }",
        "[[source]]\nname='a'\npreset='plaid'\nsecrets=['" + secret + "']",
        "[admin]\ntoken = '" + secret + " '", "[store]\nurl = 'mysql://u:" + secret + "@h/d'",
        "secrets = [99999999999999999999" + secret + "]"}) {
    const Loaded loaded = load(text);
    EXPECT_FALSE(loaded.problems.empty()) << text;
    for (const Problem& each : loaded.problems) {
      EXPECT_EQ(each.to_string().find("hunter2"), std::string::npos) << each.to_string();
    }
  }
  for (const Problem& each : load("secrets = [99999999999999999999]").problems) {
    EXPECT_EQ(each.to_string().find("9999"), std::string::npos) << each.to_string();
  }
}

}  // namespace
}  // namespace hapax::daemon
