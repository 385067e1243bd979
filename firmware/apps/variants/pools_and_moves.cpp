// SPDX-License-Identifier: Apache-2.0
// Cases of pools, moves and products, and of quantize and dequantize with any permutation.

#include <cstring>
#include <utility>

#include "abi/packed_ops.h"
#include "abi/params/window.h"
#include "firmware/apps/variants/case.h"

namespace thimble::firmware {
namespace {

struct Axis {
  int32_t in, out, kernel, stride, pad;
};

Axis axis(Case& c, int32_t kernel, int32_t in) {
  Axis a = {in, 0, kernel, c.uniform(1, 3), c.uniform(0, kernel - 1)};
  const int32_t after = c.uniform(0, kernel - 1);
  if (a.in + a.pad + after < kernel) a.in = kernel;
  a.out = (a.in + a.pad + after - kernel) / a.stride + 1;
  return a;
}

}  // namespace

void make_window_pool(uint32_t index, Case& c) {
  // Every fourth case is a global pool, which may sum more than 255 values.
  const bool global = index % 4 == 0;
  Axis h = axis(c, c.uniform(1, 4), c.uniform(1, 7));
  Axis w = axis(c, c.uniform(1, 4), c.uniform(1, 7));
  if (global) {
    h = {c.uniform(1, 23), 1, 0, 1, 0};
    w = {c.uniform(1, 23), 1, 0, 1, 0};
    h.kernel = h.in;
    w.kernel = w.in;
  }
  const int32_t channels = c.one_of({1, 3, 7, 8, 9, 15, 16, 17, 24, 40});
  const int32_t bytes = h.in * w.in * channels;
  auto* x = c.input<int8_t>(bytes);
  if (c.uniform(0, 5) == 0)
    std::memset(x, c.uniform(0, 1) == 0 ? -128 : 127, static_cast<size_t>(bytes));
  auto* g = c.input<abi::WindowGeometry>(1);
  *g = {};
  g->in_h = static_cast<uint16_t>(h.in);
  g->in_w = static_cast<uint16_t>(w.in);
  g->out_h = static_cast<uint16_t>(h.out);
  g->out_w = static_cast<uint16_t>(w.out);
  g->in_c = g->out_c = static_cast<uint16_t>(channels);
  g->kernel_h = static_cast<uint8_t>(h.kernel);
  g->kernel_w = static_cast<uint8_t>(w.kernel);
  g->stride_h = static_cast<uint8_t>(h.stride);
  g->stride_w = static_cast<uint8_t>(w.stride);
  g->dilation_h = g->dilation_w = 1;
  g->pad_top = static_cast<uint8_t>(h.pad);
  g->pad_left = static_cast<uint8_t>(w.pad);
  const bool clamps = c.uniform(0, 3) == 0;
  g->min = static_cast<int16_t>(clamps ? c.uniform(-128, 0) : -128);
  g->max = static_cast<int16_t>(clamps ? c.uniform(0, 127) : 127);
  c.output(h.out * w.out * channels);
  c.text() << h.kernel << "x" << w.kernel << " x " << h.in << "x" << w.in << "x" << channels;
}

namespace {

/// Extents of three axes, and their order in memory for the second operand.
struct Permutation {
  int32_t extent[3];
  uint32_t order[3];  // for operand 1, outermost first
};

Permutation permutation(Case& c) {
  static constexpr uint32_t kOrders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                            {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  Permutation p = {{c.one_of({1, 2, 3, 5, 8, 20}), c.one_of({1, 3, 4, 7, 16, 33}),
                    c.one_of({1, 2, 3, 8, 17, 40})},
                   {}};
  std::memcpy(p.order, kOrders[c.uniform(0, 5)], sizeof p.order);
  return p;
}

void put_nest(const Permutation& p, uint32_t unit, abi::LoopNest* nest) {
  *nest = {{1, 1, 1, 1, 1}, {}};
  uint32_t first = unit;
  uint32_t second = unit;
  for (uint32_t i = 3; i-- > 0;) {
    nest->extent[2 + i] = static_cast<uint32_t>(p.extent[i]);
    nest->step[0][2 + i] = first;
    first *= static_cast<uint32_t>(p.extent[i]);
    nest->step[1][2 + p.order[i]] = second;
    second *= static_cast<uint32_t>(p.extent[p.order[i]]);
  }
}

int32_t count_of(const Permutation& p) {
  return p.extent[0] * p.extent[1] * p.extent[2];
}

void note(const Permutation& p, Case& c) {
  c.text() << p.extent[0] << "x" << p.extent[1] << "x" << p.extent[2] << " in order " << p.order[0]
           << p.order[1] << p.order[2];
}

}  // namespace

void make_permuted_quantize(uint32_t, Case& c) {
  const Permutation p = permutation(c);
  const int32_t count = count_of(p);
  auto* x = c.input<float>(count);
  const float scale = static_cast<float>(c.uniform(1, 4000)) / 1024;
  const int32_t kind = c.uniform(0, 3);
  for (int32_t i = 0; i < count && kind != 0; ++i) {
    // Random bit patterns, multiples of half a step, or numbers in range.
    x[i] = kind == 1 ? static_cast<float>(c.uniform(-300, 300)) / 2 * scale
                     : static_cast<float>(c.uniform(-100000, 100000)) / 512 * scale;
  }
  auto* constant = c.input<abi::QuantizeNest>(1);
  *constant = {};
  put_nest(p, 1, &constant->nest);
  constant->quantized_bytes = 1;
  constant->zero_point = c.uniform(-128, 127);
  constant->factor = 1 / scale;
  c.output(count);
  note(p, c);
}

void make_permuted_dequantize(uint32_t, Case& c) {
  const Permutation p = permutation(c);
  const int32_t quantized_bytes = c.uniform(1, 2);
  c.input<int8_t>(count_of(p) * quantized_bytes);
  auto* constant = c.input<abi::QuantizeNest>(1);
  *constant = {};
  put_nest(p, 1, &constant->nest);
  constant->quantized_bytes = static_cast<uint32_t>(quantized_bytes);
  constant->zero_point = c.uniform(-128, 127);
  constant->factor = static_cast<float>(c.uniform(1, 1 << 24)) / static_cast<float>(1 << 28);
  c.output(4 * count_of(p));
  note(p, c);
}

void make_move(uint32_t, Case& c) {
  const Permutation p = permutation(c);
  const uint32_t element = static_cast<uint32_t>(c.one_of({1, 1, 1, 2, 4, 8}));
  const int32_t bytes = count_of(p) * static_cast<int32_t>(element);
  // Margins before and after the data; those of y, if any, are filled.
  const int32_t before = 8 * c.uniform(0, 3);
  const int32_t after = 8 * c.uniform(0, 3);
  c.input<uint8_t>(before + bytes + after);
  auto* constant = c.input<abi::Move>(1);
  *constant = {};
  put_nest(p, element, &constant->nest);
  if (c.uniform(0, 1) == 0) {  // the output is permuted instead of the input
    std::swap(constant->nest.step[0], constant->nest.step[1]);
  }
  constant->element_bytes = element;
  const bool fills = c.uniform(0, 1) == 0;
  constant->offset[0] = static_cast<uint32_t>(fills ? before : 0);
  constant->offset[1] = static_cast<uint32_t>(after);
  constant->fill_bytes = static_cast<uint32_t>(fills ? before + bytes + after : 0);
  constant->fill = c.next();
  c.output(fills ? before + bytes + after : bytes);
  note(p, c);
}

void make_mul_nest(uint32_t, Case& c) {
  const int32_t rows = c.uniform(1, 4);
  const int32_t columns = c.one_of({1, 3, 4, 5, 8, 17, 40});
  c.input<int8_t>(rows * columns);
  c.input<int8_t>(rows * columns);
  auto* p = c.input<abi::MulNest>(1);
  *p = {};
  p->nest = {{1, 1, 1, static_cast<uint32_t>(rows), static_cast<uint32_t>(columns)}, {}};
  for (auto& step : p->nest.step) {
    // Unchanged, transposed, or broadcast along one axis or both.
    const int32_t kind = c.uniform(0, 4);
    step[3] = static_cast<uint32_t>(kind == 0 ? columns : kind == 1 ? 1 : 0);
    step[4] = static_cast<uint32_t>(kind == 0 || kind == 2 ? 1 : kind == 1 ? rows : 0);
  }
  p->mul.a_offset = c.uniform(-300, 300);
  p->mul.b_offset = c.uniform(0, 3) == 0 ? c.uniform(-32767, 32767) : c.uniform(-127, 128);
  p->mul.y_offset = c.uniform(-128, 127);
  p->mul.mult = c.uniform(1 << 30, INT32_MAX);
  p->mul.shift = c.one_of({3, 1, 0, -1, -4, -7, -10, -20});
  p->mul.min = c.uniform(-128, 0);
  p->mul.max = c.uniform(0, 127);
  c.output(rows * columns);
  c.text() << rows << "x" << columns << " steps " << p->nest.step[0][4] << " " << p->nest.step[1][4]
           << ", shift " << p->mul.shift;
}

}  // namespace thimble::firmware
