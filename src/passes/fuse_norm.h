// SPDX-License-Identifier: Apache-2.0
#pragma once
// fuse_norm(graph): replaces norms that are written as separate operators, such as
// u * rsqrt(mean(u * u) + eps), by layer_norm or rms_norm. Sources are F.normalize, decomposed
// RMSNorm and hand-written layer norms. The integer norms sum exactly; separate operators would
// each round to 8 bits.
//
// The norm may also be a quotient with a root as divisor. The radicand is a sum, a mean or a
// variance, plus eps. A lower bound on the root or an addend to it (F.normalize) is accepted up to
// 1e-6, far below the resolution of 8 bits. u may be x - mean(x). Constant factors and addends that
// follow become w and b.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {

[[nodiscard]] Result<ir::Graph> fuse_norm(const ir::Graph& graph);

}  // namespace thimble::passes
