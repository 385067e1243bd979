// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encoder of MLW weight streams.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace thimble::engine::ethos_u {

/// Returns the stream, padded to a multiple of 16 bytes, including the end of stream. Weights must
/// be in -255..255. No weights give no bytes.
[[nodiscard]] std::vector<std::byte> encode_mlw(std::span<const int16_t> weights);

/// Returns the estimated size of encode_mlw's result in bytes, computed from the histogram for a
/// single slice. The error is a few percent if the order of the weights does not matter.
[[nodiscard]] int64_t estimate_mlw(std::span<const int16_t> weights);

}  // namespace thimble::engine::ethos_u
