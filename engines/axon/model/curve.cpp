// SPDX-License-Identifier: Apache-2.0
// Sigmoid, tanh and softmax in integer arithmetic; the core computes them between layers of the
// NPU.
//
// For inputs with 12 fractional bits, round(256 sigmoid(x)) - 128 is a step function with 256
// steps. Because sigmoid(-x) = 1 - sigmoid(x), the positions of 128 steps define it: a table of 256
// bytes. A lookup takes seven comparisons and is exact for all 65,536 inputs. Because
// tanh(u) = 2 sigmoid(2 u) - 1, round(128 tanh(x)) is the same step function at 2 x.
//
// Softmax needs exp(-d) for d >= 0 with 12 fractional bits. It is a product of three table entries
// (integer part, 64ths, 4096ths) with 31 bits each. For d >= 16 it is set to zero (below 2^-23).

#include "engines/axon/container/functions.h"
#include "engines/axon/model/layer.h"
#include "engines/axon/model/tables.h"

namespace thimble::axon::model {
namespace {

/// Returns the number of steps at or below `x` >= 0.
int32_t steps_below(uint32_t x) {
  uint32_t from = 0;
  uint32_t to = 128;
  while (from < to) {
    const uint32_t middle = (from + to) / 2;
    if (kSteps.x[middle] <= x) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return static_cast<int32_t>(from);
}

uint32_t times(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((uint64_t{a} * b + (uint64_t{1} << 30)) >> 31);
}

/// Returns exp(-d / 4096) as 1.31 fixed point.
uint32_t exp_minus(uint32_t d) {
  if (d >= 16U << 12) return 0;
  return times(times(kWholes.of[d >> 12], kParts.of[d >> 6 & 63]), kFineParts.of[d & 63]);
}

uint32_t below(int32_t most, int32_t value) {
  return static_cast<uint32_t>(most) - static_cast<uint32_t>(value);
}

}  // namespace

void softmax_row(const uint8_t* from, uint32_t from_step, uint8_t* to, uint32_t to_step,
                 uint32_t count) {
  int32_t most = INT32_MIN;
  for (uint32_t i = 0; i < count; ++i) {
    const int32_t value = load(from + i * from_step, 4);
    if (value > most) most = value;
  }
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += exp_minus(below(most, load(from + i * from_step, 4)));
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t part = exp_minus(below(most, load(from + i * from_step, 4)));
    const auto share = static_cast<int32_t>((512 * part + sum) / (2 * sum));
    store(to + i * to_step, 1, saturate(share - 128, 1));
  }
}

int32_t curve_at(int32_t value, bool tanh) {
  const auto size = static_cast<uint32_t>(value < 0 ? -value : value);
  const int32_t height = steps_below(tanh ? 2 * size : size);
  return saturate(value < 0 ? -height : height, 1);
}

void curve(const Layer& layer) {
  const bool tanh = layer.record.operation == Operation::kTanh;
  for_each(layer.out.extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    layer.put(n, c, h, w, curve_at(layer.in[0].value(n, c, h, w), tanh));
  });
}

void softmax(const Layer& layer) {
  const uint32_t axis = dimension_of(layer.record.axis);
  Extents lines = layer.out.extents;
  lines.of[axis] = 1;
  const View& in = layer.in[0];
  for_each(lines, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    const auto from = static_cast<size_t>(layer.out.at(n, c, h, w) - layer.out.data);
    softmax_row(in.at(n, c, h, w), in.step[axis], layer.out_data + from, layer.out.step[axis],
                in.extents.of[axis]);
  });
}

}  // namespace thimble::axon::model
