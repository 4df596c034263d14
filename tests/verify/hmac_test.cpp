// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/hmac.hpp"

#include "base/hex.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace hapax::verify_detail {
namespace {

std::string hmac_of(Hash hash, std::string_view key_text, std::string_view message) {
  const HmacKey key(hash, key_text);
  Hashing hashing = key.begin();
  hashing.add(message);
  return std::string(key.finish(hashing).view());
}

std::string openssl_hmac(const EVP_MD* hash, const std::string& key, const std::string& message) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(hash, key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(message.data()), message.size(), out, &size);
  return {reinterpret_cast<const char*>(out), size};
}

// RFC 4231, test case 2.
TEST(Hmac, MatchesTheExampleOfTheStandard) {
  EXPECT_EQ(to_hex(hmac_of(Hash::sha256, "Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hmac, MatchesOpenSslAroundBlockSizes) {
  const std::pair<Hash, const EVP_MD*> hashes[] = {{Hash::md5, EVP_md5()},
                                                   {Hash::sha1, EVP_sha1()},
                                                   {Hash::sha256, EVP_sha256()},
                                                   {Hash::sha384, EVP_sha384()},
                                                   {Hash::sha512, EVP_sha512()}};
  const std::size_t key_sizes[] = {1, 20, 63, 64, 65, 127, 128, 129, 300};
  const std::size_t sizes[] = {0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1000};
  for (const auto& [hash, theirs] : hashes) {
    for (const std::size_t key_size : key_sizes) {
      for (const std::size_t size : sizes) {
        const std::string key(key_size, '\xaa');
        const std::string message(size, 'm');
        ASSERT_EQ(to_hex(hmac_of(hash, key, message)), to_hex(openssl_hmac(theirs, key, message)))
            << key_size << " " << size;
      }
    }
  }
}

TEST(Hmac, AMessageInPiecesHasTheSameHmac) {
  const HmacKey key(Hash::sha512, "key");
  Hashing hashing = key.begin();
  for (int i = 0; i < 300; ++i) hashing.add("ab");
  hashing.add("");
  std::string whole;
  for (int i = 0; i < 300; ++i) whole += "ab";
  EXPECT_EQ(key.finish(hashing).view(), hmac_of(Hash::sha512, "key", whole));
}

TEST(Hmac, AKeyCanBeReused) {
  const HmacKey key(Hash::sha1, "key");
  for (int i = 0; i < 3; ++i) {
    Hashing hashing = key.begin();
    hashing.add("message");
    EXPECT_EQ(key.finish(hashing).view(), hmac_of(Hash::sha1, "key", "message"));
  }
}

TEST(EqualInConstantTime, ComparesTexts) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_in_constant_time("", "a"));
}

}  // namespace
}  // namespace hapax::verify_detail
