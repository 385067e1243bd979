#pragma once
// SHA-256 (FIPS 180-4), so that outputs can be compared by one line of text.

#include <string>

#include "base/bytes.h"

namespace thimble {
/// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(ByteView bytes);
}  // namespace thimble
