// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/handshake.hpp>

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

// Handshakes that change something: a secret that a provider hands over (Asana, Notion), and a
// subscription that waits to be confirmed (Amazon SNS). Both are unauthenticated, so a secret is
// accepted only while an operator has opened a window, and a confirmation URL is only displayed.
namespace hapax::gateway {

struct Sources;

inline constexpr std::size_t kMaxProvisionedSecrets = 16;  // of one source
inline constexpr std::size_t kMaxConfirmations = 16;
inline constexpr std::chrono::seconds kMaxWindow = std::chrono::hours(24);

struct ProvisionedSecret {
  // path_of() its source, a colon and the preset that it is a secret of. Without the latter, as it
  // was written once, it is that of the preset that the source has when it is asked for first.
  std::string path;
  std::string secret;
};

// Of one source, or one declared tenant, and one preset. Thread-safe.
class ProvisionedSecrets {
 public:
  struct Status {
    std::optional<WallTime> open_until;  // nothing: the window is closed
    std::size_t secrets = 0;             // that were handed over and count
    std::optional<WallTime> taken_at;    // the last one, since the start
    std::vector<std::string> confirm_urls;
  };
  // Makes the secrets of this source durable; all of them each time.
  using Keep = std::function<Result<void>(const std::vector<std::string>&)>;

  // `secrets`: the newest first.
  ProvisionedSecrets(Clock& clock, const Preset& preset, std::vector<std::string> secrets,
                     Keep keep)
      : clock_(clock), preset_(preset), keep_(std::move(keep)), secrets_(std::move(secrets)) {}

  // Takes the secrets into use. An error: one of them cannot be used.
  Result<void> make_ready();

  // From now on, in place of a window before. 0: closed. invalid_argument: there are too many
  // secrets already, or the provider hands over none.
  Result<WallTime> open(std::chrono::seconds time);
  Status status() const;

  // The secret is durable and in force when this is true. False: no window is open. The window
  // closes with it, but for the same one again, whose answer may have been lost; after an error it
  // stays open.
  Result<bool> take(const std::string& secret);
  void note_confirmation(const std::string& url);

  // Null: nothing was handed over yet.
  std::shared_ptr<const Verifier> verifier() const;

 private:
  bool in_time() const { return until_ && clock_.since_boot() < *until_; }
  Result<std::shared_ptr<const Verifier>> verifier_of(
      const std::vector<std::string>& secrets) const;

  Clock& clock_;
  const Preset& preset_;
  const Keep keep_;
  mutable std::mutex mutex_;
  std::vector<std::string> secrets_;  // the newest first
  std::shared_ptr<const Verifier> verifier_;
  std::optional<BootTime> until_;
  bool taken_ = false;  // in the window until then
  std::optional<WallTime> taken_at_;
  std::vector<std::string> confirm_urls_;  // the newest last
};

// Of all sources, for as long as the server runs. Thread-safe.
class Handshakes {
 public:
  using Keep = std::function<Result<void>(std::span<const ProvisionedSecret>)>;

  // `known` was kept by an earlier run.
  Handshakes(Clock& clock, std::vector<ProvisionedSecret> known, Keep keep);

  // What belongs to this source and its preset; null where the preset has no such handshake. What
  // was handed over to the source under another preset counts again when it has that one again.
  // Changes nothing: the configuration that it is of may still be refused.
  Result<std::shared_ptr<ProvisionedSecrets>> of(const Source& source);
  // These are in force from now on, with what of() gave for them.
  void use(const Sources& sources);
  // The one that is posted to under this path; null: none is.
  std::shared_ptr<ProvisionedSecrets> find(const std::string& path) const;

 private:
  Result<void> keep(const std::string& name, const std::vector<std::string>& secrets);
  std::vector<std::string> secrets_of(const std::string& path, const std::string& name) const;

  Clock& clock_;
  const Keep keep_;
  mutable std::mutex mutex_;
  // By ProvisionedSecret::path, also of former sources.
  std::map<std::string, std::vector<std::string>> secrets_;
  std::map<std::string, std::shared_ptr<ProvisionedSecrets>> by_name_;  // likewise
  std::map<std::string, std::shared_ptr<ProvisionedSecrets>> by_path_;  // those in force
};

// The answer to a handshake; nothing when the request is none. An error: a secret could not be
// kept.
Result<std::optional<HandshakeAnswer>> handle_handshake(const Source& source,
                                                        const Request& request, WallTime now);

// Verifies what the configured secrets refused with those that were handed over.
Verdict verify_provisioned(const Source& source, const Request& request, WallTime now,
                           Scratch& scratch, Verdict refused);

}  // namespace hapax::gateway
