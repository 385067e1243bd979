// SPDX-License-Identifier: Apache-2.0
// Packed calls of data-movement operators: the constants of abi/packed_ops.h.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "abi/ops/movement.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/loop_nest.h"
#include "engines/cortex_m/compiler/packed.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;
using ir::Graph;
using ir::Op;
using ir::OpKind;

/// Position in x of the first element of y, and the stride in x per dimension of y; in elements.
struct Source {
  int64_t offset = 0;
  std::vector<int64_t> steps;
};

std::optional<Source> source_of(const Graph& graph, const Op& op) {
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Shape& shape = graph.type(op.output).shape;
  Source source;
  source.steps = ir::strides(x.shape, x.dim_order);
  switch (op.kind) {
    case OpKind::copy:
      return source;
    case OpKind::permute: {
      const std::vector<int64_t> own = source.steps;
      const auto& dims = op.get(ir::attr::dims);
      for (size_t d = 0; d < dims.size(); ++d) source.steps[d] = own[static_cast<size_t>(dims[d])];
      return source;
    }
    case OpKind::slice: {
      const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
      source.offset = op.get(ir::attr::start) * source.steps[dim];
      source.steps[dim] *= op.get(ir::attr::step);
      return source;
    }
    case OpKind::expand:
      source.steps = broadcast_strides(x, shape);
      return source;
    default:
      return {};
  }
}

std::optional<KernelCall> move_call(const Graph& graph, const Op& op, abi::Move p,
                                    std::vector<LoopNestAxis> axes) {
  const std::optional<abi::LoopNest> nest = make_loop_nest(axes, true);
  if (!nest) return {};
  p.nest = *nest;
  for (uint32_t a = 0; a < abi::LoopNest::kAxes; ++a) {
    for (uint32_t k = 0; k < 2; ++k) p.nest.step[k][a] *= p.element_bytes;
  }
  for (uint32_t& offset : p.offset) offset *= p.element_bytes;
  KernelCall call;
  call.op = PteOp::thimble_move;
  call.arguments.push_back(operand(graph, op.inputs[0]));
  call.arguments.emplace_back(packed_constant<abi::op_info::thimble_move>(p));
  return call;
}

}  // namespace

std::optional<KernelCall> pack_move(const Graph& graph, const Op& op) {
  const ir::Type& y = graph.type(op.output);
  const std::optional<Source> source = source_of(graph, op);
  if (!source || source->offset < 0) return {};
  const std::vector<int64_t> y_steps = ir::strides(y.shape, y.dim_order);
  std::vector<LoopNestAxis> axes;
  for (const size_t d : memory_order(y)) axes.push_back({y.shape[d], y_steps[d], source->steps[d]});
  abi::Move p = {};
  p.element_bytes = static_cast<uint32_t>(ir::dtype_bytes(y.dtype));
  p.offset[1] = static_cast<uint32_t>(source->offset);
  return move_call(graph, op, p, std::move(axes));
}

std::optional<KernelCall> pack_pad(const Graph& graph, const Op& op) {
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  // The kernel stores the padding value as bytes of a word; other types have another kernel.
  if (y.dtype != ir::DType::kI8) return {};
  const auto& before = op.get(ir::attr::before);
  const auto& after = op.get(ir::attr::after);
  const auto is_negative = [](int64_t amount) { return amount < 0; };
  if (std::ranges::any_of(before, is_negative) || std::ranges::any_of(after, is_negative)) {
    return {};
  }
  const std::vector<int64_t> x_steps = ir::strides(x.shape, x.dim_order);
  const std::vector<int64_t> y_steps = ir::strides(y.shape, y.dim_order);
  abi::Move p = {};
  p.element_bytes = 1;
  std::vector<LoopNestAxis> axes;
  for (const size_t d : memory_order(y)) {
    p.offset[0] += static_cast<uint32_t>(before[d] * y_steps[d]);
    axes.push_back({x.shape[d], y_steps[d], x_steps[d]});
  }
  const auto value = static_cast<uint8_t>(static_cast<int64_t>(op.get(ir::attr::value)));
  p.fill_bytes = static_cast<uint32_t>(y.bytes());
  p.fill = value * 0x01010101U;
  return move_call(graph, op, p, std::move(axes));
}

std::optional<KernelCall> pack_concat(const Graph& graph, const Op& op) {
  constexpr PteOp kOps[] = {PteOp::thimble_concat2, PteOp::thimble_concat3, PteOp::thimble_concat4};
  const size_t count = op.inputs.size();
  if (count < 2 || count > 4) return {};
  const ir::Type& y = graph.type(op.output);
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  const std::vector<int64_t> y_steps = ir::strides(y.shape, y.dim_order);
  KernelCall call;
  call.op = kOps[count - 2];
  abi::Concat p = {};
  p.outer = static_cast<uint32_t>(y.elements() / (y.shape[dim] * y_steps[dim]));
  for (size_t i = 0; i < count; ++i) {
    const ir::Type& x = graph.type(op.inputs[i]);
    const std::vector<int64_t> x_steps = ir::strides(x.shape, x.dim_order);
    for (size_t d = 0; d < x.shape.size(); ++d) {
      if (x.shape[d] == 1 && d != dim) continue;
      const bool outer = d != dim && y_steps[d] > y_steps[dim];
      const int64_t expected = outer ? y_steps[d] / y.shape[dim] * x.shape[dim] : y_steps[d];
      if (x_steps[d] != expected) return {};
    }
    p.bytes[i] = static_cast<uint32_t>(x.elements() / p.outer) *
                 static_cast<uint32_t>(ir::dtype_bytes(x.dtype));
    call.arguments.push_back(operand(graph, op.inputs[i]));
  }
  call.arguments.emplace_back(
      packed_constant<abi::op_info::thimble_concat2, abi::op_info::thimble_concat3,
                      abi::op_info::thimble_concat4>(p));
  return call;
}

}  // namespace thimble::engine::cortex_m
