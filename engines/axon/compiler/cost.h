// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cycles of layers on the NPU. The formulas are fitted to single layers that ran in the vendor's
// performance model (docs/nordic-axon.md, "Costs"). Extension layers run on the core and count 0
// cycles here.

#include <cstdint>

#include "engines/axon/compiler/network.h"

namespace thimble::engine::axon {

inline constexpr double kClockMhz = 128;  // clock of NPU and core
inline constexpr double kDispatchUs =
    72;  // overhead of one call: driver, lock, queue, power (65 to 72 measured)

/// Returns the layer's cycles; 0 for a layer whose result is its operand's memory.
[[nodiscard]] int64_t cycles_of(const Layer& layer);

/// Returns the cycles of a copy that produces a tensor of these dimensions.
[[nodiscard]] int64_t cycles_of_copy(const Dims& dims);

}  // namespace thimble::engine::axon
