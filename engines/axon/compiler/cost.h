#pragma once
// What layers cost on the NPU, in its cycles: laws fitted to single layers that the vendor's
// performance model ran (docs/nordic-axon.md, "Costs"). Extensions run on the core and count
// nothing here.

#include <cstdint>

#include "engines/axon/compiler/network.h"

namespace thimble::engine::axon {

inline constexpr double kClockMhz = 128;  // of NPU and core
inline constexpr double kDispatchUs =
    72;  // of one call: driver, lock, queue, power (65 to 72 measured)

/// Not of layers whose result lies where its operand is.
[[nodiscard]] int64_t cycles_of(const Layer& layer);

/// Of a copy that makes a tensor of this size.
[[nodiscard]] int64_t cycles_of_copy(const Dims& dims);

}  // namespace thimble::engine::axon
