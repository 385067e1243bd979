#pragma once
// A sequence of weights as an MLW stream.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace thimble::engine::ethos_u {

/// The bytes, a multiple of 16, end of stream included. Weights are -255..255; none is no bytes.
[[nodiscard]] std::vector<std::byte> encode_mlw(std::span<const int16_t> weights);

/// Bytes that encode_mlw would make of weights with this histogram, if they were one slice: within
/// a few percent where nothing in the order of the weights matters.
[[nodiscard]] int64_t estimate_mlw(std::span<const int16_t> weights);

}  // namespace thimble::engine::ethos_u
