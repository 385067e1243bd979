// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators that multiply each channel by a number and add a number.

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::passes {

/// y = x * scale[c] + shift[c]. Double precision is used while a chain is folded.
struct ChannelAffine {
  std::vector<double> scale, shift;

  explicit ChannelAffine(size_t channels) : scale(channels, 1.0), shift(channels, 0.0) {}
  void then(double times, double plus, size_t c) {
    scale[c] *= times;
    shift[c] = shift[c] * times + plus;
  }
};

/// Returns one number per channel if the value is a constant that varies along `dim` only and does
/// not broadcast `result` to a larger shape.
[[nodiscard]] std::optional<std::vector<double>> by_channel(const ir::Value& value,
                                                            const ir::Shape& result, size_t dim);

/// Composes `affine` with `op`, which reads `x`. Returns false if `op` is not affine per channel.
[[nodiscard]] bool append(const ir::Graph& graph, const ir::Op& op, ir::ValueId x, size_t dim,
                          ChannelAffine& affine);

}  // namespace thimble::passes
