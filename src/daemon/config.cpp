// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config.hpp"

#include "base/ascii.hpp"
#include "daemon/config_destination.hpp"
#include "daemon/config_source.hpp"
#include "daemon/config_text.hpp"
#include "daemon/config_tokens.hpp"
#include "daemon/config_values.hpp"
#include "daemon/config_warnings.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>

namespace hapax::daemon {

namespace {

using Words = std::string_view;
constexpr auto kTables =
    std::to_array<Words>({"server", "admin", "store", "source", "destination", "token"});
constexpr auto kLaterTables = std::to_array<Words>({"route", "keys", "outbox", "encryption"});
constexpr auto kTls = std::to_array<Words>({"cert", "key"});
constexpr auto kStore = std::to_array<Words>({"url", "timeout"});

constexpr std::size_t kMaxTlsFile = 1024 * 1024;

// [table], or null.
const Node* table_of(const Node& root, std::string_view name, Report& report) {
  const Node* node = root.find(name);
  if (node == nullptr) return nullptr;
  if (node->kind == Node::Kind::table) return node;
  report.problem(*node, "use a single table: [" + std::string(name) + "]");
  return nullptr;
}

// The tables of [[name]].
std::vector<const Node*> tables_of(const Node& root, std::string_view name, Report& report) {
  std::vector<const Node*> tables;
  const Node* node = root.find(name);
  if (node == nullptr) return tables;
  const bool good = node->kind == Node::Kind::list &&
                    std::all_of(node->children.begin(), node->children.end(),
                                [](const Node& each) { return each.kind == Node::Kind::table; });
  if (!good) {
    report.problem(
        *node, "this is a list of tables; use [[" + std::string(name) + "]] in double brackets");
    return tables;
  }
  for (const Node& each : node->children) tables.push_back(&each);
  return tables;
}

// Reads the name of a source, destination or token, which must be unique.
std::optional<std::string> read_own_name(const Node& table, std::vector<const Node*>& taken,
                                         Report& report) {
  const Node* node = table.find("name");
  if (node == nullptr) {
    report.problem_of(table, "name", "required; for example name = \"...\"");
    return std::nullopt;
  }
  std::optional<std::string> name = read_name(*node, report);
  if (!name) return std::nullopt;
  for (const Node* other : taken) {
    if (other->text != *name) continue;
    report.problem(*node, "line " + std::to_string(other->line) + " already uses the name " +
                              in_quotes(*name) + "; choose another");
    return std::nullopt;
  }
  taken.push_back(node);
  return name;
}

std::optional<std::string> read_public_url(const Node& node, Report& report) {
  std::optional<std::string> url = read_text(node, report);
  if (!url) return std::nullopt;
  const std::string start = to_lower(url->substr(0, 8));
  const std::size_t scheme = start.starts_with("https://")  ? 8
                             : start.starts_with("http://") ? 7
                                                            : 0;
  const auto odd = [](char c) { return c <= 0x20 || c >= 0x7f || c == '?' || c == '#'; };
  while (url->ends_with('/') && url->size() > scheme) url->pop_back();
  if (scheme != 0 && url->size() > scheme && (*url)[scheme] != '/' &&
      std::none_of(url->begin(), url->end(), odd) && url->find('@') == std::string::npos) {
    return url;
  }
  report.problem(node,
                 "not a public URL; use \"https://your.host\", with a "
                 "path if there is one, and no query");
  return std::nullopt;
}

void warn_of_open_key(const Node& node, const std::string& path, Report& report) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || (status.st_mode & S_IROTH) == 0) return;
  report.warning(node, "other users of this machine can read the private key in " +
                           in_quotes(path) + "; run chmod o-rwx on it");
}

std::optional<std::string> read_pem_path(const Node& tls, std::string_view key, Loading& loading) {
  const Node* node = tls.find(key);
  if (node == nullptr) {
    loading.report.problem_of(tls, key, "required: the path of a PEM file");
    return std::nullopt;
  }
  const std::optional<std::string> name = read_text(*node, loading.report);
  if (!name) return std::nullopt;
  std::string path = loading.path(*name);
  const Result<std::string> text = read_small_file(path, kMaxTlsFile);
  if (!text) {
    loading.report.problem(*node, "the file " + in_quotes(path) + " " + text.error().detail());
    return std::nullopt;
  }
  if (key == "key") warn_of_open_key(*node, path, loading.report);
  if (text->find("-----BEGIN ") != std::string::npos) return path;
  loading.report.problem(*node, "the file " + in_quotes(path) +
                                    " is not PEM; it should have a line "
                                    "-----BEGIN ...-----");
  return std::nullopt;
}

std::optional<http::TlsFiles> read_tls(const Node& node, Loading& loading) {
  if (!is_table(node, loading.report)) return std::nullopt;
  check_keys(node, {kTls}, loading.report);
  std::optional<std::string> certificate = read_pem_path(node, "cert", loading);
  std::optional<std::string> key = read_pem_path(node, "key", loading);
  if (!certificate || !key) return std::nullopt;
  return http::TlsFiles{std::move(*certificate), std::move(*key)};
}

void check_listeners(const Node& server, const Config& config, Report& report) {
  bool insecure = false;
  take(server, "insecure", insecure, read_flag, report);
  if (!is_loopback(config.admin) && server.find("tls") == nullptr && !insecure) {
    report.problem_of(
        server, "admin",
        in_quotes(config.admin.host) +
            " is reachable from outside without TLS, which exposes the admin token; use 127.0.0.1, "
            "set tls = { cert, key }, or insecure = true behind a TLS proxy");
  }
  if (!is_loopback(config.admin) && server.find("tls") == nullptr && insecure) {
    report.warning(*server.find("insecure"),
                   in_quotes(config.admin.host) +
                       " is reachable from outside without TLS, which exposes tokens; allow access "
                       "only from a TLS proxy");
  }
  if (config.admin.host == config.listen.host && config.admin.port == config.listen.port &&
      config.admin.port != 0) {
    report.problem_of(server, server.find("admin") != nullptr ? "admin" : "listen",
                      "the public and the admin listener cannot share an address; choose another "
                      "port");
  }
}

void read_data_dir(const Node& node, Config& config, Loading& loading) {
  if (const auto path = read_text(node, loading.report)) config.data_dir = loading.path(*path);
}

void read_tls_of_both(const Node& node, Config& config, Loading& loading) {
  config.listen.tls = read_tls(node, loading);
  config.admin.tls = config.listen.tls;
}

constexpr auto kServerKeys = std::to_array<Key<Config>>({
    {"listen", set<&Config::listen, read_address>},
    {"admin", set<&Config::admin, read_address>},
    {"data_dir", read_data_dir},
    {"public_url", set<&Config::public_url, read_public_url>},
    {"max_body", set<&Config::max_body, read_body_limit>},
    {"tls", read_tls_of_both},
    {"insecure"},  // check_listeners()
});

constexpr auto kLimitKeys = std::to_array<Key<ServerLimits>>({
    {"max_connections", set<&ServerLimits::connections, read_between<std::size_t, 1, 1'000'000>>},
    {"max_connections_per_address",
     set<&ServerLimits::per_address, read_between<std::size_t, 1, 1'000'000>>},
    {"idle_timeout", set<&ServerLimits::idle, read_duration_from<1000>>},
    {"header_timeout", set<&ServerLimits::header, read_duration_from<1000>>},
    {"body_timeout", set<&ServerLimits::body, read_duration_from<1000>>},
    {"write_timeout", set<&ServerLimits::write, read_duration_from<1000>>},
});

void check_limits(const Node& server, const ServerLimits& limits, Report& report) {
  if (limits.per_address.value_or(1) <= limits.connections) return;
  report.problem_of(server, "max_connections_per_address",
                    "one address cannot have more connections than the server; use a number "
                    "below max_connections, which is " +
                        std::to_string(limits.connections));
}

void read_server(const Node& root, Config& config, Loading& loading) {
  Report& report = loading.report;
  config.data_dir = loading.path(config.data_dir);
  const Node* server = table_of(root, "server", report);
  if (server == nullptr) return;
  check_keys(*server, {key_names(kServerKeys, kLimitKeys)}, report);
  read_keys(*server, kServerKeys, config, loading);
  read_keys(*server, kLimitKeys, config.limits, loading);
  check_limits(*server, config.limits, report);
  check_listeners(*server, config, report);
}

void read_admin_token(const Node& node, Config& config, Loading& loading) {
  config.admin_token = read_token(node, loading);
}

void read_admin_names(const Node& node, Config& config, Loading& loading) {
  for (const Node* each : read_texts(node, false, loading.report)) {
    const auto allowed = [](char c) { return is_alphanumeric_or(".-_", c); };
    std::string name = to_lower(each->text);
    if (name.size() > 253 || !std::all_of(name.begin(), name.end(), allowed)) {
      loading.report.problem(
          *each,
          in_quotes(each->text) +
              " is not a host name; write it without scheme and port, like \"hapax.internal\"");
    }
    config.admin_names.push_back(std::move(name));
  }
}

constexpr auto kAdminKeys = std::to_array<Key<Config>>({
    {"token", read_admin_token},
    {"names", read_admin_names},
});

void read_admin(const Node& root, Config& config, Loading& loading) {
  const Node* admin = table_of(root, "admin", loading.report);
  if (admin == nullptr) return;
  check_keys(*admin, {key_names(kAdminKeys)}, loading.report);
  read_keys(*admin, kAdminKeys, config, loading);
}

bool has_password(std::string_view url) {
  const std::size_t start = std::min(url.find("://"), url.size());
  const std::string_view rest = url.substr(std::min(start + 3, url.size()));
  const std::string_view user = rest.substr(0, rest.rfind('@'));
  return url.find("password=") != std::string_view::npos ||
         (rest.find('@') != std::string_view::npos && user.find(':') != std::string_view::npos);
}

std::optional<std::chrono::milliseconds> read_store_timeout(const Node& node, Report& report) {
  constexpr std::chrono::seconds kLeast{1};
  constexpr std::chrono::hours kMost{1};
  const std::optional<std::chrono::milliseconds> timeout = read_duration(node, kLeast, report);
  if (!timeout || *timeout <= kMost) return timeout;
  report.problem(
      node, in_words(*timeout) + " exceeds what senders wait; at most \"" + in_words(kMost) + "\"");
  return std::nullopt;
}

void read_store(const Node& root, Config& config, Loading& loading) {
  const Node* node = nullptr;
  if (const Node* table = table_of(root, "store", loading.report)) {
    check_keys(*table, {kStore}, loading.report);
    node = table->find("url");
    take(*table, "timeout", config.store_timeout, read_store_timeout, loading.report);
  }
  std::string text = config.store_url.text;
  if (node != nullptr) {
    // A URL may contain a password, so it can be written like a secret. A plain URL counts as one
    // only if it has a password.
    const bool before = loading.plain_secrets;
    if (auto url = read_secret(*node, loading)) text = std::move(*url);
    loading.plain_secrets = before || (node->kind == Node::Kind::text && has_password(text));
  }
  if (Result<store::StoreUrl> url = store::StoreUrl::parse(text)) {
    config.store_url = url->kind == store::StoreUrl::Kind::sqlite
                           ? store::StoreUrl::of_file(loading.path(url->path))
                           : *std::move(url);
  } else if (node != nullptr) {
    loading.report.problem(*node,
                           "unknown kind of store; use \"sqlite:PATH\", "
                           "\"postgres://USER@HOST/DATABASE\" or \"memory:\"");
  }
}

// Returns the names of all destinations, also of invalid ones, so that sources that refer to them
// cause no further problems.
std::vector<std::string> read_destinations(const Node& root, Config& config, Loading& loading) {
  std::vector<std::string> names;
  std::vector<const Node*> taken;
  for (const Node* table : tables_of(root, "destination", loading.report)) {
    deliver::Destination to = read_destination(*table, loading);
    if (std::optional<std::string> name = read_own_name(*table, taken, loading.report)) {
      names.push_back(*name);
      to.name = std::move(*name);
      config.destinations.push_back(std::move(to));
    }
  }
  return names;
}

void read_sources(const Node& root, std::vector<std::string> destinations, Config& config,
                  Loading& loading) {
  const Surroundings around{config.max_body, !config.public_url.empty(), std::move(destinations)};
  std::vector<const Node*> taken;
  for (const Node* table : tables_of(root, "source", loading.report)) {
    std::optional<std::string> name = read_own_name(*table, taken, loading.report);
    for (gateway::Source& each : read_source(*table, around, loading)) {
      each.name = name.value_or("");
      config.sources.push_back(std::move(each));
    }
  }
}

void read_tokens(const Node& root, std::vector<std::string> destinations, Config& config,
                 Loading& loading) {
  const AroundTokens around{config.admin_token, std::move(destinations)};
  std::vector<const Node*> taken;
  for (const Node* table : tables_of(root, "token", loading.report)) {
    const std::optional<std::string> name = read_own_name(*table, taken, loading.report);
    read_token_table(*table, name, around, config, loading);
  }
}

Loaded load_tree(const Node& root, unsigned mode, Loading& loading) {
  Report& report = loading.report;
  check_keys(root, {kTables, kLaterTables}, report);
  Config config;
  read_server(root, config, loading);
  read_admin(root, config, loading);
  read_store(root, config, loading);
  std::vector<std::string> destinations = read_destinations(root, config, loading);
  read_tokens(root, destinations, config, loading);
  read_sources(root, std::move(destinations), config, loading);
  if (loading.plain_secrets && (mode & S_IROTH) != 0) {
    report.warning(0, "",
                   "the file contains secrets and is world-readable; run chmod o-rwx on it, or use "
                   "{ env = ... } or { file = ... }");
  }
  if (report.good()) warn_of(root, config, report);
  config.secret_files = std::move(loading.secret_files);
  Loaded loaded;
  if (report.good()) loaded.config = std::move(config);
  return loaded;
}

}  // namespace

std::string Problem::to_string() const {
  std::string out = file;
  if (line != 0) out += ":" + std::to_string(line);
  out += ": ";
  if (!field.empty()) out += field + ": ";
  return out + text;
}

Loaded load_config_text(std::string_view text, const std::string& path, unsigned mode,
                        const Variable& variable) {
  Report report(path);
  Loading loading{report, variable, std::filesystem::path(path).parent_path()};
  Loaded loaded;
  if (const std::optional<Node> root = parse_tree(text, report)) {
    loaded = load_tree(*root, mode, loading);
  }
  loaded.problems = report.take_problems();
  loaded.warnings = report.take_warnings();
  return loaded;
}

Loaded load_config(const std::string& path, const Variable& variable) {
  const Result<std::string> text = read_small_file(path, kMaxConfigBytes);
  if (!text) {
    Loaded loaded;
    const bool absent = text.error().detail() == "does not exist";
    loaded.problems.push_back(
        {path, 0, "",
         "the file " + text.error().detail() + (absent ? "; create one with 'hapax init'" : "")});
    return loaded;
  }
  struct stat status {};
  const bool known = stat(path.c_str(), &status) == 0;
  return load_config_text(*text, path, known ? status.st_mode : 0, variable);
}

}  // namespace hapax::daemon
