// SPDX-License-Identifier: Apache-2.0
// thimble::linear.f32 and aten::bmm on Helium. The lanes of a vector are four columns of the
// result: outputs of the linear layer, whose weights are gathered. Four rows are computed at once,
// or eight columns of one row.

#include "abi/ops/aten.h"
#include "abi/ops/float.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/float_products.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/float_tile.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kLanes = 4;

/// y = a b + bias, with `inner` terms per sum.
struct Product {
  FloatMatrix a, b, y;
  const float* bias;  // one for each column, or null
  int32_t rows, columns, inner;
};

template <class Tile, class Load>
void compute_tile(const Product& p, const Load& load, int32_t row, int32_t column) {
  mve::Terms terms = {};
  terms.x = p.b.data + column * p.b.column;
  terms.w = p.a.data + row * p.a.row;
  terms.next_vector = kLanes * p.b.column;
  terms.next_row = p.a.row;
  // Factors of a that are not next to each other are read one by one.
  const bool is_row = p.a.column == 1;
  terms.taps = is_row ? p.inner : 1;
  terms.lines = 1;
  terms.channels = is_row ? 1 : p.inner;
  terms.tap_step = p.b.row;
  terms.channel_step = p.b.row;
  terms.w_channel_step = p.a.column;
  const int32_t left = p.columns - column;
  const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(left));
  Tile tile;
  if constexpr (Tile::kVectors == 1) {
    if (left < kLanes) {
      tile.add_inside(load, terms, {mve::places_from(0, 0, lanes), 0, 1});
    } else {
      tile.add(load, terms);
    }
  } else {
    tile.add(load, terms);
  }
  const mve::StrideLoad out(p.y.column);
  tile.for_each([&](int32_t vector, int32_t tile_row, float32x4_t sums) {
    const int32_t first = column + vector * kLanes;
    if (p.bias != nullptr) sums = vaddq_f32(sums, vldrwq_z_f32(p.bias + first, lanes));
    float* const y = p.y.data + (row + tile_row) * p.y.row + first * p.y.column;
    if (p.y.column == 1) {
      vstrwq_p_f32(y, sums, lanes);
    } else {
      out.store(y, sums, lanes);
    }
  });
}

template <class Load>
void compute(const Product& p, const Load& load) {
  for (int32_t row = 0; row < p.rows;) {
    const bool four = p.rows - row >= 4;
    for (int32_t column = 0; column < p.columns;) {
      if (four) {
        compute_tile<mve::FourRows>(p, load, row, column);
        column += kLanes;
      } else if (p.columns - column >= 2 * kLanes) {
        compute_tile<mve::TwoVectors>(p, load, row, column);
        column += 2 * kLanes;
      } else {
        compute_tile<mve::OneRow>(p, load, row, column);
        column += kLanes;
      }
    }
    row += four ? 4 : 1;
  }
}

void multiply(const Product& p) {
  if (p.b.column == 1) {
    compute(p, mve::NextLoad{});
  } else {
    compute(p, mve::StrideLoad(p.b.column));
  }
}

void run_linear(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& bias = tensor(call, 2);
  const Tensor& y = tensor(call, 3);
  const int32_t in = w.sizes[1], out = w.sizes[0];
  Product p = {};
  p.a = {mutable_floats(x), in, 1, 0};
  p.b = {mutable_floats(w), 1, in, 0};
  p.y = {mutable_floats(y), out, 1, 0};
  p.bias = bias.is_null ? nullptr : floats(bias);
  p.rows = elements(x) / in;
  p.columns = out;
  p.inner = in;
  multiply(p);
}

Status check_bmm(const Call& call) {
  return check_float_product(tensor(call, 0), tensor(call, 1), tensor(call, 2), 3);
}

void run_bmm(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  Product p = {};
  p.a = float_matrix(a);
  p.b = float_matrix(tensor(call, 1));
  p.y = float_matrix(y);
  p.rows = y.sizes[1];
  p.columns = y.sizes[2];
  p.inner = a.sizes[2];
  if (p.columns < kLanes && p.rows > p.columns) {
    // The transposed product has more columns.
    const FloatMatrix first = p.a;
    p.a = {p.b.data, p.b.column, p.b.row, p.b.batch};
    p.b = {first.data, first.column, first.row, first.batch};
    p.y = {p.y.data, p.y.column, p.y.row, p.y.batch};
    p.rows = y.sizes[2];
    p.columns = y.sizes[1];
  }
  for (int32_t n = 0; n < y.sizes[0]; ++n) {
    multiply(p);
    p.a.data += p.a.batch;
    p.b.data += p.b.batch;
    p.y.data += p.y.batch;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, aten_bmm, check_bmm, run_bmm);
THIMBLE_DEFINE_KERNEL(mve, thimble_linear_f32, check_float_linear, run_linear);

}  // namespace thimble::kernels

#endif
