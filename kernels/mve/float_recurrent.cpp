// SPDX-License-Identifier: Apache-2.0
// thimble::lstm.f32, gru.f32 and rnn.f32 on Helium: the lanes of a vector are rows of the weights,
// which are gathered.

#include "abi/ops/float.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/float_recurrent.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/float_tile.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kLanes = 4;

void finish(float* sums, float32x4_t sum, const float* bias, mve_pred16_t lanes) {
  if (bias != nullptr) sum = vaddq_f32(sum, vldrwq_z_f32(bias, lanes));
  vstrwq_p_f32(sums, sum, lanes);
}

void add_products(float* sums, const float* w, int32_t rows, const float* x, int32_t count,
                  const float* bias) {
  const mve::StrideLoad load(count);
  mve::Terms terms = {};
  terms.w = x;
  terms.next_vector = kLanes * count;
  terms.taps = count;
  terms.lines = terms.channels = 1;
  terms.tap_step = 1;
  for (int32_t row = 0; row < rows;) {
    const float* const own_bias = bias == nullptr ? nullptr : bias + row;
    terms.x = w + row * count;
    if (rows - row >= 2 * kLanes) {
      mve::TwoVectors tile;
      tile.s0 = vldrwq_f32(sums + row);
      tile.s1 = vldrwq_f32(sums + row + kLanes);
      tile.add(load, terms);
      finish(sums + row, tile.s0, own_bias, vctp32q(kLanes));
      finish(sums + row + kLanes, tile.s1, bias == nullptr ? nullptr : own_bias + kLanes,
             vctp32q(kLanes));
      row += 2 * kLanes;
      continue;
    }
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(rows - row));
    mve::OneRow tile;
    tile.s0 = vldrwq_z_f32(sums + row, lanes);
    tile.add_inside(load, terms, {mve::places_from(0, 0, lanes), 0, 1});
    finish(sums + row, tile.s0, own_bias, lanes);
    row += kLanes;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, thimble_gru_f32, float_recurrent::check_gru,
                      float_recurrent::run_gru<add_products>);
THIMBLE_DEFINE_KERNEL(mve, thimble_lstm_f32, float_recurrent::check_lstm,
                      float_recurrent::run_lstm<add_products>);
THIMBLE_DEFINE_KERNEL(mve, thimble_rnn_f32, float_recurrent::check_rnn,
                      float_recurrent::run_rnn<add_products>);

}  // namespace thimble::kernels

#endif
