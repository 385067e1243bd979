// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/program_analysis.h"

#include <algorithm>

#include "base/rounding.h"
#include "engines/ethos_u/compiler/feature_map.h"

namespace thimble::engine::ethos_u {
namespace {

/// Calls back for every operand of the operation.
template <typename Visit>
void each_operand(const NpuOp& op, const Visit& visit) {
  visit(op.ifm);
  if (op.ifm2) visit(*op.ifm2);
  visit(op.ofm);
}

/// Returns true if the IFM must be NHWC. U55 and U65 support REDUCE_SUM of 32-bit elements, and
/// with two cores REDUCE_SUM of any elements, only in NHWC.
bool requires_nhwc(const NpuProgram& program, const NpuOp& op) {
  const Generation generation = program.config->generation;
  const bool sums = op.kind == NpuOpKind::kPool && op.pool == PoolMode::kReduceSum;
  return sums && generation != Generation::kU85 &&
         (op.ifm.element.bits == 32 || program.config->cores > 1);
}

class Analysis {
 public:
  explicit Analysis(const NpuProgram& program) : program_(program) {
    net_.program = &program;
    net_.tensors.resize(program.tensors.size());
    bricks_.assign(program.tensors.size(), true);
  }

  ProgramAnalysis run() {
    for (TensorUse& use : net_.tensors) use.whole = true;
    for (int i = 0; i < net_.op_count(); ++i) look(i);
    for (const int tensor : program_.inputs) at(tensor).life.add(0);
    for (const int tensor : program_.outputs) at(tensor).life.last = net_.op_count();
    for (size_t i = 0; i < net_.tensors.size(); ++i) format(i);
    for (int i = 0; i < net_.op_count(); ++i) {
      net_.shapes.push_back(shape_of(net_.op(i)));
      net_.in_place.push_back(in_place(i));
    }
    return std::move(net_);
  }

 private:
  TensorUse& at(int tensor) { return net_.tensors[static_cast<size_t>(tensor)]; }

  void look(int index) {
    const NpuOp& op = net_.op(index);
    each_operand(op, [&](const Operand& operand) {
      const NpuTensor& tensor = program_.tensors[static_cast<size_t>(operand.tensor)];
      TensorUse& use = at(operand.tensor);
      const bool natural = is_natural(tensor, operand);
      if (!natural || op.kind == NpuOpKind::kDma || op.negate_axis_h || op.negate_axis_w) {
        bricks_[static_cast<size_t>(operand.tensor)] = false;
      }
      if (!natural || operand.offset != 0 || !(operand.shape == tensor.shape)) use.whole = false;
      use.life.add(index);
    });
    at(op.ofm.tensor).writers.push_back(index);
    at(op.ifm.tensor).readers.push_back(index);
    if (op.ifm2) at(op.ifm2->tensor).readers.push_back(index);
    if (requires_nhwc(program_, op)) bricks_[static_cast<size_t>(op.ifm.tensor)] = false;
  }

  void format(size_t index) {
    const NpuTensor& tensor = program_.tensors[index];
    TensorUse& use = net_.tensors[index];
    const bool free = tensor.role == TensorRole::kIntermediate && !tensor.linear && bricks_[index];
    if (free && tensor.shape.c >= 8) use.format = Format::kNhcwb16;
    use.bytes = round_up(place_bytes(tensor, use.format, tensor.shape.h), kAlignment);
  }

  /// Returns the operand's tensor that the operation may overwrite, or -1. An elementwise operation
  /// reads a block before it writes it. It may overwrite an operand that is not read later, if both
  /// have the same format and shape.
  int in_place(int index) {
    const NpuOp& op = net_.op(index);
    if (op.kind != NpuOpKind::kElementwise || op.upscale != Upscale::kNone) return -1;
    const auto fits = [&](const Operand& operand) {
      const TensorUse& from = at(operand.tensor);
      const TensorUse& to = at(op.ofm.tensor);
      const NpuTensor& tensor = program_.tensors[static_cast<size_t>(operand.tensor)];
      return tensor.role == TensorRole::kIntermediate && from.life.last == index && from.whole &&
             to.whole && to.writers.size() == 1 && from.format == to.format &&
             operand.element.bits == op.ofm.element.bits && operand.shape == op.ofm.shape &&
             operand.tensor != op.ofm.tensor;
    };
    if (fits(op.ifm)) return op.ifm.tensor;
    return op.ifm2 && fits(*op.ifm2) ? op.ifm2->tensor : -1;
  }

  const NpuProgram& program_;
  ProgramAnalysis net_;
  std::vector<bool> bricks_;
};

}  // namespace

int64_t ProgramAnalysis::rolling_buffer_bytes(int tensor, int64_t rows) const {
  const NpuTensor& from = program->tensors[static_cast<size_t>(tensor)];
  return round_up(place_bytes(from, use(tensor).format, rows), kAlignment);
}

ProgramAnalysis analyse(const NpuProgram& program) {
  return Analysis(program).run();
}

bool can_split_rows(const NpuOp& op) {
  const bool kind = op.kind == NpuOpKind::kConv || op.kind == NpuOpKind::kDepthwise ||
                    op.kind == NpuOpKind::kPool || op.kind == NpuOpKind::kElementwise;
  const bool dynamic = op.kind == NpuOpKind::kConv && !op.weights;
  const bool argmax = op.kind == NpuOpKind::kPool &&
                      (op.pool == PoolMode::kArgmaxX || op.pool == PoolMode::kArgmaxY);
  return kind && !dynamic && !argmax && !op.negate_axis_h && !op.negate_axis_w;
}

}  // namespace thimble::engine::ethos_u
