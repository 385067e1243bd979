#pragma once
// Shortens the ranges of large activations where clipping costs less than it saves.
//
// All elements of a value share one step, so a few large elements make every other one coarse. The
// range of the least squared error is often 10 to 30 % shorter than the observed one. It is too
// short: errors of clipping shift means in one direction and have the sign of the signal, so they
// add up in sums, and rounding errors do not. Clipping therefore counts kClippingWeight times here,
// as in reader_range.h.
//
// Only images with 1,024 elements or more are shortened. Neighbors of an image are alike, so one
// clipped element is one of many with the same information. The largest elements of vectors, such
// as the tokens of a transformer, are often features that no other element has. Smaller values have
// too few elements in the calibration data. Inputs, outputs, states, and sides that are
// extrapolated (extrapolate_range.h) keep their ranges.

#include <vector>

#include "quant/histogram.h"
#include "quant/plan.h"
#include "quant/range.h"

namespace thimble::quant {

/// Returns those of `observed` whose ranges may be shortened. Their histograms need bins.
[[nodiscard]] std::vector<ir::ValueId> shortenable(const ir::Graph& graph, const Plan& plan,
                                                   const std::vector<ir::ValueId>& observed);

/// Returns the range with the least error: the default range, or a shorter one.
[[nodiscard]] Range shorter_range(const Histogram& histogram);

/// Restricts the histograms of `values` to their shorter ranges.
void shorten_ranges(const std::vector<ir::ValueId>& values, std::vector<Histogram>& histograms);

}  // namespace thimble::quant
