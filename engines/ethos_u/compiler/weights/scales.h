// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encodes scale records: bias, multiplier and shift of each output channel, ten bytes each.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/weights/weights.h"

namespace thimble::engine::ethos_u {

/// Returns an error for biases, multipliers and shifts that do not fit in a record.
[[nodiscard]] Status check_scales(const Weights& weights, const Requantize& requantize,
                                  const WeightOptions& options);

/// Returns the records of a slice for one core, without padding; empty if the core has no channel.
[[nodiscard]] std::vector<std::byte> scale_records(const Weights& weights,
                                                   const Requantize& requantize,
                                                   const WeightOptions& options, int64_t channel,
                                                   int64_t channels, int core);

/// Returns the length of scale_records() in bytes.
[[nodiscard]] int64_t scale_bytes(const WeightOptions& options, int64_t channels, int core);

}  // namespace thimble::engine::ethos_u
