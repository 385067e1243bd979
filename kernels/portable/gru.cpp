// thimble::gru; formulas: docs/numerics.md, "Recurrent layers".
//
// Operands: x, h0, w_ih, w_hh, b_ih, b_hh, mult, shift, table, parameters,
// scratch, y.

#include "abi/ops/recurrent.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/gates.h"

namespace thimble::kernels {
namespace {

using abi::GruParams;

Status check(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_recurrent(call, kGruSignature));
  const GruParams& p = params<abi::op_info::thimble_gru>(tensor(call, kGruSignature.params()));
  const bool fine = p.h_bits >= 0 && p.h_bits <= 15 && is_scale(p.h0_mult, p.h0_shift);
  if (!fine) return Status::kBadParameter;
  const bool same = tensor(call, kGruSignature.y()).dtype == tensor(call, 0).dtype;
  return same ? Status::kOk : Status::kBadDType;
}

/// Computes the 16-bit state and the outputs from the gates.
template <class Code>
void step(const Recurrent& layer, int32_t bits, int16_t* exact) {
  const int32_t hidden = layer.hidden;
  for (int32_t j = 0; j < hidden; ++j) {
    const int16_t* const gate = layer.lanes + j;
    const int32_t reset = numerics::sigmoid_q15(layer.table, gate[0]);
    const int32_t keep = numerics::sigmoid_q15(layer.table, gate[hidden]);
    const int32_t past = (reset * gate[3 * hidden] + (1 << 14)) >> 15;
    const int32_t sum = numerics::saturate16(gate[2 * hidden] + past);
    const int32_t fresh = numerics::tanh_q15(layer.table, sum);
    exact[j] = static_cast<int16_t>(numerics::blend(keep, exact[j], (32768 - keep) * fresh, bits));
    layer.state<Code>()[j] = layer.output<Code>(exact[j]);
  }
}

template <class Code>
void run_layer(const Call& call) {
  const Recurrent layer = bind_recurrent(call, kGruSignature);
  const GruParams& p = params<abi::op_info::thimble_gru>(layer.params);
  const int32_t hidden = layer.hidden;
  int16_t* const exact = layer.lanes + 4 * hidden;
  Code* const y = static_cast<Code*>(tensor(call, kGruSignature.y()).data);
  for (int32_t b = 0; b < layer.batch; ++b) {
    const Code* const h = layer.begin<Code>(b);
    for (int32_t j = 0; j < hidden; ++j) {
      const int32_t code = h[j] - layer.h_zp;
      exact[j] = static_cast<int16_t>(
          numerics::saturate16(numerics::requantize(code, p.h0_mult, p.h0_shift)));
    }
    for (int32_t i = 0; i < layer.steps; ++i) {
      const int32_t row = layer.row(i, b);
      compute_gates(layer, layer.x_row<Code>(row), 2 * hidden);
      step<Code>(layer, p.h_bits, exact);
      memcpy(y + row * hidden, h, layer.state_bytes<Code>());
    }
  }
}

void run(const Call& call) {
  tensor(call, 0).dtype == DType::kI8 ? run_layer<int8_t>(call) : run_layer<int16_t>(call);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_gru, check, run);

}  // namespace thimble::kernels
