#pragma once
// How close the integer graph comes to the float graph.

#include <vector>

#include "quant/side_by_side.h"

namespace thimble::quant {

struct Quality {
  /// By counterpart: signal = sum (reference - its mean over samples and elements)^2.
  std::vector<double> op_db;
  /// By graph output: signal = sum (reference - its mean over samples)^2, noise = sum (reference -
  /// got)^2, over all samples and elements.
  std::vector<double> output_db;
};

[[nodiscard]] Quality measure_quality(const ir::Graph& float_graph, const LoweredGraph& lowered,
                                      const Samples& samples, const QualityRequest& request);

}  // namespace thimble::quant
