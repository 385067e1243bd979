#pragma once
// lower(): a region in the NPU's arithmetic as kernels on views, without addresses.
//
// Most movement is no kernel: a permute, reshape or slice is another view of the same bytes
// (strided.h), a piece of a concat is written where the whole lies, and what the region returns is
// written where the caller wants it. What is left is copied where a kernel cannot read or write the
// view as it lies: images and matrices need their channels next to each other.
//
// Operators become one kernel with what stands beside them: functions of the result that are tables
// (fusion.h), paddings in front of a convolution.

#include "base/result.h"
#include "engines/neutron/compiler/cost.h"
#include "engines/neutron/compiler/network.h"

namespace thimble::engine::neutron {

/// Not supported: the first operator that no kernel computes, with the reason.
[[nodiscard]] Result<Network> lower(const ir::Graph& region, const Costs& costs = {});

}  // namespace thimble::engine::neutron
