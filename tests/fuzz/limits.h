// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every number of an input as a limit of an integer type, one after the other.

#include <cstddef>
#include <functional>
#include <string>

#include "base/bytes.h"

namespace thimble::fuzz {

/// Calls use(changed, at, value) for each number and each limit. `at` is the position of the number
/// and `value` its new text. A text has decimal numbers; other bytes have little-endian words at
/// multiples of 4.
void for_each_limit(
    const Bytes& input,
    const std::function<void(const Bytes& changed, size_t at, const std::string& value)>& use);

}  // namespace thimble::fuzz
