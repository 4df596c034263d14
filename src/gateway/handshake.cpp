// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/handshake.hpp"

#include "base/sha256.hpp"
#include "base/try.hpp"
#include "gateway/endpoint.hpp"

#include <algorithm>

namespace hapax::gateway {

namespace {

bool keeps_state(const Preset& preset) {
  return preset.handshake == Handshake::asana || preset.handshake == Handshake::notion ||
         preset.handshake == Handshake::sns;
}

// Includes the preset: a secret of one provider must not authenticate another, and the source's URL
// may have been given to another provider since.
std::string name_of(const Source& source) {
  return path_of(source) + ':' + std::string(source.preset->name);
}

}  // namespace

Result<std::shared_ptr<const Verifier>> ProvisionedSecrets::verifier_of(
    const std::vector<std::string>& secrets) const {
  if (secrets.empty()) return std::shared_ptr<const Verifier>();
  HAPAX_TRY_ASSIGN(made, Verifier::make(preset_.verify, secrets));
  return std::shared_ptr<const Verifier>(std::make_shared<Verifier>(std::move(made)));
}

Result<void> ProvisionedSecrets::make_ready() {
  const std::lock_guard lock(mutex_);
  HAPAX_TRY_TO(verifier_, verifier_of(secrets_));
  return {};
}

Result<WallTime> ProvisionedSecrets::open(std::chrono::seconds time) {
  const std::lock_guard lock(mutex_);
  if (preset_.handshake == Handshake::sns) {
    return Error(
        Code::invalid_argument,
        "Amazon SNS provisions no secret; open the URL shown here to confirm the subscription");
  }
  if (time > std::chrono::seconds(0) && secrets_.size() >= kMaxProvisionedSecrets) {
    return Error(Code::invalid_argument,
                 "16 secrets are already provisioned; remove unused ones from handshake.secrets in "
                 "data_dir and restart");
  }
  until_ = clock_.since_boot() + time;
  taken_ = false;
  return clock_.wall() + time;
}

ProvisionedSecrets::Status ProvisionedSecrets::status() const {
  const std::lock_guard lock(mutex_);
  Status status{{}, secrets_.size(), taken_at_, confirm_urls_};
  if (in_time() && !taken_) status.open_until = clock_.wall() + (*until_ - clock_.since_boot());
  return status;
}

Result<bool> ProvisionedSecrets::take(const std::string& secret) {
  const std::lock_guard lock(mutex_);
  if (!in_time()) return false;
  // May come from an attacker: comparison time must not reveal the secret.
  if (taken_) return sha256(secrets_.front()) == sha256(secret);
  std::vector<std::string> secrets{secret};
  for (const std::string& each : secrets_) {
    if (each != secret) secrets.push_back(each);
  }
  HAPAX_TRY_ASSIGN(made, verifier_of(secrets));
  HAPAX_TRY(keep_(secrets));
  verifier_ = std::move(made);
  secrets_ = std::move(secrets);
  taken_at_ = clock_.wall();
  taken_ = true;
  return true;
}

void ProvisionedSecrets::note_confirmation(const std::string& url) {
  const std::lock_guard lock(mutex_);
  std::erase(confirm_urls_, url);
  if (confirm_urls_.size() >= kMaxConfirmations) confirm_urls_.erase(confirm_urls_.begin());
  confirm_urls_.push_back(url);
}

std::shared_ptr<const Verifier> ProvisionedSecrets::verifier() const {
  const std::lock_guard lock(mutex_);
  return verifier_;
}

Handshakes::Handshakes(Clock& clock, std::vector<ProvisionedSecret> known, Keep keep)
    : clock_(clock), keep_(std::move(keep)) {
  for (ProvisionedSecret& each : known) secrets_[each.path].push_back(std::move(each.secret));
}

// mutex_ must be held.
std::vector<std::string> Handshakes::secrets_of(const std::string& path,
                                                const std::string& name) const {
  std::vector<std::string> secrets;
  for (const std::string& each : {name, path}) {
    const auto found = secrets_.find(each);
    if (found == secrets_.end()) continue;
    secrets.insert(secrets.end(), found->second.begin(), found->second.end());
  }
  return secrets;
}

Result<std::shared_ptr<ProvisionedSecrets>> Handshakes::of(const Source& source) {
  std::shared_ptr<ProvisionedSecrets> provisioned;
  if (source.preset == nullptr || !keeps_state(*source.preset)) return provisioned;
  const std::string path = path_of(source);
  const std::string name = name_of(source);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = by_name_.find(name); known != by_name_.end())
      provisioned = known->second;
    if (!provisioned) {
      provisioned = std::make_shared<ProvisionedSecrets>(
          clock_, *source.preset, secrets_of(path, name),
          [this, name](const std::vector<std::string>& all) { return keep(name, all); });
    }
  }
  if (Result<void> used = provisioned->make_ready(); !used) {
    return Error(Code::misconfigured,
                 "a provisioned secret of '" + path + "' is unusable: " + used.error().detail());
  }
  return provisioned;
}

void Handshakes::use(const Sources& sources) {
  const std::lock_guard lock(mutex_);
  by_path_.clear();
  for (const auto& [path, entry] : sources.by_name) {
    const std::shared_ptr<ProvisionedSecrets>& provisioned = entry.source.provisioned;
    if (!provisioned) continue;
    by_path_[path] = provisioned;
    const std::string name = name_of(entry.source);
    if (!by_name_.emplace(name, provisioned).second) continue;
    secrets_[name] = secrets_of(path, name);
    secrets_.erase(path);
  }
}

std::shared_ptr<ProvisionedSecrets> Handshakes::find(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : found->second;
}

Result<void> Handshakes::keep(const std::string& name, const std::vector<std::string>& secrets) {
  const std::lock_guard lock(mutex_);
  std::vector<ProvisionedSecret> all;
  for (const auto& [other, theirs] : secrets_) {
    for (const std::string& each : other == name ? secrets : theirs) all.push_back({other, each});
  }
  HAPAX_TRY(keep_(all));
  secrets_[name] = secrets;
  return {};
}

Result<std::optional<HandshakeAnswer>> handle_handshake(const Source& source,
                                                        const Request& request, WallTime now) {
  std::optional<HandshakeAnswer> answer;
  if (source.preset == nullptr || source.preset->handshake == Handshake::none) return answer;
  std::vector<Header> parameters;
  for (const OwnedHeader& each : source.parameters) parameters.push_back({each.name, each.value});
  const Context context{source.key_id, parameters};
  answer = answer_handshake(*source.preset, source.secrets, request, now, context);
  if (!answer) return answer;
  if (!answer->secret.empty()) {
    // Outside a window no secret is accepted: the request takes the normal path, which rejects it.
    if (!source.provisioned) return std::optional<HandshakeAnswer>();
    HAPAX_TRY_ASSIGN(taken, source.provisioned->take(answer->secret));
    if (!taken) return std::optional<HandshakeAnswer>();
  }
  if (!answer->confirm_url.empty() && source.provisioned) {
    source.provisioned->note_confirmation(answer->confirm_url);
  }
  return answer;
}

Verdict verify_provisioned(const Source& source, const Request& request, WallTime now,
                           Scratch& scratch, Verdict refused) {
  const std::shared_ptr<const Verifier> verifier = source.provisioned->verifier();
  if (!verifier) return refused;
  return verifier->verify(request, now, scratch);
}

}  // namespace hapax::gateway
