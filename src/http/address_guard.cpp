// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/address_guard.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace hapax::http {

namespace {

namespace ip = boost::asio::ip;

struct Network4 {
  std::uint32_t address;
  unsigned bits;
};
// The entries of the IANA special-purpose address registries that are not globally reachable.
constexpr std::array<Network4, 15> kNotPublic4{{
    {0x00000000, 8},   // this network
    {0x0a000000, 8},   // private
    {0x64400000, 10},  // shared: carrier-grade NAT, cloud metadata
    {0x7f000000, 8},   // loopback
    {0xa9fe0000, 16},  // link-local, metadata
    {0xa83f8110, 32},  // platform services of a cloud, on each of its machines
    {0xac100000, 12},  // private
    {0xc0000000, 24},  // protocol assignments, metadata
    {0xc0000200, 24},  // documentation
    {0xc0a80000, 16},  // private
    {0xc6120000, 15},  // benchmarks
    {0xc6336400, 24},  // documentation
    {0xcb007100, 24},  // documentation
    {0xe0000000, 4},   // multicast
    {0xf0000000, 4},   // reserved, broadcast
}};

struct Network6 {
  std::array<std::uint8_t, 8> address;
  unsigned bits;
};
constexpr std::array<Network6, 9> kNotPublic6{{
    {{0xfc}, 7},                                 // unique local
    {{0xfe, 0x80}, 10},                          // link-local
    {{0xfe, 0xc0}, 10},                          // site-local
    {{0xff}, 8},                                 // multicast
    {{0x01}, 64},                                // discard
    {{0x20, 0x01, 0x00, 0x00}, 32},              // Teredo
    {{0x20, 0x01, 0x0d, 0xb8}, 32},              // documentation
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48},  // local NAT64
    {{0x20, 0x01, 0x00, 0x02, 0x00, 0x00}, 48},  // benchmarks
}};

bool is_public4(std::uint32_t address) {
  return std::none_of(kNotPublic4.begin(), kNotPublic4.end(), [&](const Network4& each) {
    return (address ^ each.address) >> (32 - each.bits) == 0;
  });
}

using Bytes = ip::address_v6::bytes_type;

bool begins_with(const Bytes& bytes, const Network6& network) {
  for (unsigned bit = 0; bit < network.bits; ++bit) {
    const unsigned differ = bytes[bit / 8] ^ network.address[bit / 8];
    if ((differ >> (7 - bit % 8) & 1U) != 0) return false;
  }
  return true;
}

std::uint32_t four(const Bytes& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | bytes[i];
  return value;
}

bool is_zero(const Bytes& bytes, std::size_t from, std::size_t to) {
  return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                     bytes.begin() + static_cast<std::ptrdiff_t>(to),
                     [](std::uint8_t byte) { return byte == 0; });
}

bool is_public6(const Bytes& bytes) {
  const bool mapped = is_zero(bytes, 0, 10) && bytes[10] == 0xff && bytes[11] == 0xff;
  const bool translated = is_zero(bytes, 0, 8) && bytes[8] == 0xff && bytes[9] == 0xff;
  const bool nat64 = four(bytes, 0) == 0x0064ff9b && is_zero(bytes, 4, 12);
  // ::1 and :: count as IPv4-compatible: 0.0.0.1 and 0.0.0.0.
  if (mapped || translated || nat64 || is_zero(bytes, 0, 12)) return is_public4(four(bytes, 12));
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return is_public4(four(bytes, 2));  // 6to4
  return std::none_of(kNotPublic6.begin(), kNotPublic6.end(),
                      [&](const Network6& each) { return begins_with(bytes, each); });
}

}  // namespace

bool is_public(const ip::address& address) {
  return address.is_v4() ? is_public4(address.to_v4().to_uint())
                         : is_public6(address.to_v6().to_bytes());
}

}  // namespace hapax::http
