#pragma once
// A table of kernels that check and then do nothing: what a run of it takes is what the runtime
// takes outside of kernels.

#include <cstddef>
#include <cstdint>

#include "thimble.h"

namespace thimble::firmware {

/// How much memory hollow_kernels() wants; 0 if the table has delegates, which cannot be hollow.
size_t hollow_bytes(const thimble_kernels* kernels);

/// The table's kernels with bodies of one instruction. `memory` is 8-byte aligned.
const thimble_kernels* hollow_kernels(const thimble_kernels* kernels, uint8_t* memory);

}  // namespace thimble::firmware
