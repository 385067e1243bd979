// SPDX-License-Identifier: Apache-2.0
// thimble::rnn; formulas: docs/numerics.md, "Recurrent layers".
//
// Operands: x, h0, w_ih, w_hh, bias, mult, shift, table, parameters, scratch,
// y.

#include "abi/ops/recurrent.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/gates.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_recurrent(call, kRnnSignature));
  const bool same = tensor(call, kRnnSignature.y()).dtype == tensor(call, 0).dtype;
  return same ? Status::kOk : Status::kBadDType;
}

template <class Code>
void run_layer(const Call& call) {
  const Recurrent layer = bind_recurrent(call, kRnnSignature);
  const int32_t hidden = layer.hidden;
  const bool relu = params<abi::op_info::thimble_rnn>(layer.params).relu != 0;
  Code* const y = static_cast<Code*>(tensor(call, kRnnSignature.y()).data);
  for (int32_t b = 0; b < layer.batch; ++b) {
    Code* const h = layer.begin<Code>(b);
    for (int32_t i = 0; i < layer.steps; ++i) {
      const int32_t row = layer.row(i, b);
      compute_gates(layer, layer.x_row<Code>(row), layer.rows);
      for (int32_t j = 0; j < hidden; ++j) {
        const int32_t sum = layer.lanes[j];
        const int32_t positive = sum < 0 ? 0 : sum;
        h[j] = layer.output<Code>(relu ? positive : numerics::tanh_q15(layer.table, sum));
      }
      memcpy(y + row * hidden, h, layer.state_bytes<Code>());
    }
  }
}

void run(const Call& call) {
  tensor(call, 0).dtype == DType::kI8 ? run_layer<int8_t>(call) : run_layer<int16_t>(call);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_rnn, check, run);

}  // namespace thimble::kernels
