// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/cost.h"

#include <algorithm>
#include <cmath>

namespace thimble::engine::axon {
namespace {

// Fitted to measured probes; see cost.h. All terms are cycles per pair of input and output channel:
// base, per output row, per output column, per output position.
constexpr double kPairBase = 69.6, kPerRow = 2.15, kPerColumn = 1.54, kPerPosition = 1.05;
constexpr double kTapsInOne = 9, kPerFurtherTap = 0.2145;
constexpr double kCall = 100;  // of a layer without weights (add, copy, pool)

double number(int64_t value) {
  return static_cast<double>(value);
}

/// Cycles to convolve one plane of the input image with one plane of weights.
double plane(const Layer& layer) {
  const Dims& out = layer.output.dims;
  const double taps = number(layer.kernel_h * layer.kernel_w);
  const double position = kPerPosition + kPerFurtherTap * std::max(0.0, taps - kTapsInOne);
  return kPairBase + kPerRow * number(out.h) + kPerColumn * number(out.w) +
         position * number(out.h * out.w);
}

double linear(const Layer& layer) {
  const double inputs = number(layer.inputs[0].dims.elements());
  const double outputs = number(static_cast<int64_t>(layer.bias.size()));
  if (layer.per_channel()) return outputs * (64.5 + 0.62 * inputs);
  return 136 + outputs * (std::ceil(inputs / 4) + 1.78);
}

double pointwise(const Layer& layer) {
  const Dims& out = layer.output.dims;
  const double pairs = number(layer.inputs[0].dims.c * out.c);
  return pairs * (0.195 * number(out.h * out.w) + 0.14 * number(out.h)) + 16 * number(out.c);
}

}  // namespace

int64_t cycles_of_copy(const Dims& dims) {
  return static_cast<int64_t>(std::nearbyint(kCall + number(dims.elements())));
}

int64_t cycles_of(const Layer& layer) {
  const Dims& out = layer.output.dims;
  const double elements = number(out.elements());
  const auto rounded = [](double cycles) { return static_cast<int64_t>(std::nearbyint(cycles)); };
  switch (layer.operation) {
    case Operation::kFullyConnected:
      return rounded(linear(layer));
    case Operation::kConv2d:
      return rounded(number(layer.inputs[0].dims.c * out.c) * plane(layer));
    case Operation::kDepthwise:
      return rounded(number(out.c) * plane(layer));
    case Operation::kPointwise:
      return rounded(pointwise(layer));
    case Operation::kAveragePool:
    case Operation::kMaxPool:
      return rounded(kCall + elements * number(layer.kernel_h * layer.kernel_w) / 2);
    case Operation::kMean:
      return rounded(kCall + number(layer.inputs[0].dims.elements()));
    case Operation::kAdd:
    case Operation::kMultiply:
      return rounded(kCall + 2 * elements);
    case Operation::kStridedSlice:
    case Operation::kConcat:
    case Operation::kChannelPad: {
      const bool in_place = layer.output.buffer == layer.inputs[0].buffer;
      return in_place ? 0 : cycles_of_copy(out);
    }
    default:
      return 0;
  }
}

}  // namespace thimble::engine::axon
