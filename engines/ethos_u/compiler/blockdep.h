// SPDX-License-Identifier: Apache-2.0
#pragma once
// BLOCKDEP: the number of blocks of the previous kernel that may be unfinished when a kernel
// starts.

#include "engines/ethos_u/compiler/registers.h"

namespace thimble::engine::ethos_u {

/// Returns the largest safe value after the kernel `before` (null: no previous kernel, or a wait
/// for it was issued) and `earlier`, the kernel before that.
[[nodiscard]] int block_dependency(const Kernel* earlier, const Kernel* before,
                                   const Kernel& kernel);

}  // namespace thimble::engine::ethos_u
