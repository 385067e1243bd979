#pragma once
// The formulas of docs/numerics.md once more, for the tests of the Neutron's model: on dense
// tensors, in wide numbers, with nothing of the model's.

#include <optional>
#include <vector>

#include "neutron_list.h"

namespace thimble::neutron_test {

struct Factor {
  int32_t multiplier = 0;
  int32_t shift = 0;
};

/// value * multiplier * 2^(shift - 31), in one rounding or in two.
int64_t requantized(int64_t value, Factor factor, bool single);

/// What becomes of results.
struct Ending {
  int32_t zero_point = 0;
  int32_t min = -128, max = 127;
  std::optional<std::vector<int8_t>> table;
  bool single = false;
  /// Of a number without, and with, the zero point.
  [[nodiscard]] int8_t of(int64_t value) const;
  [[nodiscard]] int8_t code(int64_t value) const;
};

struct Window {
  uint32_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {0, 0};
};

/// What a weighted kernel has.
struct Weighted {
  std::vector<int8_t> weights;
  std::vector<int32_t> bias;    // empty: none
  std::vector<Factor> factors;  // one, or one for each channel
  int32_t zero_point = 0;       // of the input
};

/// Images [N, H, W, C], weights [OC][KH][KW][IC], depthwise [KH][KW][OC].
Dense reference_convolution(const Dense& x, const Weighted& w, const Window& window,
                            const Dims& out, const Ending& ending);
Dense reference_depthwise(const Dense& x, const Weighted& w, const Window& window, const Dims& out,
                          const Ending& ending);
Dense reference_transposed(const Dense& x, const Weighted& w, const Window& window, const Dims& out,
                           const Ending& ending);
Dense reference_fully_connected(const Dense& x, const Weighted& w, uint32_t channels,
                                const Ending& ending);
Dense reference_matmul(const Dense& a, const Dense& b, int32_t a_zero_point, int32_t b_zero_point,
                       Factor factor, const Ending& ending);

Dense reference_pool(const Dense& x, const Window& window, const Dims& out, bool mean,
                     const Ending& ending);
/// Of the last `count` dimensions; `how`: 0 mean, 1 largest, -1 smallest.
Dense reference_reduction(const Dense& x, uint32_t count, int how, int32_t zero_point,
                          Factor factor, const Ending& ending);
Dense reference_softmax(const Dense& x, Factor factor, int32_t least);
Dense reference_resize(const Dense& x, const Dims& out, const std::vector<int32_t>& tables,
                       bool bilinear);

}  // namespace thimble::neutron_test
