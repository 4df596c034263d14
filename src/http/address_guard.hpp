// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/asio/ip/address.hpp>

namespace hapax::http {

// Whether an address is one of the internet's: not this machine (loopback, unspecified), nor a
// link, a private or shared network, a cloud's metadata service, multicast, or reserved. An IPv6
// address that stands for one of IPv4 (mapped, compatible, NAT64, 6to4) is what that one is; what
// hides it (Teredo) is not public.
bool is_public(const boost::asio::ip::address& address);

}  // namespace hapax::http
