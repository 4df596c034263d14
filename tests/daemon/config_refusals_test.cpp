// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Rejected configuration files, each with its only message.
#include "daemon/config.hpp"

#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace hapax::daemon {
namespace {

using testing::ElementsAre;

std::optional<std::string> environment_variable(const std::string& name) {
  if (name == "EMPTY") return "";
  return std::nullopt;
}

class ConfigRefusalsTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.file(name), std::ios::binary) << text;
    return directory_.file(name);
  }

  // The messages, without the temporary directory.
  std::vector<std::string> problems(const std::string& text) {
    std::vector<std::string> list;
    const Loaded loaded = load_config(write("hapax.toml", text), environment_variable);
    EXPECT_EQ(loaded.config.has_value(), loaded.problems.empty()) << text;
    const std::string prefix = directory_.path().string() + "/";
    for (const Problem& each : loaded.problems) {
      std::string shown = each.to_string();
      for (std::size_t at = shown.find(prefix); at != shown.npos; at = shown.find(prefix)) {
        shown.erase(at, prefix.size());
      }
      list.push_back(shown);
    }
    return list;
  }

  struct Bad {
    std::string text;
    std::string message;  // without the prefix "hapax.toml:"
  };
  void expect(const std::vector<Bad>& files) {
    for (const Bad& each : files) {
      EXPECT_THAT(problems(each.text), ElementsAre("hapax.toml:" + each.message)) << each.text;
    }
  }

  test::TempDir directory_;
};

const std::string kGoodSource =
    "[[source]]\nname = 'a'\nverify = { scheme = 'hmac', header = 'X-S' }\n"
    "secrets = ['hunter2']\nid = 'json:/id'\n";
const std::string kPull = "[[destination]]\nname = 'work'\nkind = 'pull'\n";

// A valid source with `line` as its line 6.
std::string good_with(const std::string& line) {
  return kGoodSource + line + "\n";
}

// A source with `inside` in the verify = { ... } of its line 3.
std::string scheme(const std::string& inside) {
  return "[[source]]\nname = 'a'\nverify = { " + inside +
         " }\nsecrets = ['hunter2']\nid = 'json:/id'\n";
}

std::string secrets(const std::string& list) {
  return "[[source]]\nname = 'a'\nverify = { scheme = 'hmac', header = 'X-S' }\nid = 'json:/id'\n"
         "secrets = " +
         list + "\n";
}

std::string preset_source(const std::string& name, const std::string& more = "") {
  return "[[source]]\nname = 'a'\npreset = '" + name + "'\nsecrets = ['00ff']\n" + more;
}

std::string named(const std::string& name) {
  return "[[destination]]\nkind = 'pull'\nname = '" + name + "'\n";
}

constexpr const char* kLater = "not available in this version; remove it";

TEST_F(ConfigRefusalsTest, Keys) {
  expect({
      {"[sever]\n", "1: sever: unknown key; did you mean 'server'?"},
      {"zzzzzzzz = 1\n",
       "1: zzzzzzzz: unknown key; valid keys: server, admin, store, source, "
       "destination, token"},
      {"[server]\nlisten_on = '127.0.0.1:1'\n",
       "2: server.listen_on: unknown key; did you mean 'listen'?"},
      {"[server]\nmax-body = 1\n", "2: server.max-body: unknown key; did you mean 'max_body'?"},
      {"[admin]\ntokens = 'x'\n", "2: admin.tokens: unknown key; did you mean 'token'?"},
      {"[store]\nuri = 'memory:'\n", "2: store.uri: unknown key; did you mean 'url'?"},
      {good_with("delivers_to = []"),
       "6: source[1].delivers_to: unknown key; did you mean 'deliver_to'?"},
      {good_with("\"a\\u001bb\\n\" = 1"),
       "6: source[1].'a\\x1bb\\x0a': unknown key; valid keys: name, preset, verify, "
       "secrets, key_id, parameters, topics, id, id_fallback, type, order_key, version, split, "
       "split_max, tenant, remember, keep, keep_dead, sender_retries, ack, deliver_to, max_body, "
       "enforce"},
      {good_with("ack = { stat = 200 }"),
       "6: source[1].ack.stat: unknown key; did you mean 'status'?"},
      {scheme("scheme = 'hmac', header = 'X', headr = 'X'"),
       "3: source[1].verify.headr: unknown key; did you mean 'header'?"},
  });
}

TEST_F(ConfigRefusalsTest, KeysOfLaterVersions) {
  const auto later = [](const std::string& where) { return where + ": " + kLater; };
  expect({
      {"[[route]]\nname = 'x'\n", later("1: route")},
      {"[keys]\nstore = 'x'\n", later("1: keys")},
      {"[[outbox]]\nurl = 'x'\n", later("1: outbox")},
      {"[encryption]\n", later("1: encryption")},
  });
}

TEST_F(ConfigRefusalsTest, Types) {
  expect({
      {"server = 1\n", "1: server: use a single table: [server]"},
      {"[[server]]\n", "1: server: use a single table: [server]"},
      {"[source]\n", "1: source: this is a list of tables; use [[source]] in double brackets"},
      {"destination = ['x']\n",
       "1: destination: this is a list of tables; use [[destination]] in double brackets"},
      {"[server]\ndata_dir = 1\n",
       "2: server.data_dir: this is a number; write a text in \"quotes\""},
      {"[server]\ndata_dir = ''\n", "2: server.data_dir: empty; set a value or remove the key"},
      {"[server]\ndata_dir = \"a\\u0000\"\n", "2: server.data_dir: NUL characters are not allowed"},
      {"[server]\nmax_connections = 0\n",
       "2: server.max_connections: 0 is out of range; use a number from 1 to 1000000"},
      {"[server]\nmax_connections = 10\nmax_connections_per_address = 11\n",
       "3: server.max_connections_per_address: one address cannot have more connections than the "
       "server; use a number below max_connections, which is 10"},
      {"[server]\nheader_timeout = '10ms'\n",
       "2: server.header_timeout: '10ms' is out of range; use \"1s\" to \"36500d\""},
      {"[server]\nbody_timeout = 30\n",
       "2: server.body_timeout: this is a number; write a whole number and a unit in quotes: "
       "\"250ms\", \"15s\", \"5m\", \"24h\", \"30d\""},
      {"[server]\ninsecure = 'yes'\n", "2: server.insecure: this is a text; write true or false"},
      {"[server]\ntls = true\n", "2: server.tls: this is true or false; write a table"},
      {"[admin]\nnames = 'x'\n",
       "2: admin.names: this is a text; write a list of texts: "
       "[\"a\", \"b\"]"},
      {good_with("deliver_to = 'work'"),
       "6: source[1].deliver_to: this is a text; write a list of texts: [\"a\", \"b\"]"},
      {good_with("type = 1.5"),
       "6: source[1].type: this is a fraction or a date; write a text in "
       "\"quotes\""},
      {good_with("ack = 'ok'"), "6: source[1].ack: this is a text; write a table"},
      {good_with("parameters = ['x']"), "6: source[1].parameters: this is a list; write a table"},
      {good_with("split = 'json:/*'\nsplit_max = '10'"),
       "7: source[1].split_max: this is a text; write a number from 1 to 10000"},
      {good_with("split = 'json:/*'\nsplit_max = 10001"),
       "7: source[1].split_max: 10001 is out of range; use a number from 1 to 10000"},
  });
}

TEST_F(ConfigRefusalsTest, DurationsAndSizes) {
  const std::string units =
      "a whole number and a unit in quotes: \"250ms\", \"15s\", \"5m\", "
      "\"24h\", \"30d\"";
  const std::string sizes = "\"64KiB\", \"1MiB\" or a number of bytes";
  expect({
      {good_with("remember = 30"), "6: source[1].remember: this is a number; write " + units},
      {good_with("remember = '30'"),
       "6: source[1].remember: '30' is not a duration; write " + units},
      {good_with("keep = '1.5h'"), "6: source[1].keep: '1.5h' is not a duration; write " + units},
      {good_with("keep_dead = '-1d'"),
       "6: source[1].keep_dead: '-1d' is not a duration; write " + units},
      {good_with("sender_retries = '3 d'"),
       "6: source[1].sender_retries: '3 d' is not a duration; write " + units},
      {good_with("remember = '0s'"),
       "6: source[1].remember: '0s' is out of range; use \"1ms\" to \"36500d\""},
      {good_with("remember = '36501d'"),
       "6: source[1].remember: '36501d' is out of range; use \"1ms\" to \"36500d\""},
      {good_with("keep = '99999d'"),
       "6: source[1].keep: '99999d' is out of range; use \"0ms\" to \"36500d\""},
      {"[store]\ntimeout = 5\n", "2: store.timeout: this is a number; write " + units},
      {"[store]\ntimeout = '999ms'\n",
       "2: store.timeout: '999ms' is out of range; use \"1s\" to \"36500d\""},
      {"[store]\ntimeout = '61m'\n",
       "2: store.timeout: 61m exceeds what senders wait; at most \"1h\""},
      {"[server]\nmax_body = '1MB'\n", "2: server.max_body: '1MB' is not a size; write " + sizes},
      {"[server]\nmax_body = -1\n", "2: server.max_body: -1 is not a size; write " + sizes},
      {"[server]\nmax_body = true\n", "2: server.max_body: this is true or false; write " + sizes},
      {"[server]\nmax_body = '17MiB'\n",
       "2: server.max_body: 17825792 bytes is out of range; use 1 byte to "
       "\"16MiB\""},
      {good_with("max_body = 0"),
       "6: source[1].max_body: 0 bytes is out of range; use 1 byte to "
       "\"16MiB\""},
  });
}

TEST_F(ConfigRefusalsTest, AddressesAndUrls) {
  const std::string remedy =
      " is not an address; write an address and a port, like \"127.0.0.1:8420\" or \"[::1]:8420\"";
  for (const std::string text :
       {"localhost:8420", "127.0.0.1", "127.0.0.1:", ":8420", "127.0.0.1:65536", "127.0.0.1:1x",
        "::1:8420", "[::1]", "[127.0.0.1]:80", "[::1:80", "256.0.0.1:80", "127.0.0.1:-1"}) {
    expect({{"[server]\nlisten = '" + text + "'\n", "2: server.listen: '" + text + "'" + remedy}});
  }
  const std::string outside =
      " is reachable from outside without TLS, which exposes the admin token; use 127.0.0.1, set "
      "tls = { cert, key }, or insecure = true behind a TLS proxy";
  const std::string no_url =
      "not a public URL; use "
      "\"https://your.host\", with a path if there is one, and no query";
  expect({
      {"[server]\nadmin = '0.0.0.0:8421'\n", "2: server.admin: '0.0.0.0'" + outside},
      {"[server]\nadmin = '[::]:8421'\ninsecure = false\n", "2: server.admin: '::'" + outside},
      {"[server]\nlisten = '127.0.0.1:8421'\n",
       "2: server.listen: the public and the admin listener cannot share an address; choose "
       "another "
       "port"},
      {"[server]\npublic_url = 'hooks.example.com'\n", "2: server.public_url: " + no_url},
      {"[server]\npublic_url = 'https://'\n", "2: server.public_url: " + no_url},
      {"[server]\npublic_url = 'https://h/?x'\n", "2: server.public_url: " + no_url},
      {"[admin]\nnames = ['h:80']\n",
       "2: admin.names[1]: 'h:80' is not a host name; write it without scheme and port, like "
       "\"hapax.internal\""},
      {"[store]\nurl = 'redis://h'\n",
       "2: store.url: unknown kind of store; use \"sqlite:PATH\", "
       "\"postgres://USER@HOST/DATABASE\" or \"memory:\""},
  });
  EXPECT_THAT(problems("[server]\nadmin = '0.0.0.0:8421'\ninsecure = true\n"), testing::IsEmpty());
}

TEST_F(ConfigRefusalsTest, TlsFiles) {
  write("good.pem", "-----BEGIN CERTIFICATE-----\n");
  write("bad.pem", "nothing\n");
  expect({
      {"[server]\ntls = { cert = 'good.pem', key = 'good.pem', chain = 'x' }\n",
       "2: server.tls.chain: unknown key; valid keys: cert, key"},
      {"[server]\ntls = { cert = 'good.pem' }\n",
       "2: server.tls.key: required: the path of a PEM file"},
      {"[server]\ntls = { cert = 'good.pem', key = 'none.pem' }\n",
       "2: server.tls.key: the file 'none.pem' does not exist"},
      {"[server]\ntls = { cert = 'bad.pem', key = 'good.pem' }\n",
       "2: server.tls.cert: the file 'bad.pem' is not PEM; it should have a line -----BEGIN "
       "...-----"},
  });
  const std::string good =
      "[server]\nadmin = '0.0.0.0:1'\ntls = { cert = 'good.pem', key = "
      "'good.pem' }\n";
  const Loaded loaded = load_config(write("hapax.toml", good), environment_variable);
  ASSERT_TRUE(loaded.config);
  ASSERT_TRUE(loaded.config->admin.tls);
  EXPECT_EQ(loaded.config->admin.tls->certificate, directory_.file("good.pem"));
}

TEST_F(ConfigRefusalsTest, Names) {
  const std::string remedy =
      " is not a valid name; use 1 to 128 of the characters A-Z a-z 0-9 . _ -, and not \".\" or "
      "\"..\"";
  for (const std::string name : {"a b", "a/b", ".", "..", "\xc3\xa4"}) {
    expect({{named(name), "3: destination[1].name: '" + name + "'" + remedy}});
  }
  expect({
      {named(std::string(129, 'x')),
       "3: destination[1].name: '" + std::string(100, 'x') + "...'" + remedy},
      {named("outbox"),
       "3: destination[1].name: 'outbox' is the name of hapax's own source; choose another"},
      {"[[destination]]\nkind = 'pull'\n",
       "1: destination[1].name: required; for example name = \"...\""},
      {kPull + kPull,
       "5: destination[2].name: line 2 already uses the name 'work'; choose another"},
      {kGoodSource + kGoodSource,
       "7: source[2].name: line 2 already uses the name 'a'; choose another"},
  });
  EXPECT_THAT(problems(named(std::string(128, 'x'))), testing::IsEmpty());
}

TEST_F(ConfigRefusalsTest, Presets) {
  const std::string url =
      "3: source[1].preset: the scheme signs the URL that the sender calls; set public_url = "
      "\"https://your.host\" in [server]";
  expect({
      {preset_source("strip"),
       "3: source[1].preset: unknown preset 'strip'; did you mean 'stripe'? "
       "'hapax presets' lists them all"},
      {preset_source("qqqqqqqqqqqq"),
       "3: source[1].preset: unknown preset 'qqqqqqqqqqqq'; 'hapax presets' lists them all"},
      {preset_source("twilio"), url},
      {preset_source("square"), url},
      {preset_source("hubspot"), url},
      {"[[source]]\nname = 'a'\npreset = 'monday'\n",
       "3: source[1].preset: 'monday' does not sign; add verify = \"none\" if anyone who knows the "
       "URL may send events"},
      {preset_source("stripe", "verify = 'none'\n"),
       "5: source[1].verify: the preset already defines how requests are signed; remove one of the "
       "two"},
      {"[[source]]\nname = 'a'\nid = 'none'\n",
       "1: source[1]: no signature scheme; use preset = \"NAME\" or verify = { scheme = \"hmac\", "
       "... }, or verify = \"none\" if anyone who knows the URL may send events"},
      {preset_source("braintree"),
       "1: source[1].key_id: this scheme needs key_id, the provider's name "
       "for the secret; write key_id = \"...\""},
      {"[[source]]\nname = 'a'\npreset = 'close'\nsecrets = ['00', 'xx']\n",
       "4: source[1].secrets[2]: the secret must be written in hexadecimal"},
  });
  EXPECT_THAT(problems("[server]\npublic_url = 'https://h'\n" + preset_source("twilio")),
              testing::IsEmpty());
}

TEST_F(ConfigRefusalsTest, Secrets) {
  write("empty", "\n");
  std::filesystem::create_directory(directory_.path() / "folder");
  const std::string remedy = R"("text", { env = "VARIABLE" } or { file = "path" })";
  const std::string missing =
      "source[1].secrets: required; for example secrets = [{ env = \"VARIABLE\" }], [{ file = "
      "\"path\" }] or [\"text\"]";
  expect({
      {"[[source]]\nname = 'a'\npreset = 'stripe'\n", "1: " + missing},
      {secrets("[]"), "5: " + missing},
      {secrets("'x'"),
       "5: source[1].secrets: expected a list, even for one secret: secrets = [{ env = "
       "\"VARIABLE\" }]"},
      {secrets("['']"), "5: source[1].secrets[1]: the secret is empty; write " + remedy},
      {secrets("[7]"), "5: source[1].secrets[1]: this is a number; write " + remedy},
      {secrets("[{ env = 'NOPE' }]"),
       "5: source[1].secrets[1].env: the environment variable "
       "'NOPE' is not set; set it in hapax's environment"},
      {secrets("[{ env = 'EMPTY' }]"),
       "5: source[1].secrets[1].env: the environment variable "
       "'EMPTY' is empty; set it in hapax's environment"},
      {secrets("[{ file = 'none' }]"),
       "5: source[1].secrets[1].file: the file 'none' does not exist"},
      {secrets("[{ file = 'empty' }]"),
       "5: source[1].secrets[1].file: the file 'empty' is empty; "
       "write the secret into it"},
      {secrets("[{ file = 'folder' }]"),
       "5: source[1].secrets[1].file: the file 'folder' is a directory"},
      {secrets("[{ file = '/dev/zero' }]"),
       "5: source[1].secrets[1].file: the file '/dev/zero' is not a regular file"},
      {secrets("[{ evn = 'X' }]"), "5: source[1].secrets[1].evn: unknown key; did you mean 'env'?"},
      {secrets("[{ env = 'X', file = 'y' }]"),
       "5: source[1].secrets[1]: a secret has only one of env and file; write " + remedy},
      {secrets("['1','2','3','4','5','6','7','8','9','0','1','2','3','4','5','6','7']"),
       "5: source[1].secrets: at most 16 secrets; remove expired ones"},
      {"[[source]]\nname = 'a'\nverify = 'none'\nid = 'none'\nsecrets = ['x']\n",
       "5: source[1].secrets: secrets have no effect with verify = \"none\"; remove them, or "
       "configure how requests are signed"},
      {"[admin]\ntoken = 'a b'\n",
       "2: admin.token: a token is sent in a header; use visible ASCII without spaces"},
  });
}

TEST_F(ConfigRefusalsTest, Verify) {
  const std::string at = "3: source[1].verify";
  const std::string schemes = R"("hmac", "hash", "token", "basic", "ed25519", "ecdsa", "rsa")";
  const std::string untimed =
      "only valid with timestamp; add timestamp = \"header:NAME\", or remove this";
  const std::string unsigned_time =
      "the timestamp is not signed: anyone who captures a request could change it; add {time} to "
      "signed, like signed = "
      "\"{time}.{body}\"";
  expect({
      {"[[source]]\nname='a'\nverify = 'hmac'\nid = 'none'\nsecrets = ['x']",
       at + ": expected a table, like verify = { scheme = \"hmac\", header = \"X-Signature\" }, or "
            "\"none\""},
      {scheme("header = 'X'"), at + ".scheme: required; one of: " + schemes},
      {scheme("scheme = 'hmacs', header = 'X'"),
       at + ".scheme: 'hmacs' is unknown; use one of: " + schemes},
      {scheme("scheme = 'hmac', header = 'X', hash = 'sha3'"),
       at + ".hash: 'sha3' is unknown; use one of: \"md5\", \"sha1\", \"sha256\", "
            "\"sha384\", \"sha512\""},
      {scheme("scheme = 'hmac', header = 'X', encoding = 'hexa'"),
       at + ".encoding: 'hexa' is unknown; use one of: \"hex\", \"base64\", "
            "\"base64url\""},
      {scheme("scheme = 'hmac', header = 'X', secret_encoding = 'b64'"),
       at + ".secret_encoding: 'b64' is unknown; use one of: \"text\", \"base64\", "
            "\"hex\""},
      {scheme("scheme = 'hmac'"),
       at + ".header: required: the name of the header with the signature"},
      {scheme("scheme = 'hmac', header = 'X Y'"),
       at + ".header: 'header:X Y' is not a part of a request; after header: write the name of a "
            "header, like header:X-Event-Id"},
      {scheme("scheme = 'hmac', header = 'X,Y'"), at + ".header: write the name of one header"},
      {scheme("scheme = 'hmac', header = 'X', place = 'form:x'"),
       at + ".place: header already defines the place of the signature; remove one of the two"},
      {scheme("scheme = 'hmac', place = 'query:x'"),
       at + ".place: a signature is in a header, a JSON value or a form field; use "
            "\"header:NAME\", \"json:/pointer\" or \"form:NAME\""},
      {scheme("scheme = 'token', header = 'X', signed = '{body}'"),
       at + ".signed: has no effect with scheme = \"token\"; remove it"},
      {scheme("scheme = 'basic', header = 'X'"),
       at + ".header: has no effect with scheme = \"basic\"; remove it"},
      {scheme("scheme = 'hmac', header = 'X', signed = '{body'"),
       at + ".signed: in the signed text, a '{' has no '}'"},
      {scheme("scheme = 'hmac', header = 'X', tolerance = '5m'"), at + ".tolerance: " + untimed},
      {scheme("scheme = 'hmac', header = 'X', timestamp = 'header:T'"),
       at + ".timestamp: " + unsigned_time},
      {scheme("scheme = 'hmac', header = 'X', timestamp = 'query:T', signed = '{time}.{body}'"),
       at + ".timestamp: 'query:T' is not a place of a time; use \"header:NAME\", "
            "\"json:/pointer\" or "
            "\"item\""},
      {scheme("scheme = 'hmac', header = 'X', timestamp = 'item', signed = '{time}.{body}'"),
       at + ".timestamp: the time is an item of the signature list; add separator, pair and "
            "time_label"},
      {scheme("scheme = 'hmac', header = 'X', signed = '{time}.{body}'"),
       at + ".timestamp: {time} is signed, but its place is not configured; add timestamp = "
            "\"header:NAME\""},
      {scheme("scheme = 'hmac', header = 'X', separator = ', '"),
       at + ".separator: ', ' is not a single character; use one, like \",\""},
      {scheme("scheme = 'hmac', header = 'X', separator = ',', label = 'v1'"),
       at + ".label: label names items like v1=...; add pair = \"=\""},
      {scheme("scheme = 'hmac', header = 'X', signed = ['{body}', '{body}x', '{body}y']"),
       at + ".signed: at most two texts, either of which may be signed"},
      {scheme("scheme = 'hmac', header = 'X', signed = '{url}{body}'"),
       at + ": the scheme signs the URL that the sender calls; set public_url = "
            "\"https://your.host\" in [server]"},
      {scheme("scheme = 'hmac', header = 'X', signed = '{param:p}{body}'"),
       "1: source[1].parameters: this scheme needs the parameter 'p'; write parameters = { NAME = "
       "\"...\" }"},
  });
}

TEST_F(ConfigRefusalsTest, Identity) {
  const std::string none =
      "[[source]]\nname = 'a'\nverify = { scheme = 'hmac', header = 'X' }\n"
      "secrets = ['x']\n";
  expect({
      {none,
       "1: source[1].id: write the place of the event id, like json:/id or header:X-Event-Id; or "
       "\"none\" if the sender provides no id, and every request is a new event"},
      {none + "id = 'body:/id'\n",
       "5: source[1].id: 'body:/id' is not a part of a request; write header:NAME, json:/POINTER, "
       "form:NAME, query:NAME or jwt:HEADER:/POINTER"},
      {none + "id = ['json:/a', 'json:/b', 'json:/c', 'json:/d', 'json:/e']\n",
       "5: source[1].id: an id has at most 4 parts"},
      {good_with("id_fallback = '/a'"),
       "6: source[1].id_fallback: write hash: and up to 16 JSON pointers with commas between, like "
       "hash:/from,/sent_at"},
      {good_with("split = 'json:/a'"),
       "6: source[1].split: write the place of the array of events, with * for its elements, like "
       "json:/* or json:/items/*/item"},
      {good_with("split_max = 5"),
       "6: source[1].split_max: only valid with split; add split = \"json:/*\" "
       "too"},
      {good_with("version = 'json:/v'"),
       "6: source[1].version: versions are compared within an order key; add order_key"},
  });
}

TEST_F(ConfigRefusalsTest, DurationsDestinationsAndAcks) {
  std::string many = "deliver_to = [";
  std::string all;
  for (int i = 0; i < 65; ++i) {
    many += "'d" + std::to_string(i) + "',";
    all += named("d" + std::to_string(i));
  }
  expect({
      {good_with("remember = '1d'\nkeep = '2d'"),
       "6: source[1].remember: an id must be remembered at least as long as its event is kept; use "
       "remember = \"2d\" or more, or a shorter keep than \"2d\""},
      {good_with("keep = '31d'"),
       "6: source[1].keep: an id must be remembered at least as long as its event is kept; use "
       "remember = \"31d\" or more, or a shorter keep than \"31d\""},
      {preset_source("stripe", "remember = '1h'\n"),
       "5: source[1].remember: the sender retries for 3d (preset); a retry after the id expires "
       "would be a new event; use remember = \"3d\" or more"},
      {good_with("sender_retries = '31d'"),
       "6: source[1].sender_retries: the sender retries for 31d; a retry after the id expires "
       "would be a new event; use remember = \"31d\" or more"},
      {good_with("deliver_to = ['wrok']") + kPull,
       "6: source[1].deliver_to[1]: unknown destination 'wrok'; did you mean 'work'?"},
      {good_with("deliver_to = ['zzz']") + kPull,
       "6: source[1].deliver_to[1]: unknown destination "
       "'zzz'; add a [[destination]] of that name"},
      {good_with("deliver_to = ['work', 'work']") + kPull,
       "6: source[1].deliver_to[2]: 'work' occurs twice; remove one"},
      {good_with(many + "]") + all,
       "6: source[1].deliver_to: one source delivers to at most 64 destinations; these are 65"},
      {good_with("ack = { status = 302 }"),
       "6: source[1].ack.status: 302 is out of range; use a number from 200 to 299"},
      {good_with("ack = { status = 204, body = 'x' }"),
       "6: source[1].ack.body: a response with status 204 has no body; remove it, or use status = "
       "200"},
      {good_with("ack = { content_type = \"a\\r\\nb: c\" }"),
       "6: source[1].ack.content_type: not a media type; use one like \"text/plain\""},
  });
}

TEST_F(ConfigRefusalsTest, InvalidToml) {
  std::string deep = "a = ";
  std::string dotted = "a";
  for (int i = 0; i < 100'000; ++i) {
    deep += '[';
    dotted += ".a";
  }
  expect({
      {"a = ", "1: this is not TOML: key-value pair: encountered end-of-file"},
      {"x = 1\nx = 2\n",
       "2: this is not TOML: key-value pair: cannot redefine existing integer 'x'"},
      {"x = hello\n",
       "1: this is not TOML: value: could not determine value type; texts are "
       "written in \"quotes\""},
      {"[=]\n",
       "1: this is not TOML: key: expected bare key starting character or string delimiter"},
      {"[[\n]]\n",
       "1: this is not TOML: key: expected bare key starting character or string delimiter"},
      {"x = \xc3\xa4\n",
       "1: this is not TOML: value: could not determine value type; texts are written in "
       "\"quotes\""},
      {deep, "1: this is not TOML: value: exceeded maximum nested value depth of 32"},
      {"# x\n" + dotted + " = 1\n", "2: more than 32 dots outside of a text"},
      {"[" + dotted + "]\n", "1: more than 32 dots outside of a text"},
      {"a = 'x\xff'\n", "1: this is not TOML: Encountered invalid utf-8 sequence"},
  });
  EXPECT_EQ(problems(std::string("a = 'x\0y'\n", 10)).size(), 1U);
  EXPECT_THAT(problems(std::string(10 << 20, '#')),
              ElementsAre("hapax.toml: the file is larger than 1024 KiB"));
  std::string values = "a = [";
  for (int i = 0; i < 30'000; ++i) values += "0,";
  EXPECT_THAT(problems(values + "]"),
              ElementsAre("hapax.toml:1: the file has more than 20000 values"));
}

TEST_F(ConfigRefusalsTest, NonRegularFiles) {
  const auto message = [](const std::string& path) {
    const Loaded loaded = load_config(path, environment_variable);
    EXPECT_FALSE(loaded.config);
    return loaded.problems.size() == 1 ? loaded.problems[0].to_string() : "";
  };
  const std::string folder = directory_.path().string();
  EXPECT_EQ(message(folder), folder + ": the file is a directory");
  EXPECT_EQ(message("/dev/null"), "/dev/null: the file is not a regular file");
  EXPECT_EQ(message(folder + "/x"),
            folder + "/x: the file does not exist; create one with 'hapax init'");
  const std::string fifo = folder + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(message(fifo), fifo + ": the file is not a regular file");
}

}  // namespace
}  // namespace hapax::daemon
