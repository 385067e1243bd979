// thimble::rnn; formulas: docs/numerics.md, "Recurrent layers".
//
// Operands: x, h0, w_ih, w_hh, bias, mult, shift, table, the words of qrnn's attributes, scratch,
// y.

#include "kernels/define.h"
#include "kernels/portable/gates.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  if (const Status s = check_recurrent(call, kRnnForm); s != Status::kOk) return s;
  return tensor(call, kRnnForm.y()).dtype == DType::kI8 ? Status::kOk : Status::kBadDType;
}

void run(const Call& call) {
  const Recurrent layer = bind_recurrent(call, kRnnForm);
  const int32_t hidden = layer.hidden;
  const bool relu = layer.words[0] != 0;
  int8_t* const y = mutable_codes(tensor(call, kRnnForm.y()));
  for (int32_t b = 0; b < layer.batch; ++b) {
    memcpy(layer.h, codes(tensor(call, 1)) + b * hidden, static_cast<size_t>(hidden));
    for (int32_t i = 0; i < layer.steps; ++i) {
      const int32_t row = layer.row(i, b);
      compute_gates(layer, layer.x + row * layer.inputs, layer.rows);
      for (int32_t j = 0; j < hidden; ++j) {
        const int32_t sum = layer.lanes[j];
        const int32_t positive = sum < 0 ? 0 : sum;
        layer.h[j] = layer.output(relu ? positive : numerics::tanh_q15(layer.table, sum));
      }
      memcpy(y + row * hidden, layer.h, static_cast<size_t>(hidden));
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_rnn, check, run);

}  // namespace thimble::kernels
