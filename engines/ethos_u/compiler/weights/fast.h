// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encoder of the fast weight format of the U85: a header of 32 bytes, then 2, 4 or 8 bits per
// weight.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace thimble::engine::ethos_u {

/// Returns nullopt if the weights have more than 16 values and a range of more than 256. `raw`: use
/// 8 bits even if a LUT would suffice (sparse operations have no LUT).
[[nodiscard]] std::optional<std::vector<std::byte>> encode_fast(std::span<const int16_t> weights,
                                                                bool raw);

/// Returns the number of bytes that encode_fast would produce.
[[nodiscard]] int64_t fast_bytes(std::span<const int16_t> weights, bool raw);

}  // namespace thimble::engine::ethos_u
