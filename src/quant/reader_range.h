// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shortens the ranges of values whose readers do not need all of them.
//
// A value that only tables read may be clipped where the functions are flat: silu(-5) and silu(-9)
// are almost equal, and hardswish is 0 below -3. The int8 steps of the shorter range are finer for
// all other elements. The ends have the least squared error of the functions' results,
//
//   sum over elements of  (f(x + step/2) - f(x - step/2))^2 / 12   inside the range
//                         kClipping * (f(x) - f(end))^2            outside
//
// and a function may change by at most kFlat of its range beyond an end. Where a function is not
// flat, the range does not change: clipping there shifts means (docs/quantization.md, "Ranges").
//
// A value that only a softmax at the end reads keeps the observed range without extrapolation: its
// largest elements have probabilities near 1, which clipping hardly changes.

#include <vector>

#include "quant/calibrate.h"
#include "quant/plan.h"

namespace thimble::quant {

/// Returns the values that only tables read, in graph order. They must be observed with bins.
[[nodiscard]] std::vector<ir::ValueId> read_by_tables(const ir::Graph& graph, const Plan& plan);

/// Restricts the histograms (Histogram::restrict) of such values and of operands of a softmax at
/// the end.
void restrict_to_readers(const ir::Graph& graph, const Plan& plan,
                         std::vector<Histogram>& histograms);

}  // namespace thimble::quant
