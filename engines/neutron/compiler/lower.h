// SPDX-License-Identifier: Apache-2.0
#pragma once
// lower(): turns a legalized subgraph into kernels on views, without addresses.
//
// Most data movement needs no kernel. A permute, reshape or slice is another view of the same bytes
// (location.h). A piece of a concat is written directly to its part of the result, and a graph
// output directly to the output buffer. Data is copied only where a kernel cannot read or write the
// view: images and matrices must have contiguous channels.
//
// One kernel also computes fused operators: functions of the result as a table (fusion.h), and
// padding before a convolution.

#include "base/result.h"
#include "engines/neutron/compiler/cost.h"
#include "engines/neutron/compiler/network.h"

namespace thimble::engine::neutron {

/// Returns an unsupported error with the reason for the first operator that no kernel computes.
[[nodiscard]] Result<Network> lower(const ir::Graph& subgraph, const Costs& costs = {});

}  // namespace thimble::engine::neutron
