#pragma once
// Scale records: what becomes of a channel's sum. Ten bytes each.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/weights/weights.h"

namespace thimble::engine::ethos_u {

/// Refuses biases, multipliers and shifts that a record has no bits for.
[[nodiscard]] Status check_scales(const Weights& weights, const Requantize& requantize,
                                  const WeightOptions& options);

/// Records of a slice for one core, without padding; empty if the core has none.
[[nodiscard]] std::vector<std::byte> scale_records(const Weights& weights,
                                                   const Requantize& requantize,
                                                   const WeightOptions& options, int64_t channel,
                                                   int64_t channels, int core);

/// Their length.
[[nodiscard]] int64_t scale_bytes(const WeightOptions& options, int64_t channels, int core);

}  // namespace thimble::engine::ethos_u
