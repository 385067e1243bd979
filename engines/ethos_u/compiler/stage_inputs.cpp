// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/stage_inputs.h"

#include <algorithm>

namespace thimble::engine::ethos_u {
namespace {

/// Inputs smaller than this are not copied, because setting up and awaiting a copy takes longer.
constexpr int64_t kLeastBytes = 4096;

/// Returns an operand for a whole tensor with its strides.
Operand whole(const NpuProgram& program, int tensor) {
  const NpuTensor& from = program.tensors[static_cast<size_t>(tensor)];
  Operand operand;
  operand.tensor = tensor;
  operand.element = from.element;
  operand.shape = from.shape;
  operand.stride_w = from.shape.c;
  operand.stride_h = from.shape.w * from.shape.c;
  return operand;
}

/// Returns the first operation that reads `tensor`, or -1 if not all readers read windows.
int first_reader(const NpuProgram& program, int tensor) {
  int first = -1;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const NpuOp& op = program.ops[i];
    if (op.ifm2 && op.ifm2->tensor == tensor) return -1;
    if (op.ifm.tensor != tensor) continue;
    if (!has_window(op)) return -1;
    if (first < 0) first = static_cast<int>(i);
  }
  return first;
}

}  // namespace

NpuProgram stage_inputs(NpuProgram program) {
  for (const int input : program.inputs) {
    const NpuTensor& from = program.tensors[static_cast<size_t>(input)];
    if (from.shape.elements() * from.element.bits / 8 < kLeastBytes) continue;
    const int reader = first_reader(program, input);
    if (reader < 0) continue;
    const int staged = static_cast<int>(program.tensors.size());
    NpuTensor tensor = program.tensors[static_cast<size_t>(input)];
    tensor.role = TensorRole::kIntermediate;
    tensor.linear = true;
    program.tensors.push_back(tensor);
    NpuOp copy;
    copy.kind = NpuOpKind::kDma;
    copy.stages_input = true;
    copy.ifm = whole(program, input);
    copy.ofm = whole(program, staged);
    copy.ir_op = program.ops[static_cast<size_t>(reader)].ir_op;
    for (NpuOp& op : program.ops) {
      if (op.ifm.tensor == input) op.ifm.tensor = staged;
    }
    program.ops.insert(program.ops.begin() + reader, copy);
  }
  return program;
}

}  // namespace thimble::engine::ethos_u
