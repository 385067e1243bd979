#pragma once
// How many bytes of its operands a kernel call loads and stores: what decides which of them a fast
// memory is for. A model of how the kernels work, not of single ones (docs/memory.md, "Where things
// lie"): tests/c_output/c_memories_test.py compares it with what the emulator counts.

#include <vector>

#include "engine/engine.h"

namespace thimble::engine {

struct Accesses {
  std::vector<int64_t> arguments;  // bytes read (of scratch: and written), one per argument
  int64_t out = 0;                 // bytes written
};

[[nodiscard]] Accesses accesses_of(const Lowered& lowered, const KernelCall& call,
                                   const Core& target);

}  // namespace thimble::engine
