// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/base64.hpp"
#include "base/calendar.hpp"
#include "gateway/serve.hpp"
#include "support/eventually.hpp"
#include "support/sanitizer.hpp"
#include "verify/keys.hpp"
#include "verify/public_key.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

// Provisioned secrets and pending subscriptions, with a real server.
namespace hapax::test {

namespace {

using testing::HasSubstr;
using testing::Not;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Runs `hapax ARGUMENTS` against this server.
std::string run(const Serve& serve, const std::string& arguments, int& code) {
  const std::string command = std::string(HAPAX_BINARY) + " --json " + arguments +
                              " --token-file " + serve.file("admin.token") +
                              " --admin http://127.0.0.1:" + std::to_string(serve.admin_port()) +
                              " > " + serve.file("out") + " 2>&1";
  code = std::system(command.c_str());
  expect_no_report(contents(serve.file("out")));
  return contents(serve.file("out"));
}

std::string run(const Serve& serve, const std::string& arguments) {
  int code = 0;
  std::string out = run(serve, arguments, code);
  EXPECT_EQ(code, 0) << out;
  return out;
}

const std::string kHandshakeSources =
    "[[source]]\nname = \"asana\"\npreset = \"asana\"\n"
    "[[source]]\nname = \"team\"\npreset = \"asana\"\n[[source.tenant]]\nname = \"acme\"\n"
    "[[source]]\nname = \"notion\"\npreset = \"notion\"\nsecrets = [\"configured\"]\n";

class WindowTest : public testing::Test {
 protected:
  HttpAnswer offer(const std::string& path, const std::string& secret) {
    return RawClient(serve_.port()).post(path, {{"X-Hook-Secret", secret}}, "{}");
  }
  int event(const std::string& path, const std::string& secret, const std::string& preset_name) {
    const std::string body = R"({"id":"evt_1"})";
    const auto headers = signed_headers(preset_name, secret, body, "");
    return RawClient(serve_.port()).post(path, headers, body).status;
  }

  Serve serve_{demo_config("sqlite:hapax.db") + kHandshakeSources};
};

TEST_F(WindowTest, ASecretIsAcceptedOnlyInAnOpenWindow) {
  EXPECT_EQ(offer("/in/asana", "stranger").status, 401);
  EXPECT_EQ(event("/in/asana", "stranger", "asana"), 401);
  EXPECT_THAT(run(serve_, "handshake asana"), HasSubstr("\"open_until\":null,\"secrets\":0"));
  EXPECT_THAT(run(serve_, "handshake asana --for 10m"), Not(HasSubstr("\"open_until\":null")));

  const HttpAnswer taken = offer("/in/asana", "handed-over");
  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(taken.header("X-Hook-Secret"), "handed-over");
  EXPECT_EQ(event("/in/asana", "handed-over", "asana"), 200);  // at once
  EXPECT_EQ(offer("/in/asana", "second").status, 401);         // the first secret closes the window
  EXPECT_EQ(offer("/in/asana", "handed-over").status, 200);    // a retry after a lost response
  EXPECT_THAT(run(serve_, "handshake asana"), HasSubstr("\"open_until\":null,\"secrets\":1"));

  struct stat status {};
  ASSERT_EQ(stat(serve_.file("handshake.secrets").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(contents(serve_.file("handshake.secrets")), "asana:asana handed-over\n");
  EXPECT_THAT(serve_.log(), Not(HasSubstr("handed-over")));

  EXPECT_TRUE(serve_.kill_it());  // the secret was on disk before the response
  serve_.start();
  EXPECT_EQ(event("/in/asana", "handed-over", "asana"), 200);
  EXPECT_EQ(event("/in/asana", "second", "asana"), 401);
}

TEST_F(WindowTest, AWindowBelongsToOneSourceAndTenant) {
  run(serve_, "handshake team --tenant acme --for 10m");
  EXPECT_EQ(offer("/in/asana", "s").status, 401);
  EXPECT_EQ(offer("/in/team", "s").problem(), "tenant-unknown");
  EXPECT_EQ(offer("/in/team/acme", "s").status, 200);
  EXPECT_EQ(event("/in/team/acme", "s", "asana"), 200);
  EXPECT_EQ(event("/in/asana", "s", "asana"), 401);
  EXPECT_EQ(contents(serve_.file("handshake.secrets")), "team/acme:asana s\n");
}

TEST_F(WindowTest, ProvisionedSecretsAreUsedInAdditionToConfiguredOnes) {
  const std::string token = R"({"verification_token":"secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJl"})";
  EXPECT_EQ(event("/in/notion", "configured", "notion"), 200);
  EXPECT_EQ(RawClient(serve_.port()).post("/in/notion", {}, token).status, 401);
  run(serve_, "handshake notion --for 10m");
  EXPECT_EQ(RawClient(serve_.port()).post("/in/notion", {}, token).status, 200);
  EXPECT_EQ(event("/in/notion", "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJl", "notion"), 200);
  EXPECT_EQ(event("/in/notion", "configured", "notion"), 200);
}

// The URL may belong to another sender later, and the file outlives the configuration.
TEST_F(WindowTest, AProvisionedSecretBelongsToItsPreset) {
  const auto with_preset = [](const std::string& name) {
    return demo_config("sqlite:hapax.db") + "[[source]]\nname = \"asana\"\npreset = \"" + name +
           "\"\n";
  };
  run(serve_, "handshake asana --for 10m");
  EXPECT_EQ(offer("/in/asana", "handed-over").status, 200);
  EXPECT_EQ(event("/in/asana", "handed-over", "asana"), 200);
  serve_.reload(with_preset("notion"));
  EXPECT_EQ(event("/in/asana", "handed-over", "notion"), 401);
  EXPECT_THAT(run(serve_, "handshake asana"), HasSubstr("\"secrets\":0"));
  serve_.stop();
  serve_.start();
  EXPECT_EQ(event("/in/asana", "handed-over", "notion"), 401);
  serve_.reload(with_preset("asana"));
  EXPECT_EQ(event("/in/asana", "handed-over", "asana"), 200);
}

std::string source_of_preset(const std::string& name, const std::string& preset) {
  return "[[source]]\nname = \"" + name + "\"\npreset = \"" + preset + "\"\n";
}

// Neither windows nor owners of secrets change: the file is rejected because of its last source,
// whose secret in handshake.secrets is not a valid key.
TEST_F(WindowTest, AFailedReloadChangesNothing) {
  const std::string demo = demo_config("sqlite:hapax.db");
  const std::string last = source_of_preset("topics", "aws-sns") + "secrets = [\"\"\"" +
                           make_rsa().public_pem + "\"\"\"]\ntopics = [\"arn:aws:sns:a:1:b\"]\n";
  serve_.stop();
  std::ofstream(serve_.file("handshake.secrets")) << "later old\ntopics:aws-sns no-key\n";
  serve_.start();
  run(serve_, "handshake asana --for 10m");

  serve_.write_config(demo + source_of_preset("asana", "notion") +
                      source_of_preset("later", "notion") + last);
  serve_.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return serve_.log().find("not reloaded") != std::string::npos; }));
  EXPECT_THAT(serve_.log(), HasSubstr("a provisioned secret of 'topics' is unusable"));
  EXPECT_THAT(run(serve_, "handshake asana"), Not(HasSubstr("\"open_until\":null")));
  EXPECT_EQ(offer("/in/asana", "handed-over").status, 200);
  EXPECT_THAT(run(serve_, "handshake asana"), HasSubstr("\"secrets\":1"));

  serve_.reload(demo + source_of_preset("asana", "asana") + source_of_preset("later", "asana"));
  EXPECT_EQ(event("/in/asana", "handed-over", "asana"), 200);
  EXPECT_EQ(event("/in/later", "old", "asana"), 200) << "the secret had no preset yet";
}

// Files of earlier versions have secrets without a preset.
TEST_F(WindowTest, ASecretWithoutAPresetBelongsToItsSource) {
  serve_.stop();
  std::ofstream(serve_.file("handshake.secrets")) << "asana old\nteam/acme other\n";
  serve_.start();
  EXPECT_EQ(event("/in/asana", "old", "asana"), 200);
  EXPECT_EQ(event("/in/team/acme", "other", "asana"), 200);
  run(serve_, "handshake asana --for 10m");
  EXPECT_EQ(offer("/in/asana", "new").status, 200);
  EXPECT_EQ(contents(serve_.file("handshake.secrets")),
            "asana:asana new\nasana:asana old\nteam/acme:asana other\n");
}

TEST_F(WindowTest, CanBeClosedAndRejectsInvalidUses) {
  run(serve_, "handshake asana --for 10m");
  EXPECT_THAT(run(serve_, "handshake asana --for 0s"), HasSubstr("\"open_until\":null"));
  EXPECT_EQ(offer("/in/asana", "s").status, 401);
  int code = 0;
  EXPECT_THAT(run(serve_, "handshake demo --for 10m", code), HasSubstr("has no such handshake"));
  EXPECT_NE(code, 0);
  EXPECT_THAT(run(serve_, "handshake nobody --for 10m", code), HasSubstr("No source"));
  EXPECT_THAT(run(serve_, "handshake team --for 10m", code), HasSubstr("no tenant"));
  EXPECT_THAT(run(serve_, "handshake asana --for 25h", code), HasSubstr("86400"));
  EXPECT_THAT(run(serve_, "handshake asana --for soon", code), HasSubstr("duration"));
  EXPECT_NE(code, 0);
}

TEST_F(WindowTest, ASecretThatCannotBeStoredIsAnswered503) {
  ASSERT_EQ(mkdir(serve_.file("handshake.secrets.new").c_str(), 0700), 0);
  run(serve_, "handshake asana --for 10m");
  EXPECT_EQ(offer("/in/asana", "s").status, 503);
  EXPECT_EQ(event("/in/asana", "s", "asana"), 401);
  ASSERT_EQ(rmdir(serve_.file("handshake.secrets.new").c_str()), 0);
  EXPECT_EQ(offer("/in/asana", "s").status, 200);  // the window is still open
  EXPECT_EQ(event("/in/asana", "s", "asana"), 200);
}

// Amazon SNS messages, signed with a key of the test.
class TopicsTest : public testing::Test {
 protected:
  static constexpr const char* kMine = "arn:aws:sns:us-west-2:123456789012:Mine";
  static constexpr const char* kHost = "https://sns.us-west-2.amazonaws.com/";

  static std::string toml(const std::string& text) { return "\"\"\"" + text + "\"\"\""; }
  HttpAnswer post(const std::vector<std::pair<std::string, std::string>>& fields) {
    std::string message;
    std::string body = "{";
    for (const auto& [name, value] : fields) {
      message.append(name).append("\n").append(value).append("\n");
      body.append("\"").append(name).append("\":\"").append(value).append("\",");
    }
    const auto signer =
        verify_detail::PublicKey::make_private(verify_detail::KeyKind::rsa, key_.private_pem);
    const auto signature = signer->sign(verify_detail::SignatureHash::sha256, message);
    body += R"("SignatureVersion":"2","Signature":")" + to_base64(*signature) +
            R"(","SigningCertURL":")" + kHost + R"(x.pem"})";
    return RawClient(serve_.port()).post("/in/aws", {}, body);
  }
  static std::string ago(std::chrono::seconds time) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return format_rfc3339(WallTime(std::chrono::duration_cast<WallTime::duration>(now - time)));
  }
  HttpAnswer notify(const std::string& topic, const std::string& id,
                    std::chrono::seconds time = std::chrono::seconds(0)) {
    return post({{"Message", "hi"},
                 {"MessageId", id},
                 {"Timestamp", ago(time)},
                 {"TopicArn", topic},
                 {"Type", "Notification"}});
  }
  HttpAnswer confirm(const std::string& topic, const std::string& url) {
    return post({{"Message", "You have chosen to subscribe"},
                 {"MessageId", "c1"},
                 {"SubscribeURL", url},
                 {"Timestamp", "2025-10-09T08:53:20.808Z"},
                 {"Token", "2336412f37"},
                 {"TopicArn", topic},
                 {"Type", "SubscriptionConfirmation"}});
  }

  KeyPair key_ = make_rsa();
  Serve serve_{demo_config("sqlite:hapax.db") +
               "[[source]]\nname = \"aws\"\npreset = \"aws-sns\"\nsecrets = [" +
               toml(key_.public_pem) + "]\ntopics = [\"" + kMine + "\"]\n"};
};

TEST_F(TopicsTest, OnlyMessagesOfListedTopicsAreAccepted) {
  EXPECT_EQ(notify(kMine, "1").status, 200);
  EXPECT_EQ(notify(kMine, "1").header("Hapax-Duplicate"), "true");
  EXPECT_EQ(notify("arn:aws:sns:us-west-2:666666666666:Mine", "2").problem(), "signature-invalid");
  EXPECT_EQ(notify("", "3").problem(), "signature-invalid");
  EXPECT_THAT(serve_.log(), HasSubstr("from an unlisted topic"));
}

// The claim of its id may have expired, so the message would be a new event.
TEST_F(TopicsTest, AMessageOlderThanRememberIsRejected) {
  EXPECT_EQ(notify(kMine, "1", std::chrono::hours(29 * 24)).status, 200);
  EXPECT_EQ(notify(kMine, "2", std::chrono::hours(31 * 24)).problem(), "timestamp-outside-window");
}

TEST_F(TopicsTest, ASubscriptionIsShownAndNotConfirmedAutomatically) {
  const std::string url = std::string(kHost) + "?Action=ConfirmSubscription&Token=2336412f37";
  EXPECT_EQ(confirm("arn:aws:sns:us-west-2:666666666666:Mine", url).problem(), "signature-invalid");
  EXPECT_THAT(run(serve_, "handshake aws"), HasSubstr("\"confirm_urls\":[]"));
  EXPECT_EQ(confirm(kMine, url).status, 200);
  EXPECT_THAT(run(serve_, "handshake aws"), HasSubstr("\"confirm_urls\":[\"" + url + "\"]"));
  EXPECT_THAT(serve_.log(), Not(HasSubstr("2336412f37")));
  int code = 0;
  EXPECT_THAT(run(serve_, "handshake aws --for 10m", code), HasSubstr("provisions no secret"));
  // A URL outside of Amazon is not shown, even if it is signed.
  EXPECT_NE(confirm(kMine, "https://sns.us-west-2.amazonaws.com.evil.example/").status, 503);
  EXPECT_THAT(run(serve_, "handshake aws"), Not(HasSubstr("evil")));
}

}  // namespace

}  // namespace hapax::test
