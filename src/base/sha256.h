// SPDX-License-Identifier: Apache-2.0
#pragma once
// SHA-256 (FIPS 180-4). Outputs are compared by their digest, which is one line of text.

#include <string>

#include "base/bytes.h"

namespace thimble {
/// Returns the digest as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(ByteView bytes);
}  // namespace thimble
