// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_values.hpp"

#include <deque>

// The [[source]]s of a configuration.
namespace hapax::daemon {

// Settings from other tables that a source depends on.
struct Surroundings {
  std::size_t max_body = 0;
  bool has_public_url = false;
  std::vector<std::string> destinations;
};

// The source itself, if it accepts requests without a tenant, and one entry per declared tenant.
// Empty if a problem was reported.
std::vector<gateway::Source> read_source(const Node& table, const Surroundings& around,
                                         Loading& loading);

// How requests of a source are verified.
struct Way {
  const Preset* preset = nullptr;
  Scheme scheme{};
  const Node* at = nullptr;  // the value that defines it
};

// A configured secret; `text` is nullopt if it could not be read.
struct SecretEntry {
  const Node* at = nullptr;
  std::optional<std::string> text;
};

// What a verifier needs besides the secrets; the same for all tenants of a source.
struct KeyContext {
  std::string key_id;
  std::vector<OwnedHeader> parameters;
  bool good = true;
};

// The secrets and the verifier made from them.
struct Signing {
  std::vector<SecretEntry> secrets;
  std::optional<Verifier> verifier;
};

// Whether the provider sends the secret in a handshake, so that none needs to be configured.
bool provisions_secret(const Preset& preset);

// nullopt: a problem was reported. The scheme has views into the tree and `kept`.
std::optional<Way> read_way(const Node& table, std::deque<std::string>& kept, Report& report);

KeyContext read_key_context(const Node& table, const std::optional<Way>& way, Report& report);

// The secrets of a source or tenant. The verifier is set if there is a way and everything is valid.
Signing read_signing(const Node& holder, const std::optional<Way>& way, const KeyContext& around,
                     Loading& loading);

// Reads tenant = "json:/account" and checks that the sender signs that place.
void take_tenant_place(const Node& table, const Way& way, std::string_view& into, Report& report);

// The tables of [[source.tenant]] with valid and unique names.
struct DeclaredTenant {
  const Node* table = nullptr;
  std::string name;
};
std::vector<DeclaredTenant> read_tenants(const Node& table, Report& report);

// Whether the scheme signs requests, as opposed to sending a password.
bool signs(const Scheme& scheme);

// Whether the value of a place is signed.
bool is_covered(const Scheme& scheme, std::string_view at);

// The canonical form of a secret, whatever its spelling: the bytes of the key, or the DER of a
// public key.
std::string key_of(const Scheme& scheme, const std::string& secret);

// Reports a secret that two tenants share, whatever its spelling: a request captured from one would
// be valid under the path of the other.
void check_own_secrets(const std::vector<const Signing*>& signings, const Scheme& scheme,
                       Report& report);

// Reads verify = { scheme = ... }. The scheme has views into the tree and `kept`, which must
// outlive it.
std::optional<Scheme> read_verify(const Node& table, std::deque<std::string>& kept, Report& report);

}  // namespace hapax::daemon
