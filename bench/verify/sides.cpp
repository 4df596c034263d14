// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/verify/sides.hpp"

#include "bench/must.hpp"
#include "verify/sample.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>

#include <stdexcept>

namespace hapax::bench {

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

class Baseline : public Side {
 public:
  void prepare(std::size_t rows) override { rows_ = rows; }
  void run() override {
    for (std::size_t i = 0; i < rows_; ++i) one();
  }

 private:
  virtual void one() = 0;
  std::size_t rows_ = 0;
};

class BareHmac final : public Baseline {
 public:
  BareHmac(const char* hash, std::string body) : body_(std::move(body)) {
    EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    context_.reset(EVP_MAC_CTX_new(mac));
    EVP_MAC_free(mac);
    std::string name = hash;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), name.size()),
        OSSL_PARAM_construct_end()};
    const std::string_view key = "0123456789abcdef01234567";
    require(EVP_MAC_init(context_.get(), bytes_of(key), key.size(), parameters) == 1, "EVP_MAC");
  }

 private:
  void one() override {
    unsigned char out[EVP_MAX_MD_SIZE];
    std::size_t size = 0;
    // Without a key: the prepared one is used.
    require(EVP_MAC_init(context_.get(), nullptr, 0, nullptr) == 1 &&
                EVP_MAC_update(context_.get(), bytes_of(body_), body_.size()) == 1 &&
                EVP_MAC_final(context_.get(), out, &size, sizeof out) == 1,
            "EVP_MAC");
  }

  struct Free {
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
  };
  std::unique_ptr<EVP_MAC_CTX, Free> context_;
  std::string body_;
};

class BareVerify final : public Baseline {
 public:
  BareVerify(const std::string& private_pem, const EVP_MD* hash, std::string body)
      : hash_(hash), body_(std::move(body)) {
    BIO* in = BIO_new_mem_buf(private_pem.data(), static_cast<int>(private_pem.size()));
    key_.reset(PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr));
    BIO_free(in);
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    std::size_t size = 0;
    require(key_ && EVP_DigestSignInit(context, nullptr, hash_, nullptr, key_.get()) == 1 &&
                EVP_DigestSign(context, nullptr, &size, bytes_of(body_), body_.size()) == 1,
            "EVP_DigestSign");
    signature_.resize(size);
    require(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature_.data()), &size,
                           bytes_of(body_), body_.size()) == 1,
            "EVP_DigestSign");
    signature_.resize(size);
    EVP_MD_CTX_free(context);
  }

 private:
  void one() override {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    const bool right = EVP_DigestVerifyInit(context, nullptr, hash_, nullptr, key_.get()) == 1 &&
                       EVP_DigestVerify(context, bytes_of(signature_), signature_.size(),
                                        bytes_of(body_), body_.size()) == 1;
    EVP_MD_CTX_free(context);
    require(right, "EVP_DigestVerify");
  }

  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  std::unique_ptr<EVP_PKEY, Free> key_;
  const EVP_MD* hash_;
  std::string body_;
  std::string signature_;
};

class Hapax final : public Side {
 public:
  Hapax(const test::Sample& sample, test::OwnedRequest request)
      : secrets_{sample.secrets[sample.right]},
        verifier_(must(Verifier::make(sample.preset->verify, secrets_, sample.context()))),
        request_(std::move(request)) {
    // The input that a server provides: the headers of every request, and padding after the body.
    for (const Header& each : kUsual) headers_.push_back(each);
    for (const OwnedHeader& each : request_.headers) headers_.push_back({each.name, each.value});
    const std::size_t size = request_.body.size();
    request_.body.resize(size + kBodyPadding);
    view_ = {request_.method, request_.url, headers_, {request_.body.data(), size}, kBodyPadding};
  }

  void prepare(std::size_t rows) override { rows_ = rows; }
  void run() override {
    for (std::size_t i = 0; i < rows_; ++i) {
      const Verdict verdict = verifier_.verify(view_, test::kNow, scratch_);
      if (!verdict.authentic()) throw std::runtime_error(verdict.detail);
    }
  }

 private:
  static constexpr Header kUsual[] = {{"Host", "hooks.example.com"},
                                      {"User-Agent", "Sender/1.0"},
                                      {"Content-Type", "application/json"},
                                      {"Content-Length", "1024"},
                                      {"Accept", "*/*"},
                                      {"Accept-Encoding", "gzip"}};

  std::vector<std::string> secrets_;
  Verifier verifier_;
  test::OwnedRequest request_;
  std::vector<Header> headers_;
  Request view_;
  Scratch scratch_;
  std::size_t rows_ = 0;
};

// The body of the sample, padded to the size.
std::string filled(std::string body, std::size_t size) {
  const std::size_t more = size > body.size() + 16 ? size - body.size() - 16 : 0;
  if (body.starts_with('{'))
    return R"({"filler":")" + std::string(more, 'x') + "\"," + body.substr(1);
  if (body.starts_with('['))
    return R"([{"messageId":")" + std::string(more, 'x') + "\"}," + body.substr(1);
  return body + "&Z=" + std::string(more, 'x');
}

const char* hmac_of(Algorithm algorithm) {
  return algorithm == Algorithm::hmac_sha1     ? "SHA1"
         : algorithm == Algorithm::hmac_sha512 ? "SHA512"
                                               : "SHA256";
}

}  // namespace

Pair open_pair(std::string_view name, std::size_t size) {
  const test::Sample sample = test::sample_of(*preset(name));
  const std::string body = filled(sample.unsigned_request.body, size);
  Pair pair;
  const Algorithm algorithm = sample.preset->verify.algorithm;
  if (sample.preset->verify.secret.form == SecretForm::public_key) {
    const EVP_MD* hash = algorithm == Algorithm::ed25519 ? nullptr : EVP_sha256();
    pair.baseline = std::make_unique<BareVerify>(sample.signing_secret, hash, body);
  } else {
    pair.baseline = std::make_unique<BareHmac>(hmac_of(algorithm), body);
  }
  pair.subject = std::make_unique<Hapax>(sample, must(sample.sign(test::kNow, body)));
  return pair;
}

}  // namespace hapax::bench
