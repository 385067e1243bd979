// SPDX-License-Identifier: Apache-2.0
#pragma once
// The formulas of docs/numerics.md, written independently for the tests of the Neutron's model: on
// dense tensors, in wide integers, without any code of the model.

#include <optional>
#include <vector>

#include "neutron_list.h"

namespace thimble::neutron_test {

struct Factor {
  int32_t multiplier = 0;
  int32_t shift = 0;
};

/// Returns value * multiplier * 2^(shift - 31), with single or double rounding.
int64_t requantized(int64_t value, Factor factor, bool single);

/// The last steps of a kernel: zero point, clamp, lookup table.
struct OutputStage {
  int32_t zero_point = 0;
  int32_t min = -128, max = 127;
  std::optional<std::vector<int8_t>> table;
  bool single = false;
  /// of() adds the zero point to `value`; code() expects a value that includes it.
  [[nodiscard]] int8_t of(int64_t value) const;
  [[nodiscard]] int8_t code(int64_t value) const;
};

struct Window {
  uint32_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {0, 0};
};

/// Parameters of a weighted kernel.
struct WeightedParams {
  std::vector<int8_t> weights;
  std::vector<int32_t> bias;    // empty: no bias
  std::vector<Factor> factors;  // one, or one per channel
  int32_t zero_point = 0;       // zero point of the input
};

/// Images are [N, H, W, C], weights [OC][KH][KW][IC], depthwise weights [KH][KW][OC].
Dense reference_convolution(const Dense& x, const WeightedParams& w, const Window& window,
                            const Dims& out, const OutputStage& output_stage);
Dense reference_depthwise(const Dense& x, const WeightedParams& w, const Window& window,
                          const Dims& out, const OutputStage& output_stage);
Dense reference_transposed(const Dense& x, const WeightedParams& w, const Window& window,
                           const Dims& out, const OutputStage& output_stage);
Dense reference_fully_connected(const Dense& x, const WeightedParams& w, uint32_t channels,
                                const OutputStage& output_stage);
Dense reference_matmul(const Dense& a, const Dense& b, int32_t a_zero_point, int32_t b_zero_point,
                       Factor factor, const OutputStage& output_stage);

Dense reference_pool(const Dense& x, const Window& window, const Dims& out, bool mean,
                     const OutputStage& output_stage);
/// Reduces the last `count` dimensions. `how`: 0 mean, 1 maximum, -1 minimum.
Dense reference_reduction(const Dense& x, uint32_t count, int how, int32_t zero_point,
                          Factor factor, const OutputStage& output_stage);
Dense reference_softmax(const Dense& x, Factor factor, int32_t least);
Dense reference_resize(const Dense& x, const Dims& out, const std::vector<int32_t>& tables,
                       bool bilinear);

}  // namespace thimble::neutron_test
