// thimble::lstm; formulas: docs/numerics.md, "Recurrent layers".
//
// Operands: x, h0, c0 (int8, or the cell as int16), w_ih, w_hh, bias, mult, shift, table,
// parameters, scratch, y.

#include "abi/ops/recurrent.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/gates.h"

namespace thimble::kernels {
namespace {

using abi::LstmParams;

Status check(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_recurrent(call, kLstmSignature));
  const LstmParams& p = params<abi::op_info::thimble_lstm>(tensor(call, kLstmSignature.params()));
  const bool fine = p.cell >= 0 && p.cell <= 2 && p.c_bits >= 0 && p.c_bits <= 15 &&
                    is_code(p.c0_zp) && is_scale(p.c0_mult, p.c0_shift) && is_code(p.y_zp) &&
                    is_scale(p.y_mult, p.y_shift);
  const DType of_x = tensor(call, 0).dtype;
  if (!fine || (of_x == DType::kI16 && p.y_zp != 0)) return Status::kBadParameter;
  const DType of_c0 = tensor(call, 2).dtype;
  const DType of_y = tensor(call, kLstmSignature.y()).dtype;
  const bool types =
      (of_c0 == DType::kI8 || of_c0 == DType::kI16) && of_y == (p.cell == 2 ? DType::kI16 : of_x);
  return types ? Status::kOk : Status::kBadDType;
}

void begin(const Call& call, const Recurrent& layer, const LstmParams& p, int16_t* c, int32_t b) {
  const int32_t first = b * layer.hidden;
  const Tensor& c0 = tensor(call, 2);
  for (int32_t j = 0; j < layer.hidden; ++j) {
    if (c0.dtype == DType::kI16) {
      c[j] = static_cast<const int16_t*>(c0.data)[first + j];
    } else {
      const int32_t code = codes(c0)[first + j] - p.c0_zp;
      c[j] = static_cast<int16_t>(
          numerics::saturate16(numerics::requantize(code, p.c0_mult, p.c0_shift)));
    }
  }
}

/// Computes cells and outputs from the gates.
template <class Code>
void step(const Recurrent& layer, const LstmParams& p, int16_t* c) {
  const int32_t hidden = layer.hidden;
  for (int32_t j = 0; j < hidden; ++j) {
    const int16_t* const gate = layer.lanes + j;
    const int32_t in = numerics::sigmoid_q15(layer.table, gate[0]);
    const int32_t forget = numerics::sigmoid_q15(layer.table, gate[hidden]);
    const int32_t fresh = numerics::tanh_q15(layer.table, gate[2 * hidden]);
    const int32_t out = numerics::sigmoid_q15(layer.table, gate[3 * hidden]);
    const int32_t content = numerics::blend(forget, c[j], in * fresh, p.c_bits);
    c[j] = static_cast<int16_t>(content);
    const int32_t seen = numerics::tanh_q15(layer.table, numerics::to_gate(content, p.c_bits));
    layer.state<Code>()[j] = layer.output<Code>(out * seen);
  }
}

template <class Code>
void store(const Recurrent& layer, const LstmParams& p, const int16_t* c, const Tensor& y,
           int32_t row) {
  const int32_t first = row * layer.hidden;
  for (int32_t j = 0; j < layer.hidden; ++j) {
    if (p.cell == 2) {
      static_cast<int16_t*>(y.data)[first + j] = c[j];
    } else if (p.cell == 1) {
      static_cast<Code*>(y.data)[first + j] =
          requantize_output<Code>(c[j], p.y_mult, p.y_shift, p.y_zp);
    } else {
      static_cast<Code*>(y.data)[first + j] = layer.state<Code>()[j];
    }
  }
}

template <class Code>
void run_layer(const Call& call) {
  const Recurrent layer = bind_recurrent(call, kLstmSignature);
  const LstmParams& p = params<abi::op_info::thimble_lstm>(layer.params);
  int16_t* const c = layer.lanes + layer.rows;
  for (int32_t b = 0; b < layer.batch; ++b) {
    layer.begin<Code>(b);
    begin(call, layer, p, c, b);
    for (int32_t i = 0; i < layer.steps; ++i) {
      const int32_t row = layer.row(i, b);
      compute_gates(layer, layer.x_row<Code>(row), layer.rows);
      step<Code>(layer, p, c);
      store<Code>(layer, p, c, tensor(call, kLstmSignature.y()), row);
    }
  }
}

void run(const Call& call) {
  tensor(call, 0).dtype == DType::kI8 ? run_layer<int8_t>(call) : run_layer<int16_t>(call);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_lstm, check, run);

}  // namespace thimble::kernels
