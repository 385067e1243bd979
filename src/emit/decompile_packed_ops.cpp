// SPDX-License-Identifier: Apache-2.0
// Decompiles packed operators other than convolution and linear (abi/packed_ops.h). Some have
// tables computed from the operator's parameters. The parameters are read, not the tables: a table
// that does not match them shows as a difference between the file and the reference evaluator.

#include <algorithm>
#include <cstring>
#include <map>

#include "abi/packed_ops.h"
#include "abi/params/window.h"
#include "abi/pte_ops.h"
#include "emit/decompile_packed.h"

namespace thimble::emit {
namespace {

using abi::PteOp;
using ir::OpKind;
using ir::ValueId;

Result<ValueId> add_table(DecompilerCall* call) {
  THIMBLE_TRY(const abi::AddTable table, header_of<abi::AddTable>(call, 2));
  return build_qadd(call, table.add);
}

Result<ValueId> mul_nest(DecompilerCall* call) {
  THIMBLE_TRY(const abi::MulNest nest, header_of<abi::MulNest>(call, 2));
  return build_qmul(call, nest.mul);
}

Result<ValueId> softmax_rows(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const abi::SoftmaxRows p, header_of<abi::SoftmaxRows>(call, 1));
  // Finds the innermost dimension in memory. Any dimension inside it has extent 1.
  const ir::Type type = call->graph().type(x);
  const std::vector<int64_t> steps = ir::strides(type.shape, type.dim_order);
  std::optional<int64_t> dim;
  for (size_t d = 0; d < steps.size(); ++d) {
    if (type.shape[d] == p.length && (steps[d] == 1 || p.length == 1)) {
      dim = static_cast<int64_t>(d);
    }
  }
  if (!dim) return bad_input("its operand has no innermost dimension of size {}", p.length);
  return call->graph().add(p.wide != 0 ? OpKind::qsoftmax16 : OpKind::qsoftmax, {x},
                           {{ir::attr::dim, *dim},
                            {ir::attr::mult, int64_t{p.mult}},
                            {ir::attr::shift, int64_t{p.shift}},
                            {ir::attr::diff_min, int64_t{p.diff_min}}});
}

Result<ValueId> lut_packed(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const abi::LutTable p, header_of<abi::LutTable>(call, 1));
  std::vector<int8_t> table;
  for (int32_t code = -128; code <= 127; ++code) table.push_back(p.table[code & 255]);
  const ValueId constant = call->add_constant("table", ir::make_i8({256}, table));
  return call->graph().add(OpKind::lut, {x, constant}, {});
}

template <OpKind kKind>
Result<ValueId> window_pool(DecompilerCall* call) {
  THIMBLE_TRY(const abi::WindowGeometry g, header_of<abi::WindowGeometry>(call, 1));
  return build_pool(call, kKind, g);
}

Result<ValueId> mean_run(DecompilerCall* call) {
  THIMBLE_TRY(const abi::MeanRun run, header_of<abi::MeanRun>(call, 1));
  return build_qmean(call, run.mean);
}

template <OpKind kKind>
Result<ValueId> quantize_nest(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const abi::QuantizeNest p, header_of<abi::QuantizeNest>(call, 1));
  double scale = 0;
  std::memcpy(&scale, p.scale, sizeof scale);
  return call->graph().add(
      kKind, {x}, {{ir::attr::scale, scale}, {ir::attr::zero_point, int64_t{p.zero_point}}});
}

template <size_t kCount>
Result<ValueId> concat(DecompilerCall* call) {
  std::vector<ValueId> parts;
  for (size_t i = 0; i < kCount; ++i) {
    THIMBLE_TRY(const ValueId part, call->tensor(i));
    parts.push_back(part);
  }
  THIMBLE_TRY(const ir::Type out, call->out_type());
  const ir::Shape first = call->graph().type(parts[0]).shape;
  for (size_t d = 0; d < out.shape.size() && first.size() == out.shape.size(); ++d) {
    // Each part has at least one index of the concatenated dimension.
    if (first[d] == out.shape[d]) continue;
    return call->graph().add(OpKind::concat, parts, {{ir::attr::dim, static_cast<int64_t>(d)}});
  }
  return bad_input("its shapes do not determine the dimension");
}

/// Maps each element of y in memory to an element of x; -1 for the fill value. Empty if the move
/// is not valid: an element of y without source, a source outside of x, an offset inside an
/// element, too many iterations.
std::vector<int32_t> sources(const abi::Move& p, uint64_t x_elements, uint64_t y_elements) {
  constexpr uint32_t kAxes = abi::LoopNest::kAxes;
  constexpr int32_t kUnwritten = -2;
  std::vector<int32_t> result(y_elements, kUnwritten);
  std::fill_n(result.begin(), std::min<uint64_t>(y_elements, p.fill_bytes / p.element_bytes), -1);
  uint64_t count = 1;
  for (const uint32_t extent : p.nest.extent) {
    count *= extent;
    // More iterations than elements would write an element twice.
    if (count > y_elements) return {};
  }
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t at[2] = {p.offset[0], p.offset[1]};
    uint64_t rest = i;
    for (uint32_t a = kAxes; a-- > 0;) {
      const uint64_t index = rest % p.nest.extent[a];
      rest /= p.nest.extent[a];
      for (uint32_t k = 0; k < 2; ++k) at[k] += index * p.nest.step[k][a];
    }
    for (uint64_t& bytes : at) {
      if (bytes % p.element_bytes != 0) return {};
      bytes /= p.element_bytes;
    }
    if (at[0] >= y_elements || at[1] >= x_elements) return {};
    result[at[0]] = static_cast<int32_t>(at[1]);
  }
  if (std::ranges::find(result, kUnwritten) != result.end()) return {};
  return result;
}

/// A move becomes a gather of elements in memory order: those of x and one more, the fill value.
Result<ValueId> move(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const abi::Move p, header_of<abi::Move>(call, 1));
  THIMBLE_TRY(const ir::Type out, call->out_type());
  const ir::Type in = call->graph().type(x);
  const auto x_elements = static_cast<int32_t>(in.elements());
  if (p.element_bytes != ir::dtype_bytes(in.dtype))
    return bad_input("its element size differs from that of its operand");
  std::vector<int32_t> index =
      sources(p, static_cast<uint64_t>(in.elements()), static_cast<uint64_t>(out.elements()));
  if (index.empty()) return bad_input("does not write each element of its result exactly once");
  ir::Type flat = in;
  flat.shape = {in.elements()};
  flat.dim_order.clear();
  THIMBLE_TRY(ValueId all, call->memory().view_as(x, flat));
  if (std::ranges::find(index, -1) != index.end()) {
    ir::Tensor fill = ir::zeros(in.dtype, {1});
    std::memcpy(fill.bytes.data(), &p.fill, std::min(fill.bytes.size(), sizeof p.fill));
    const ValueId constant = call->add_constant("fill", std::move(fill));
    THIMBLE_TRY(all,
                call->graph().add(OpKind::concat, {all, constant}, {{ir::attr::dim, int64_t{0}}}));
    std::ranges::replace(index, -1, x_elements);
  }
  const ValueId places = call->add_constant("places", ir::make_i32({out.elements()}, index));
  THIMBLE_TRY(const ValueId moved,
              call->graph().add(OpKind::gather, {all, places}, {{ir::attr::dim, int64_t{0}}}));
  return call->memory().view_as(moved, out);
}

}  // namespace

DecompileFn* find_packed_op(PteOp op) {
  static const std::map<PteOp, DecompileFn*> kOps = {
      {PteOp::thimble_add_table, add_table},
      {PteOp::thimble_avg_pool2d_packed, window_pool<OpKind::qavg_pool2d>},
      {PteOp::thimble_concat2, concat<2>},
      {PteOp::thimble_concat3, concat<3>},
      {PteOp::thimble_concat4, concat<4>},
      {PteOp::thimble_dequantize_nest, quantize_nest<OpKind::dequantize>},
      {PteOp::thimble_lut_packed, lut_packed},
      {PteOp::thimble_max_pool2d_packed, window_pool<OpKind::max_pool2d>},
      {PteOp::thimble_mean_run, mean_run},
      {PteOp::thimble_move, move},
      {PteOp::thimble_mul_nest, mul_nest},
      {PteOp::thimble_quantize_nest, quantize_nest<OpKind::quantize>},
      {PteOp::thimble_softmax_rows, softmax_rows},
  };
  const auto row = kOps.find(op);
  return row == kOps.end() ? nullptr : row->second;
}

}  // namespace thimble::emit
