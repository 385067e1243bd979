// SPDX-License-Identifier: Apache-2.0
#pragma once
// The step that the loops of dot_int4.h without Helium share.

#include <cstdint>

namespace thimble::kernels {

/// Adds the products of x with the two weights of a byte (int4_offset_pair, abi/int4.h).
inline void add_int4_pair(int32_t x, uint8_t byte, uint32_t& low, uint32_t& both) {
  both += static_cast<uint32_t>(x * static_cast<int8_t>(byte));
  low += static_cast<uint32_t>(x * (byte & 15));
}

}  // namespace thimble::kernels
