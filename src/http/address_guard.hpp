// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/asio/ip/address.hpp>

namespace hapax::http {

// True if the address is on the public internet: not this machine (loopback, unspecified), a link,
// a private or shared network, a cloud's metadata service, multicast, or reserved. An IPv6 address
// that contains an IPv4 address (mapped, compatible, NAT64, 6to4) is classified by it; Teredo,
// which obfuscates it, is not public.
bool is_public(const boost::asio::ip::address& address);

}  // namespace hapax::http
