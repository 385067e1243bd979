// SPDX-License-Identifier: Apache-2.0
#include "kernels/mve/recurrent_steps.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

#include "kernels/portable/dot.h"
#include "kernels/portable/dot_int4.h"

namespace thimble::kernels::mve {
namespace {

int32x4_t saturated16(int32x4_t x) {
  return vminq_s32(vmaxq_s32(x, vdupq_n_s32(INT16_MIN)), vdupq_n_s32(INT16_MAX));
}

/// numerics::requantize() with any shift.
int32x4_t scaled(int32x4_t sum, int32x4_t mult, int32x4_t shift) {
  const int32x4_t none = vdupq_n_s32(0);
  const int32x4_t high = vqrdmulhq_s32(vshlq_s32(sum, vmaxq_s32(shift, none)), mult);
  const int32x4_t right = vminq_s32(shift, none);
  // vrshl rounds halves up: negative values are decremented, unless they are not shifted.
  const int32x4_t lower = vqdmlahq_n_s32(high, high, 1);
  return vrshlq_s32(vpselq_s32(lower, high, vcmpltq_n_s32(right, 0)), right);
}

/// numerics::tanh_q15(). The table has an entry after each segment.
int32x4_t tanh(const int16_t* table, int32x4_t value) {
  const int32x4_t place = vsubq_n_s32(value, INT16_MIN);
  const uint32x4_t entry = vreinterpretq_u32_s32(vshrq_n_s32(place, 7));
  const int32x4_t first = vldrhq_gather_shifted_offset_s32(table, entry);
  const int32x4_t second = vldrhq_gather_shifted_offset_s32(table + 1, entry);
  const int32x4_t share = vandq_s32(place, vdupq_n_s32(127));
  return vaddq_s32(first, vrshrq_n_s32(vmulq_s32(vsubq_s32(second, first), share), 7));
}
int32x4_t sigmoid(const int16_t* table, int32x4_t value) {
  return vshrq_n_s32(vaddq_n_s32(tanh(table, vshrq_n_s32(value, 1)), 32768), 1);
}

/// numerics::blend()
int32x4_t blend(int32x4_t keep, int32x4_t old, int32x4_t fresh, int32_t bits) {
  const int32x4_t aligned = vrshlq_n_s32(fresh, bits - 15);
  return saturated16(vrshrq_n_s32(vaddq_s32(vmulq_s32(keep, old), aligned), 15));
}

/// The constants of an output: Recurrent::output().
class Output {
 public:
  explicit Output(const Recurrent& layer)
      : mult_(vdupq_n_s32(layer.h_mult)),
        shift_(vdupq_n_s32(layer.h_shift)),
        zero_point_(layer.h_zp) {}

  void store(int8_t* y, int32x4_t value, mve_pred16_t lanes) const {
    const int32x4_t code = vaddq_n_s32(scaled(value, mult_, shift_), zero_point_);
    const int32x4_t least = vmaxq_s32(code, vdupq_n_s32(INT8_MIN));
    vstrbq_p_s32(y, vminq_s32(least, vdupq_n_s32(INT8_MAX)), lanes);
  }

 private:
  int32x4_t mult_, shift_;
  int32_t zero_point_;
};

int32x4_t load(const int32_t* from, mve_pred16_t lanes) {
  return vldrwq_z_s32(from, lanes);
}
int32x4_t load(const int8_t* from, mve_pred16_t lanes) {
  return vldrbq_z_s32(from, lanes);
}

/// Scales of four rows from `first` on. `entries` are those of one matrix.
template <class Entry>
int32x4_t entries_of(const Recurrent& layer, const Entry* entries, int32_t first,
                     mve_pred16_t lanes) {
  if (layer.rows_per_entry == 1) return load(entries + first, lanes);
  int32_t all[4];
  for (int32_t k = 0; k < 4; ++k) {
    const int32_t row = first + k < layer.rows ? first + k : layer.rows - 1;
    all[k] = entries[row / layer.rows_per_entry];
  }
  return vld1q_s32(all);
}

/// Completes up to four rows: `x` and `h` are their sums of products. `Shift`: type of the stored
/// shifts.
template <class Shift>
void finish(const Recurrent& layer, int32_t row, int32x4_t x, int32x4_t h, bool apart,
            mve_pred16_t lanes) {
  const auto* const shift = static_cast<const Shift*>(layer.shift);
  int32x4_t from_x =
      scaled(x, entries_of(layer, layer.mult, row, lanes), entries_of(layer, shift, row, lanes));
  int32x4_t from_h = scaled(h, entries_of(layer, layer.mult + layer.entries, row, lanes),
                            entries_of(layer, shift + layer.entries, row, lanes));
  from_x = vaddq_s32(from_x, vldrwq_z_s32(layer.bias + row, lanes));
  if (layer.bias_hh != nullptr) {
    from_h = vaddq_s32(from_h, vldrwq_z_s32(layer.bias_hh + row, lanes));
  }
  int16_t* const to = layer.lanes + row;
  if (apart) {
    vstrhq_p_s32(to, saturated16(from_x), lanes);
    vstrhq_p_s32(to + layer.hidden, saturated16(from_h), lanes);
  } else {
    vstrhq_p_s32(to, saturated16(vaddq_s32(from_x, from_h)), lanes);
  }
}

/// The rows from `first` to `end`, whose contributions of x and h are stored apart or added.
void gate_rows(const Recurrent& layer, const int8_t* x, int32_t first, int32_t end, bool apart) {
  const int8_t* const state = layer.state<int8_t>();
  for (int32_t row = first; row < end; row += 4) {
    uint32_t of_x[4] = {};
    uint32_t of_h[4] = {};
    const int8_t* const w_ih = layer.row_ih(row);
    const int8_t* const w_hh = layer.row_hh(row);
    const int32_t left = end - row;
    if (left >= 4) {
      accumulate(x, w_ih, layer.inputs, layer.inputs, layer.x_offset, of_x);
      accumulate(state, w_hh, layer.hidden, layer.hidden, -layer.h_zp, of_h);
    } else {
      for (int32_t k = 0; k < left; ++k) {
        uint32_t one_x[1] = {}, one_h[1] = {};
        accumulate(x, w_ih + k * layer.inputs, 0, layer.inputs, layer.x_offset, one_x);
        accumulate(state, w_hh + k * layer.hidden, 0, layer.hidden, -layer.h_zp, one_h);
        of_x[k] = one_x[0], of_h[k] = one_h[0];
      }
    }
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(left));
    finish<int32_t>(layer, row, vreinterpretq_s32_u32(vld1q_u32(of_x)),
                    vreinterpretq_s32_u32(vld1q_u32(of_h)), apart, lanes);
  }
}

/// As gate_rows() for weights of 4 bits. `first` is even.
void gate_rows_int4(const Recurrent& layer, const Int4Operand& x, const Int4Operand& h,
                    int32_t first, int32_t end, bool apart) {
  for (int32_t row = first; row < end; row += 4) {
    uint32_t of_x[4] = {};
    uint32_t of_h[4] = {};
    const int32_t left = end - row;
    if (left > 2) {
      multiply_int4(x, layer.pair_ih(row), of_x);
      multiply_int4(h, layer.pair_hh(row), of_h);
    } else {
      uint32_t two_x[2], two_h[2];
      multiply_int4(x, layer.pair_ih(row), two_x);
      multiply_int4(h, layer.pair_hh(row), two_h);
      of_x[0] = two_x[0], of_x[1] = two_x[1];
      of_h[0] = two_h[0], of_h[1] = two_h[1];
    }
    finish<int8_t>(layer, row, vreinterpretq_s32_u32(vld1q_u32(of_x)),
                   vreinterpretq_s32_u32(vld1q_u32(of_h)), apart,
                   vctp32q(static_cast<uint32_t>(left)));
  }
}

}  // namespace

void gates(const Recurrent& layer, const int8_t* x, int32_t split) {
  gate_rows(layer, x, 0, split, false);
  gate_rows(layer, x, split, layer.rows, true);
}

void gates_int4(const Recurrent& layer, const int8_t* x, int32_t split) {
  const Int4Operand of_x = int4_operand(x, layer.inputs, layer.x_offset);
  const Int4Operand of_h = int4_operand(layer.state<int8_t>(), layer.hidden, -layer.h_zp);
  gate_rows_int4(layer, of_x, of_h, 0, split, false);
  gate_rows_int4(layer, of_x, of_h, split, layer.rows, true);
}

void lstm(const Recurrent& layer, const abi::LstmParams& p, int16_t* c) {
  const Output output(layer);
  const int32_t hidden = layer.hidden;
  for (int32_t j = 0; j < hidden; j += 4) {
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(hidden - j));
    const int16_t* const gate = layer.lanes + j;
    const int32x4_t in = sigmoid(layer.table, vldrhq_z_s32(gate, lanes));
    const int32x4_t fresh = tanh(layer.table, vldrhq_z_s32(gate + 2 * hidden, lanes));
    const int32x4_t forget = sigmoid(layer.table, vldrhq_z_s32(gate + hidden, lanes));
    const int32x4_t content =
        blend(forget, vldrhq_z_s32(c + j, lanes), vmulq_s32(in, fresh), p.c_bits);
    vstrhq_p_s32(c + j, content, lanes);
    const int32x4_t seen =
        tanh(layer.table, saturated16(vrshlq_n_s32(content, numerics::kGateBits - p.c_bits)));
    const int32x4_t out = sigmoid(layer.table, vldrhq_z_s32(gate + 3 * hidden, lanes));
    output.store(layer.state<int8_t>() + j, vmulq_s32(out, seen), lanes);
  }
}

void gru(const Recurrent& layer, int32_t bits, int16_t* exact) {
  const Output output(layer);
  const int32_t hidden = layer.hidden;
  for (int32_t j = 0; j < hidden; j += 4) {
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(hidden - j));
    const int16_t* const gate = layer.lanes + j;
    const int32x4_t reset = sigmoid(layer.table, vldrhq_z_s32(gate, lanes));
    const int32x4_t past =
        vrshrq_n_s32(vmulq_s32(reset, vldrhq_z_s32(gate + 3 * hidden, lanes)), 15);
    const int32x4_t sum = vaddq_s32(vldrhq_z_s32(gate + 2 * hidden, lanes), past);
    const int32x4_t fresh = tanh(layer.table, saturated16(sum));
    const int32x4_t keep = sigmoid(layer.table, vldrhq_z_s32(gate + hidden, lanes));
    const int32x4_t other = vsubq_s32(vdupq_n_s32(32768), keep);
    const int32x4_t state =
        blend(keep, vldrhq_z_s32(exact + j, lanes), vmulq_s32(other, fresh), bits);
    vstrhq_p_s32(exact + j, state, lanes);
    output.store(layer.state<int8_t>() + j, state, lanes);
  }
}

}  // namespace thimble::kernels::mve

#endif
