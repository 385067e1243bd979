#pragma once
// The sequence in which the multipliers want the weights of a slice.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/weights/weights.h"

namespace thimble::engine::ethos_u {

/// Refuses what the configuration has no order for.
[[nodiscard]] Status check_order(const Weights& weights, const WeightOptions& options);

/// Weight streams of a slice before they are coded: cores that work on it at the same time.
[[nodiscard]] int order_cores(const WeightOptions& options);

/// What `core` reads for channels [channel, channel + channels), padding included. Empty if the
/// core has no channel of the slice.
[[nodiscard]] std::vector<int16_t> ordered(const Weights& weights, const WeightOptions& options,
                                           int64_t channel, int64_t channels, int core);

/// The cores' sequences in the one that fast weights share, a piece of each in turn.
[[nodiscard]] std::vector<int16_t> ordered_for_fast(const Weights& weights,
                                                    const WeightOptions& options, int64_t channel,
                                                    int64_t channels);

}  // namespace thimble::engine::ethos_u
