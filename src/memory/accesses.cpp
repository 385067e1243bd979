// SPDX-License-Identifier: Apache-2.0
#include "memory/accesses.h"

#include <algorithm>

#include "abi/pte_ops.h"
#include "base/rounding.h"
#include "ir/op_cost.h"

namespace thimble::memory {
namespace {

using ir::OpCategory;

/// Number of times that a call reads all its weights, and number of bytes of input it loads.
struct Weighted {
  int64_t passes = 1;
  int64_t input_bytes = 0;
};

std::optional<Weighted> weighted(const ir::Graph& graph, const ir::Op& op,
                                 const engine::Core& target) {
  const engine::KernelReuse& reuse = target.reuse;
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  const auto width = static_cast<int64_t>(x.bytes()) / std::max<int64_t>(x.elements(), 1);
  const auto with = [&](int64_t rows, const engine::DataReuse& of) {
    const double loads = static_cast<double>(ir::macs_of(graph, op)) / of.macs_per_byte;
    return Weighted{divide_up(rows, of.weight_rows), static_cast<int64_t>(loads) * width};
  };
  switch (ir::category_of(op.kind)) {
    case OpCategory::kConv: {
      const int64_t groups = op.get(ir::attr::groups);
      const bool depthwise = groups > 1 && groups == x.shape[1];
      const ir::Type& w = graph.type(op.inputs[1]);
      return with(y.elements() / w.shape[0], depthwise ? reuse.depthwise : reuse.dense);
    }
    case OpCategory::kLinear:
      return with(y.elements() / graph.type(op.inputs[1]).shape[0], reuse.linear);
    case OpCategory::kConvTranspose:
      return with(x.elements() / graph.type(op.inputs[1]).shape[0], {1, 1});
    case OpCategory::kRecurrent:
      // A time step reads all weights once, and the input and previous state once per two results.
      return with(y.elements() / y.shape.back(), {1, 2});
    case OpCategory::kMatmul:
      return with(y.elements() / y.shape.back(), {1, 1});
    default:
      return {};
  }
}

/// Returns the number of bytes that a pooling operator reads: one window per output element.
int64_t window_bytes(const ir::Graph& graph, const ir::Op& op) {
  if (ir::category_of(op.kind) != OpCategory::kPool) return 0;
  const auto& kernel = op.get(ir::attr::kernel);
  return static_cast<int64_t>(graph.type(op.output).bytes()) * kernel[0] * kernel[1];
}

/// Returns the number of bytes that a call reads from its lookup table: a fixed number per output
/// element, regardless of the table's length. Returns 0 if the constant is not a table.
int64_t table_bytes(const ir::Graph& graph, const ir::Op& op, abi::PteOp kernel) {
  const ir::Type& y = graph.type(op.output);
  constexpr int64_t kWordBytes = 4;
  if (kernel == abi::PteOp::thimble_add_table) return 2 * kWordBytes * y.elements();
  switch (ir::category_of(op.kind)) {
    case OpCategory::kTable: {  // in 16 bits both neighboring entries
      const bool wide = graph.type(op.inputs[0]).dtype == ir::DType::kI16;
      return (wide ? kWordBytes : 1) * y.elements();
    }
    case OpCategory::kSoftmax:  // one pass for the sum, one for the results
      return 2 * kWordBytes * y.elements();
    default:
      return 0;
  }
}

int64_t bytes_of(const ir::Graph& graph, ir::ValueId value) {
  return static_cast<int64_t>(graph.type(value).bytes());
}

}  // namespace

Accesses accesses_of(const engine::Lowered& lowered, const engine::KernelCall& call,
                     const engine::Core& target) {
  const ir::Graph& graph = lowered.graph;
  const ir::Op& op = graph.ops()[static_cast<size_t>(call.ir_op)];
  const std::optional<Weighted> weights = weighted(graph, op, target);
  const int64_t out_bytes = bytes_of(graph, call.out);
  Accesses accesses;
  accesses.out = out_bytes;
  for (const ir::ValueId more : call.extra_outputs) accesses.out += bytes_of(graph, more);
  bool is_first = true;
  for (const engine::Argument& argument : call.arguments) {
    int64_t bytes = 0;
    if (const auto* value = std::get_if<engine::ValueRef>(&argument)) {
      bytes = bytes_of(graph, value->id);
      if (!weights) {
        bytes = std::max(bytes, window_bytes(graph, op));
      } else if (is_first) {
        bytes = std::max(bytes, weights->input_bytes);
      } else {
        bytes *= weights->passes;  // the second factor of a matrix product
      }
      is_first = false;
    } else if (const auto* constant = std::get_if<engine::Constant>(&argument)) {
      const auto size = static_cast<int64_t>(constant->bytes->size());
      bytes = weights ? size * weights->passes : size;
      if (const int64_t table = table_bytes(graph, op, call.op); table > 0) bytes = table;
    } else if (const auto* scratch = std::get_if<engine::Scratch>(&argument)) {
      bytes = 2 * scratch->bytes;
    } else if (const auto* list = std::get_if<engine::ValueList>(&argument)) {
      for (const ir::ValueId value : *list) bytes += bytes_of(graph, value);
    }
    accesses.arguments.push_back(bytes);
  }
  return accesses;
}

}  // namespace thimble::memory
