// SPDX-License-Identifier: Apache-2.0
// Softmax as gemmlowp computes it (docs/numerics.md, "Softmax"), in int32 operators.
//
// The exponential depends only on the distance to the maximum of the row. It is a table that GATHER
// reads. MUL with a shift of 31 is gemmlowp's doubling high multiplication; the rest is sums and
// shifts.

#include "interchange/tosa/tosa_lowering.h"
#include "numerics/softmax.h"

namespace thimble::interchange {

using ir::DimOrder;
using ir::OpKind;

namespace {

constexpr int64_t kSoftmaxRowMax = 4095;  // sums of longer rows may leave 31 bits
constexpr int32_t kSumBits = 12;          // of an exponential that are dropped before the sum

/// Returns exp(-i) in Q0.31, indexed by the distance i. The last entry is 0, for all larger
/// distances.
std::vector<int32_t> exponentials(const numerics::Softmax& parameters, int32_t last) {
  std::vector<int32_t> table;
  for (int32_t i = 0; i <= last && -i >= parameters.diff_min; ++i) {
    table.push_back(parameters.exp(-i));
  }
  table.push_back(0);
  return table;
}

/// Returns 1 / (1 + v) in Q0.31 for v in [0, 2^31): three Newton steps, as in
/// numerics::one_over_one_plus_x.
int reciprocal(TosaBuilder& b, int v) {
  const int half = b.plus(b.down(v, 1), 1 << 30);
  int y = b.plus(b.times(half, -1010580540, 31), 1515870810);
  const int one = b.same_rank(y, 1 << 29);
  for (int step = 0; step < 3; ++step) {
    const int error = b.sub(one, b.mul(half, y, 31));
    y = b.add(y, b.up(b.mul(y, error, 31), 2));
  }
  const int limited = b.min_scalar(y, (1 << 30) - 1);
  const int most = b.same_rank(y, INT32_MAX);
  return b.select(b.greater(y, limited), most, b.add(limited, limited));
}

}  // namespace

Status TosaLowering::softmax() {
  const DimOrder order = layouts_.existing(operand(0));
  const auto dim = static_cast<size_t>(get(ir::attr::dim));
  if (shape(0)[dim] > kSoftmaxRowMax) return refuse("rows of more than 4095 elements");
  const int axis = Layouts::position(order, get(ir::attr::dim));
  const int codes_x = operand_in(0, order);
  const int x = b_.widen(codes_x);
  const int distance = b_.sub(b_.reduce(Op::kReduceMax, x, axis), x);
  const numerics::Softmax parameters{static_cast<int32_t>(get(ir::attr::mult)),
                                     static_cast<int32_t>(get(ir::attr::shift)),
                                     static_cast<int32_t>(get(ir::attr::diff_min))};
  const auto table = exponentials(parameters, wide() ? 65535 : 255);
  int e = b_.look_up(b_.min_scalar(distance, static_cast<int32_t>(table.size()) - 1), table);
  if (op_->kind == OpKind::qmasked_softmax) {
    const int out_of_it = b_.equal(x, b_.same_rank(x, -128));
    e = b_.select(out_of_it, b_.same_rank(e, 0), e);
  }
  int sum = b_.reduce(Op::kReduceSum, b_.down(e, kSumBits, true), axis);
  // The maximum alone adds 2^19. The sum is lower only if all elements are masked; all e are then
  // 0.
  if (op_->kind == OpKind::qmasked_softmax) sum = b_.max_scalar(sum, 1 << 19);
  const int headroom = b_.unary(Op::kClz, sum);
  const int fraction = b_.masked(b_.shift_left(sum, headroom), INT32_MAX);
  const int product = b_.mul(reciprocal(b_, fraction), e, 31);
  // Computes product / 2^(35 - headroom), or / 2^(28 - headroom), rounded to nearest. The shift is
  // split into two, because its total may exceed 31.
  const bool to16 = op_->kind == OpKind::qsoftmax16;
  const int rest = b_.sub(b_.same_rank(headroom, to16 ? 28 : 31), headroom);
  const int y = b_.shift_right(to16 ? product : b_.down(product, 4), rest, true);
  return put(to16 ? b_.narrow(y, DType::kInt16) : b_.narrow(y, DType::kInt8, -128), order);
}

}  // namespace thimble::interchange
