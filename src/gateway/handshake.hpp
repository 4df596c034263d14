// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/verify.hpp>

#include "gateway/source.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Handshakes with an effect: a secret provisioned by the provider (Asana, Notion), and a
// subscription that must be confirmed (Amazon SNS). Both are unauthenticated, so a secret is
// accepted only while an operator has opened a window, and a confirmation URL is only displayed.
namespace hapax::gateway {

struct Sources;

inline constexpr std::size_t kMaxProvisionedSecrets = 16;  // of one source
inline constexpr std::size_t kMaxConfirmations = 16;
inline constexpr std::chrono::seconds kMaxWindow = std::chrono::hours(24);

struct ProvisionedSecret {
  // path_of() its source, a colon and the preset of the secret. Older versions wrote no preset:
  // such a secret belongs to the preset that the source has at first use.
  std::string path;
  std::string secret;
};

// The provisioned secrets of one source or declared tenant, and one preset. Thread-safe.
class ProvisionedSecrets {
 public:
  struct Status {
    std::optional<WallTime> open_until;  // nullopt: the window is closed
    std::size_t secrets = 0;             // provisioned and valid
    std::optional<WallTime> taken_at;    // when the last one was provisioned, since the start
    std::vector<std::string> confirm_urls;
  };
  // Makes the secrets of this source durable; called with all of them each time.
  using Keep = std::function<Result<void>(const std::vector<std::string>&)>;

  // `secrets`: newest first.
  ProvisionedSecrets(Clock& clock, const Preset& preset, std::vector<std::string> secrets,
                     Keep keep)
      : clock_(clock), preset_(preset), keep_(std::move(keep)), secrets_(std::move(secrets)) {}

  // Builds the verifier. Fails if one of the secrets is unusable.
  Result<void> make_ready();

  // Opens a window from now on, replacing an earlier one, and returns its end; 0 closes it. Fails
  // with invalid_argument if there are too many secrets or the provider provisions none.
  Result<WallTime> open(std::chrono::seconds time);
  Status status() const;

  // Accepts a secret. Returns true once the secret is durable and active; false if no window is
  // open. This closes the window, except for the same secret again, whose response may have been
  // lost. After an error the window stays open.
  Result<bool> take(const std::string& secret);
  void note_confirmation(const std::string& url);

  // Null if no secret is provisioned yet.
  std::shared_ptr<const Verifier> verifier() const;

 private:
  bool in_time() const { return until_ && clock_.since_boot() < *until_; }
  Result<std::shared_ptr<const Verifier>> verifier_of(
      const std::vector<std::string>& secrets) const;

  Clock& clock_;
  const Preset& preset_;
  const Keep keep_;
  mutable std::mutex mutex_;
  std::vector<std::string> secrets_;  // newest first
  std::shared_ptr<const Verifier> verifier_;
  std::optional<BootTime> until_;
  bool taken_ = false;  // a secret was accepted in this window
  std::optional<WallTime> taken_at_;
  std::vector<std::string> confirm_urls_;  // newest last
};

// The handshake state of all sources, for the lifetime of the server. Thread-safe.
class Handshakes {
 public:
  using Keep = std::function<Result<void>(std::span<const ProvisionedSecret>)>;

  // `known`: the secrets stored by an earlier run.
  Handshakes(Clock& clock, std::vector<ProvisionedSecret> known, Keep keep);

  // The state of this source and its preset; null if the preset has no such handshake. Secrets
  // provisioned under another preset become valid again when the source returns to that preset.
  // Does not affect the active sources: the configuration may still be rejected.
  Result<std::shared_ptr<ProvisionedSecrets>> of(const Source& source);
  // Activates these sources, with the states that of() returned for them.
  void use(const Sources& sources);
  // The state of the active source with this path, or null.
  std::shared_ptr<ProvisionedSecrets> find(const std::string& path) const;

 private:
  Result<void> keep(const std::string& name, const std::vector<std::string>& secrets);
  std::vector<std::string> secrets_of(const std::string& path, const std::string& name) const;

  Clock& clock_;
  const Keep keep_;
  mutable std::mutex mutex_;
  // By ProvisionedSecret::path; includes former sources.
  std::map<std::string, std::vector<std::string>> secrets_;
  std::map<std::string, std::shared_ptr<ProvisionedSecrets>> by_name_;  // includes former sources
  std::map<std::string, std::shared_ptr<ProvisionedSecrets>> by_path_;  // active sources
};

// The response to a handshake; nullopt if the request is not one. Fails if a secret cannot be
// stored.
Result<std::optional<HandshakeAnswer>> handle_handshake(const Source& source,
                                                        const Request& request, WallTime now);

// Verifies a request that the configured secrets rejected with the provisioned secrets; returns
// `refused` if there are none.
Verdict verify_provisioned(const Source& source, const Request& request, WallTime now,
                           Scratch& scratch, Verdict refused);

}  // namespace hapax::gateway
