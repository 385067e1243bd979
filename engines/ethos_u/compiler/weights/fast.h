#pragma once
// Weights in the fast format of the U85: a header of 32 bytes, then 2, 4 or 8 bits a weight.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace thimble::engine::ethos_u {

/// Null if the weights have more than 16 values and a range of more than 256. `raw`: 8 bits even
/// if a table would do (sparse operations have no table).
[[nodiscard]] std::optional<std::vector<std::byte>> encode_fast(std::span<const int16_t> weights,
                                                                bool raw);

/// Bytes that encode_fast would make.
[[nodiscard]] int64_t fast_bytes(std::span<const int16_t> weights, bool raw);

}  // namespace thimble::engine::ethos_u
