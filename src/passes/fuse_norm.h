#pragma once
// Norms that are written out, u * rsqrt(mean(u * u) + eps) and its relatives, become layer_norm or
// rms_norm: F.normalize, decomposed RMSNorm, hand-written layer norms. Their integer form sums
// exactly, where the parts would each be rounded to 8 bits.
//
// The root may be a quotient's, of a sum, a mean or a variance, with eps added under it. A bound or
// an addend behind the root (F.normalize) is accepted up to 1e-6, far below what eight bits
// resolve. u may be x - mean(x). Constant factors and addends behind become w and b.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {

[[nodiscard]] Result<ir::Graph> fuse_norm(const ir::Graph& graph);

}  // namespace thimble::passes
