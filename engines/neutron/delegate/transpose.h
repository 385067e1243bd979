// SPDX-License-Identifier: Apache-2.0
#pragma once
// Transposes the bytes of an image between channels-first and channels-last order.

#include <cstdint>

namespace thimble::runtime::neutron {

/// to[c * rows + r] = from[r * columns + c]. From channels-first to channels-last, rows are
/// channels and columns are pixels; in the other direction they are swapped.
void transpose(const uint8_t* from, uint8_t* to, uint32_t rows, uint32_t columns);

}  // namespace thimble::runtime::neutron
