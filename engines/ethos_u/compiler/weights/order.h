// SPDX-License-Identifier: Apache-2.0
#pragma once
// Computes the sequence in which the MAC array reads the weights of a slice.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/weights/weights.h"

namespace thimble::engine::ethos_u {

/// Returns an error if the configuration has no order for these weights.
[[nodiscard]] Status check_order(const Weights& weights, const WeightOptions& options);

/// Returns the number of weight streams of a slice: the cores that process it in parallel.
[[nodiscard]] int order_cores(const WeightOptions& options);

/// Returns the weights that `core` reads for channels [channel, channel + channels), including
/// padding. Empty if the core has no channel of the slice.
[[nodiscard]] std::vector<int16_t> ordered(const Weights& weights, const WeightOptions& options,
                                           int64_t channel, int64_t channels, int core);

/// Returns the sequences of all cores, interleaved group by group in one stream of fast weights.
[[nodiscard]] std::vector<int16_t> ordered_for_fast(const Weights& weights,
                                                    const WeightOptions& options, int64_t channel,
                                                    int64_t channels);

}  // namespace thimble::engine::ethos_u
