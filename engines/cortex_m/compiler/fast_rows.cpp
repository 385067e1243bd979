// SPDX-License-Identifier: Apache-2.0
// Packed calls of int8 operators that work by element or by row, and of pools: the constants of
// abi/packed_ops.h. Kernels and their limits: kernels/portable/<operator>.cpp.

#include <algorithm>
#include <bit>
#include <cstring>

#include "abi/ops/arithmetic.h"
#include "abi/ops/conversion.h"
#include "abi/ops/normalization.h"
#include "abi/ops/pool.h"
#include "abi/ops/reduction.h"
#include "abi/params/arithmetic.h"
#include "abi/params/pool.h"
#include "abi/params/reduction.h"
#include "abi/params/window.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/loop_nest.h"
#include "engines/cortex_m/compiler/pack.h"
#include "engines/cortex_m/compiler/packed.h"
#include "numerics/fixed_point.h"
#include "numerics/float_quantize.h"
#include "numerics/softmax.h"
#include "numerics/softmax16.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;
using ir::DType;
using ir::Graph;
using ir::Op;

/// x, constant.
template <const abi::PteOpInfo&... kOps>
KernelCall unary(PteOp pte_op, const Graph& graph, const Op& op,
                 const abi::ParamsOf<kOps...>& params) {
  KernelCall call;
  call.op = pte_op;
  call.arguments.push_back(operand(graph, op.inputs[0]));
  call.arguments.emplace_back(packed_constant<kOps...>(params));
  return call;
}

bool is_codes(const ir::Type& type) {
  return type.dtype == DType::kI8;
}
bool same_memory(const ir::Type& a, const ir::Type& b) {
  return a.shape == b.shape && ir::same_memory(a.shape, a.dim_order, b.dim_order);
}

/// Returns a call with the arguments a, b, constant. The result may replace an operand that has its
/// shape and memory order.
template <const abi::PteOpInfo& kOp>
KernelCall binary(PteOp pte_op, const Graph& graph, const Op& op,
                  const abi::ParamsOf<kOp>& params) {
  KernelCall call = unary<kOp>(pte_op, graph, op, params);
  call.arguments.insert(call.arguments.begin() + 1, operand(graph, op.inputs[1]));
  for (int i = 1; i >= 0; --i) {
    const ir::Value& v = graph.value(op.inputs[static_cast<size_t>(i)]);
    if (!v.constant && same_memory(v.type, graph.type(op.output))) call.in_place = i;
  }
  return call;
}

/// Returns a loop nest over the result in memory order, with the strides of both operands.
std::optional<abi::LoopNest> binary_nest(const Graph& graph, const Op& op) {
  const ir::Type& y = graph.type(op.output);
  const ir::Type& a = graph.type(op.inputs[0]);
  const ir::Type& b = graph.type(op.inputs[1]);
  if (!is_codes(y) || !is_codes(a) || !is_codes(b)) return {};
  const std::vector<int64_t> a_steps = broadcast_strides(a, y.shape);
  const std::vector<int64_t> b_steps = broadcast_strides(b, y.shape);
  std::vector<LoopNestAxis> axes;
  for (const size_t d : memory_order(y)) axes.push_back({y.shape[d], a_steps[d], b_steps[d]});
  return make_loop_nest(axes, false);
}

template <class Header>
Header header_of(const Constant& constant) {
  Header header;
  std::memcpy(&header, constant.bytes->data(), sizeof header);
  return header;
}

/// Fills the table with twice the scaled operand for each int8 value, at index `code & 255`.
/// Returns false if an entry does not fit.
bool fill_table(int32_t offset, int32_t mult, int32_t shift, bool negate, int32_t (&table)[256]) {
  for (int32_t code = -128; code <= 127; ++code) {
    const int32_t value = negate ? -(code + offset) : code + offset;
    const int64_t scaled = numerics::requantize(value * (1 << 20), mult, shift);
    // The bound is half of the bound for a sum, so that no addition overflows.
    if (std::abs(scaled) >= int64_t{1} << 28) return false;
    table[code & 255] = static_cast<int32_t>(2 * scaled);
  }
  return true;
}

/// Returns true if rounding and offset do not overflow 32 bits for the largest sum.
bool result_fits(const abi::AddTable& p) {
  if (p.add.y_shift < -31 || p.add.y_shift > -1) return false;
  const auto largest = [](const int32_t(&table)[256]) {
    int64_t most = 0;
    for (const int32_t entry : table) most = std::max(most, std::abs(int64_t{entry}));
    return most;
  };
  const int shift = -p.add.y_shift;
  const int64_t nudge = (int64_t{1} << (shift - 1)) + (std::abs(int64_t{p.add.y_offset}) << shift);
  const int64_t product = (largest(p.a) + largest(p.b)) / 2 + 2;
  return product + nudge < int64_t{1} << 31;
}

/// Returns true if the largest product, doubled before it is multiplied, does not overflow 32 bits.
bool product_fits(const abi::MulParams& p) {
  const auto largest = [](int64_t offset) {
    return std::max(std::abs(offset - 128), std::abs(offset + 127));
  };
  const int left = std::max(p.shift, 0);
  const int right = std::max(-p.shift, 0);
  const int64_t product = (largest(p.a_offset) * largest(p.b_offset)) << left;
  const int64_t nudge = (int64_t{1} << right >> 1) + (std::abs(int64_t{p.y_offset}) << right);
  return product < int64_t{1} << 30 && product + nudge + 1 < int64_t{1} << 31;
}

}  // namespace

std::optional<KernelCall> pack_add_table(const Graph& graph, const Op& op) {
  const std::optional<abi::LoopNest> nest = binary_nest(graph, op);
  if (!nest) return {};
  abi::AddTable p = {};
  p.nest = *nest;
  p.add = header_of<abi::AddParams>(pack_add(op));
  const bool fits =
      fill_table(p.add.a_offset, p.add.a_mult, p.add.a_shift, false, p.a) &&
      fill_table(p.add.b_offset, p.add.b_mult, p.add.b_shift, p.add.b_negate != 0, p.b) &&
      result_fits(p);
  if (!fits) return {};
  return binary<abi::op_info::thimble_add_table>(PteOp::thimble_add_table, graph, op, p);
}

std::optional<KernelCall> pack_mul_nest(const Graph& graph, const Op& op) {
  const std::optional<abi::LoopNest> nest = binary_nest(graph, op);
  if (!nest) return {};
  const abi::MulNest p = {.nest = *nest, .mul = header_of<abi::MulParams>(pack_mul(op))};
  if (!product_fits(p.mul)) return {};
  return binary<abi::op_info::thimble_mul_nest>(PteOp::thimble_mul_nest, graph, op, p);
}

namespace {

/// For rows of two elements, stores the results themselves, indexed by the elements' difference.
void fill_pairs(const numerics::Softmax& softmax, abi::SoftmaxRows* p) {
  for (int32_t k = 0; k < 256; ++k) {
    const int8_t x[] = {127, static_cast<int8_t>(127 - k)};
    int8_t y[2];
    int16_t y_wide[2];
    softmax.row(x, 2, y);
    numerics::softmax16_row(softmax, x, 2, y_wide);
    const auto half = [&](size_t i) {
      return uint32_t{static_cast<uint16_t>(p->wide != 0 ? y_wide[i] : y[i])};
    };
    p->exp[k] = half(0) | half(1) << 16;
  }
}

}  // namespace

std::optional<KernelCall> pack_softmax_rows(const Graph& graph, const Op& op) {
  const bool wide = op.kind == ir::OpKind::qsoftmax16;
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  const int64_t length = x.shape[dim];
  const bool rows = length == 1 || ir::strides(x.shape, x.dim_order)[dim] == 1;
  if (!rows || !is_codes(x) || !same_memory(x, y)) return {};
  const numerics::Softmax softmax = {attr(op, ir::attr::mult), attr(op, ir::attr::shift),
                                     attr(op, ir::attr::diff_min)};
  if (softmax.mult < 0 || softmax.shift < 0 || softmax.shift > 31) return {};
  abi::SoftmaxRows p = {};
  p.rows = static_cast<uint32_t>(x.elements() / length);
  p.length = static_cast<uint32_t>(length);
  p.mult = softmax.mult;
  p.shift = softmax.shift;
  p.diff_min = softmax.diff_min;
  p.wide = wide ? 1 : 0;
  for (int32_t k = 0; k < 256 && -k >= softmax.diff_min; ++k) {
    p.exp[k] = static_cast<uint32_t>(softmax.exp(-k));
  }
  if (length == 2) fill_pairs(softmax, &p);
  KernelCall call =
      unary<abi::op_info::thimble_softmax_rows>(PteOp::thimble_softmax_rows, graph, op, p);
  if (!wide) call.in_place = 0;
  return call;
}

std::optional<KernelCall> pack_lut_packed(const Graph& graph, const Op& op) {
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::TensorPtr& table = graph.value(op.inputs[1]).constant;
  if (!table || !is_codes(x) || !same_memory(x, graph.type(op.output))) return {};
  abi::LutTable p = {};
  p.count = static_cast<uint32_t>(x.elements());
  for (int32_t code = -128; code <= 127; ++code) {
    p.table[code & 255] = table->data<int8_t>()[static_cast<size_t>(code + 128)];
  }
  KernelCall call =
      unary<abi::op_info::thimble_lut_packed>(PteOp::thimble_lut_packed, graph, op, p);
  call.in_place = 0;
  return call;
}

std::optional<KernelCall> pack_window_pool(const Graph& graph, const Op& op) {
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  const bool average = op.kind == ir::OpKind::qavg_pool2d;
  const auto p = header_of<abi::PoolParams>(pack_pool(op));
  const auto is_image = [](const ir::Type& type) {
    return type.shape.size() == 4 && type.shape[0] == 1 && is_codes(type) &&
           ir::same_memory(type.shape, type.dim_order, ir::channels_last_order()) &&
           std::ranges::all_of(type.shape, [](int64_t size) { return size <= UINT16_MAX; });
  };
  const bool fits = is_image(x) && is_image(y) && p.dilation_h == 1 && p.dilation_w == 1 &&
                    std::max({p.kernel_h, p.kernel_w, p.stride_h, p.stride_w}) <= UINT8_MAX;
  if (!fits) return {};
  // The padding must be smaller than the window on all sides.
  const auto covers = [](int64_t pad, int64_t kernel, int64_t stride, int64_t in, int64_t out) {
    return pad < kernel && (out - 1) * stride - pad < in;
  };
  if (!covers(p.pad_top, p.kernel_h, p.stride_h, x.shape[2], y.shape[2]) ||
      !covers(p.pad_left, p.kernel_w, p.stride_w, x.shape[3], y.shape[3])) {
    return {};
  }
  abi::WindowGeometry g = {};
  g.in_c = g.out_c = static_cast<uint16_t>(x.shape[1]);
  g.in_h = static_cast<uint16_t>(x.shape[2]);
  g.in_w = static_cast<uint16_t>(x.shape[3]);
  g.out_h = static_cast<uint16_t>(y.shape[2]);
  g.out_w = static_cast<uint16_t>(y.shape[3]);
  g.kernel_h = static_cast<uint8_t>(p.kernel_h);
  g.kernel_w = static_cast<uint8_t>(p.kernel_w);
  g.stride_h = static_cast<uint8_t>(p.stride_h);
  g.stride_w = static_cast<uint8_t>(p.stride_w);
  g.dilation_h = g.dilation_w = 1;
  g.pad_top = static_cast<uint8_t>(p.pad_top);
  g.pad_left = static_cast<uint8_t>(p.pad_left);
  g.min = static_cast<int16_t>(p.min);
  g.max = static_cast<int16_t>(p.max);
  return unary<abi::op_info::thimble_avg_pool2d_packed, abi::op_info::thimble_max_pool2d_packed>(
      average ? PteOp::thimble_avg_pool2d_packed : PteOp::thimble_max_pool2d_packed, graph, op, g);
}

std::optional<KernelCall> pack_mean_run(const Graph& graph, const Op& op) {
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  if (!is_codes(x) || !is_codes(y)) return {};
  abi::MeanRun p = {
      .outer = 1, .count = 1, .inner = 1, .mean = header_of<abi::MeanParams>(pack_mean(op))};
  // Dimensions of x in memory order must be: kept, reduced, kept; y has the kept ones in that
  // order.
  const bool keeps = y.shape.size() == x.shape.size();
  const std::vector<int64_t> y_steps = ir::strides(y.shape, y.dim_order);
  std::vector<int64_t> place(x.shape.size());  // dimension of x to dimension of y
  int64_t next = 0;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    const bool reduced = (p.mean.dims_mask >> d & 1) != 0;
    place[d] = keeps ? static_cast<int64_t>(d) : next;
    if (!reduced) ++next;
  }
  int64_t kept = 1;
  const std::vector<size_t> order = memory_order(x);
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    const auto extent = static_cast<uint32_t>(x.shape[d]);
    if (extent == 1) continue;
    if ((p.mean.dims_mask >> d & 1) != 0) {
      if (p.outer != 1) return {};
      p.count *= extent;
      continue;
    }
    if (y_steps[static_cast<size_t>(place[d])] != kept) return {};
    kept *= extent;
    (p.count == 1 ? p.inner : p.outer) *= extent;
  }
  if (p.count > INT32_MAX / 255) return {};
  return unary<abi::op_info::thimble_mean_run>(PteOp::thimble_mean_run, graph, op, p);
}

std::optional<KernelCall> pack_edge_nest(const Graph& graph, const Op& op) {
  const bool quantizes = op.kind == ir::OpKind::quantize;
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  const ir::Type& codes = quantizes ? y : x;
  const ir::Type& reals = quantizes ? x : y;
  const bool wide = !quantizes && codes.dtype == DType::kI16;
  if ((!is_codes(codes) && !wide) || reals.dtype != DType::kF32) return {};
  if (quantizes && (op.get(ir::attr::min) != -128 || op.get(ir::attr::max) != 127)) return {};
  const double scale = op.get(ir::attr::scale);
  abi::QuantizeNest p = {};
  std::memcpy(p.scale, &scale, sizeof scale);
  p.zero_point = attr(op, ir::attr::zero_point);
  p.quantized_bytes = wide ? 2 : 1;
  p.factor = quantizes ? 1.0F / static_cast<float>(scale) : static_cast<float>(scale);
  if (!(p.factor > 0) || !numerics::FloatFactor(p.factor).is_valid()) return {};
  const std::vector<int64_t> x_steps = ir::strides(x.shape, x.dim_order);
  const std::vector<int64_t> y_steps = ir::strides(y.shape, y.dim_order);
  std::vector<LoopNestAxis> axes;
  for (const size_t d : memory_order(y)) axes.push_back({y.shape[d], y_steps[d], x_steps[d]});
  const std::optional<abi::LoopNest> nest = make_loop_nest(axes, true);
  if (!nest) return {};
  p.nest = *nest;
  return unary<abi::op_info::thimble_quantize_nest, abi::op_info::thimble_dequantize_nest>(
      quantizes ? PteOp::thimble_quantize_nest : PteOp::thimble_dequantize_nest, graph, op, p);
}

}  // namespace thimble::engine::cortex_m
