// SPDX-License-Identifier: Apache-2.0
// Cases of add_table, lut_packed, mean_run and softmax_rows, and of quantize and dequantize between
// planes and pixels.

#include "abi/packed_ops.h"
#include "firmware/apps/variants/case.h"

namespace thimble::firmware {
namespace {

/// Returns the loop nest over `rows` rows of `length` elements, with the strides of two operands.
abi::LoopNest nest_of(uint32_t rows, uint32_t row_stride_a, uint32_t row_stride_b, uint32_t length,
                      uint32_t stride_a, uint32_t stride_b) {
  abi::LoopNest nest = {};
  for (uint32_t& extent : nest.extent) extent = 1;
  constexpr uint32_t kRow = abi::LoopNest::kAxes - 1;
  nest.extent[kRow - 1] = rows;
  nest.step[0][kRow - 1] = row_stride_a;
  nest.step[1][kRow - 1] = row_stride_b;
  nest.extent[kRow] = length;
  nest.step[0][kRow] = stride_a;
  nest.step[1][kRow] = stride_b;
  return nest;
}

uint32_t u(int32_t value) {
  return static_cast<uint32_t>(value);
}

}  // namespace

void make_add_table(uint32_t index, Case& c) {
  const int32_t rows = index % 4 == 0 ? c.uniform(1, 5) : 1;
  const int32_t length = c.uniform(1, index % 2 == 0 ? 12 : 200);
  const bool repeats = c.uniform(0, 3) == 0;
  const bool strides = c.uniform(0, 7) == 0;
  const int32_t step = strides ? 2 : 1;
  c.input<int8_t>(rows * length * step);
  c.input<int8_t>(repeats ? length : rows * length);
  auto& p = *c.input<abi::AddTable>(1);
  p.nest = nest_of(u(rows), u(length * step), repeats ? 0 : u(length), u(length), u(step), 1);
  p.add.y_mult = c.uniform(1 << 30, INT32_MAX);
  p.add.y_shift = -c.uniform(1, 31);
  p.add.y_offset = c.uniform(-128, 127);
  p.add.min = c.uniform(0, 1) == 0 ? -128 : c.uniform(-128, 0);
  p.add.max = c.uniform(0, 1) == 0 ? 127 : c.uniform(0, 127);
  c.output(rows * length);
  c.text() << "rows " << rows << " length " << length << " step " << step << " min " << p.add.min
           << " max " << p.add.max << " shift " << p.add.y_shift;
}

namespace {

/// Sets up a conversion from planes (channels first) to pixels (channels last).
abi::QuantizeNest& make_edge(Case& c, int32_t channels, int32_t pixels, int32_t y_bytes,
                             abi::QuantizeNest& p) {
  p.nest = nest_of(u(channels), 1, u(pixels), u(pixels), u(channels), 1);
  p.zero_point = c.uniform(-128, 127);
  p.factor = static_cast<float>(c.uniform(1, 2000)) / 37.0F;
  p.quantized_bytes = 1;
  c.output(y_bytes);
  c.text() << "channels " << channels << " pixels " << pixels << " zero point " << p.zero_point;
  return p;
}

}  // namespace

void make_planes_quantize(uint32_t index, Case& c) {
  const int32_t channels = c.uniform(1, 5);
  const int32_t pixels = c.uniform(1, 60);
  float* const x = c.input<float>(channels * pixels);
  auto& p = make_edge(c, channels, pixels, channels * pixels, *c.input<abi::QuantizeNest>(1));
  if (index % 3 == 0) return;  // random bit patterns
  for (int32_t i = 0; i < channels * pixels; ++i) {
    // Mostly halves of a quantization step and values next to them.
    x[i] = static_cast<float>(c.uniform(-700, 700)) * 0.5F / p.factor;
  }
}

void make_planes_dequantize(uint32_t index, Case& c) {
  const int32_t channels = c.uniform(1, 5);
  const int32_t pixels = c.uniform(1, 60);
  const int32_t quantized_bytes = index % 2 == 0 ? 1 : 2;
  c.input<int8_t>(channels * pixels * quantized_bytes);
  auto& p = make_edge(c, channels, pixels, 4 * channels * pixels, *c.input<abi::QuantizeNest>(1));
  p.quantized_bytes = u(quantized_bytes);
}

void make_lut_packed(uint32_t, Case& c) {
  const int32_t count = c.uniform(1, 100);
  c.input<int8_t>(count);
  c.input<abi::LutTable>(1)->count = static_cast<uint32_t>(count);
  c.output(count);
  c.text() << "count " << count;
}

void make_mean_run(uint32_t, Case& c) {
  const int32_t outer = c.uniform(1, 3);
  const int32_t count = c.one_of({1, 2, 5, 16, 33, 64, 255, 256, 300, 700});
  const int32_t inner = c.one_of({1, 1, 2, 7, 8, 9, 16, 20, 28});
  c.input<int8_t>(outer * count * inner);
  auto* p = c.input<abi::MeanRun>(1);
  *p = {};
  p->outer = static_cast<uint32_t>(outer);
  p->count = static_cast<uint32_t>(count);
  p->inner = static_cast<uint32_t>(inner);
  p->mean.x_offset = c.uniform(-127, 128);
  p->mean.y_offset = c.uniform(-128, 127);
  p->mean.mult = c.uniform(1 << 30, INT32_MAX);
  p->mean.shift = c.one_of({2, 1, 0, -1, -3, -6, -9, -22, -23, -31});
  p->mean.min = c.uniform(-128, 0);
  p->mean.max = c.uniform(0, 127);
  c.output(outer * inner);
  c.text() << outer << " x " << count << " x " << inner << ", shift " << p->mean.shift;
}

void make_softmax_rows(uint32_t index, Case& c) {
  constexpr int32_t kLengths[] = {1, 2, 3, 4, 5, 10, 16, 17, 35, 300, 1000, 5000};
  const int32_t length = c.one_of(kLengths);
  const int32_t rows = c.uniform(1, length < 100 ? 9 : 1);
  int8_t* const x = c.input<int8_t>(rows * length);
  // Quantized values that are far apart or close together.
  const int32_t spread = c.uniform(0, 7);
  for (int32_t i = 0; i < rows * length; ++i) x[i] = static_cast<int8_t>(x[i] >> spread);
  auto& p = *c.input<abi::SoftmaxRows>(1);
  p.rows = static_cast<uint32_t>(rows);
  p.length = static_cast<uint32_t>(length);
  // Decreases from 1 like an exponential function.
  uint32_t value = INT32_MAX;
  const auto decay = static_cast<uint32_t>(c.uniform(1, 900));
  for (uint32_t& entry : p.exp) {
    entry = value;
    value -= value / 1000 * decay;
  }
  p.wide = index % 3 == 0 ? 1 : 0;
  c.output((rows * length) << p.wide);
  c.text() << "case " << static_cast<int32_t>(index) << " rows " << rows << " length " << length;
}

}  // namespace thimble::firmware
