// SPDX-License-Identifier: Apache-2.0
#pragma once
// Number of bytes that a kernel call loads from and stores to each of its operands. The memory
// placement uses these numbers to choose which operands go to a fast memory. The model describes
// classes of kernels, not single kernels (docs/memory.md, "Objects in several memories").
// tests/c_output/c_memories_test.py compares it with the accesses that the emulator counts.

#include <vector>

#include "engine/engine.h"

namespace thimble::memory {

struct Accesses {
  std::vector<int64_t> arguments;  // bytes read per argument; for scratch: read and written
  int64_t out = 0;                 // bytes written to the outputs
};

[[nodiscard]] Accesses accesses_of(const engine::Lowered& lowered, const engine::KernelCall& call,
                                   const engine::Core& target);

}  // namespace thimble::memory
