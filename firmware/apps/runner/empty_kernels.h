// SPDX-License-Identifier: Apache-2.0
#pragma once
// A kernel table whose kernels check their arguments and then do nothing. A run with this table
// measures the time that the runtime spends outside of kernels.

#include <cstddef>
#include <cstdint>

#include "thimble.h"

namespace thimble::firmware {

/// Bytes that empty_kernels() needs; 0 if the table has delegates, which cannot be replaced.
size_t empty_kernels_bytes(const thimble_kernels* kernels);

/// The table's kernels with a body of one instruction. `memory` must be 8-byte aligned.
const thimble_kernels* empty_kernels(const thimble_kernels* kernels, uint8_t* memory);

}  // namespace thimble::firmware
