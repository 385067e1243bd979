#pragma once
// BLOCKDEP: how many blocks of the kernel before may still be under way when a kernel begins.

#include "engines/ethos_u/compiler/registers.h"

namespace thimble::engine::ethos_u {

/// The largest value that is safe after `before` (null: nothing ran before, or it was waited for)
/// and `earlier`, the kernel before that.
[[nodiscard]] int block_dependency(const Kernel* earlier, const Kernel* before,
                                   const Kernel& kernel);

}  // namespace thimble::engine::ethos_u
