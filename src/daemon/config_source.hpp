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

// The source itself, where it can be posted to without a tenant, and each of its declared tenants.
// Empty when a problem was reported.
std::vector<gateway::Source> read_source(const Node& table, const Surroundings& around,
                                         Loading& loading);

// How requests of a source are verified.
struct Way {
  const Preset* preset = nullptr;
  Scheme scheme{};
  const Node* at = nullptr;  // what says so
};

// One secret of the file: nothing where it could not be read.
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

// What a verifier is made of, and what it became.
struct Signing {
  std::vector<SecretEntry> secrets;
  std::optional<Verifier> verifier;
};

// Whether the provider gives the secret away in a handshake, so that there need be none at first.
bool provisions_secret(const Preset& preset);

// Nothing when a problem was reported. The scheme's texts are in the tree or in `kept`.
std::optional<Way> read_way(const Node& table, std::deque<std::string>& kept, Report& report);

KeyContext read_key_context(const Node& table, const std::optional<Way>& way, Report& report);

// The secrets of a source or of a tenant; the verifier where there is a way and all of it is good.
Signing read_signing(const Node& holder, const std::optional<Way>& way, const KeyContext& around,
                     Loading& loading);

// tenant = "json:/account": whether it is a place that the sender signs is checked too.
void take_tenant_place(const Node& table, const Way& way, std::string_view& into, Report& report);

// The tables of [[source.tenant]], each with a name that no other has.
struct DeclaredTenant {
  const Node* table = nullptr;
  std::string name;
};
std::vector<DeclaredTenant> read_tenants(const Node& table, Report& report);

// Whether requests are signed at all, as opposed to bringing a password along.
bool signs(const Scheme& scheme);

// Whether what a place holds is signed.
bool is_covered(const Scheme& scheme, std::string_view at);

// The same for all writings of one secret: the bytes of the key, or the DER of a public one.
std::string key_of(const Scheme& scheme, const std::string& secret);

// A secret that two share, however it is written, would let a captured request in under another
// tenant's path.
void check_own_secrets(const std::vector<const Signing*>& signings, const Scheme& scheme,
                       Report& report);

// verify = { scheme = ... }. The scheme's texts are in the tree or in `kept`, which must outlive
// it.
std::optional<Scheme> read_verify(const Node& table, std::deque<std::string>& kept, Report& report);

}  // namespace hapax::daemon
