// SPDX-License-Identifier: Apache-2.0
// A row of the packed weights is a number of chunks of 16 bytes at equal distances. The gather of a
// row becomes
//
//   first  = gather(first_chunk, index)                     int32, one entry per row
//   chunks = first + [0, 2, 4, ...]
//   row    = reshape(gather(weights as [chunks, 16], chunks))
//
// An index out of range is still clamped by the first gather. On the M55 the two more calls take
// about 500 cycles, and the numbers of the first chunks have 4 bytes per row.

#include "engines/cortex_m/compiler/packed_rows.h"

#include <algorithm>

#include "abi/matmul_mve.h"
#include "engines/cortex_m/compiler/fast.h"
#include "ir/int_functions.h"

namespace thimble::engine::cortex_m {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr int64_t kTableBytesMin = 2048;  // below, the added calls need about as many bytes
constexpr int64_t kChunk = abi::kMatmulLanes;

/// Returns true if the operator reads rows of a constant table, and whole chunks of them.
bool reads_rows(const ir::Graph& graph, const Op& op) {
  if (op.kind != OpKind::gather || op.get(ir::attr::dim) != 0) return false;
  const ir::Value& table = graph.value(op.inputs[0]);
  const ir::Shape& shape = table.type.shape;
  return table.constant != nullptr && table.type.dtype == ir::DType::kI8 && shape.size() == 2 &&
         shape[0] % 4 == 0 && shape[1] % kChunk == 0 && shape[0] * shape[1] >= kTableBytesMin &&
         graph.value(op.inputs[1]).constant == nullptr &&
         graph.type(op.output).shape.size() + 1 <= abi::kMaxRank;
}

/// Returns true if a linear of the graph has these weights in the form for Helium.
bool is_packed(const ir::Graph& graph, const ir::Tensor& table) {
  return std::ranges::any_of(graph.ops(), [&](const Op& op) {
    if (op.kind != OpKind::qlinear) return false;
    const ir::TensorPtr& weights = graph.value(op.inputs[1]).constant;
    return weights != nullptr && weights->shape == table.shape && weights->bytes == table.bytes &&
           mve_linear(graph, op).has_value();
  });
}

Result<ValueId> rewrite(const Op& op, ir::Rewriter* rewriter) {
  const ir::Graph& from = rewriter->from();
  const ir::Value& table = from.value(op.inputs[0]);
  const std::string& name = table.name;
  const auto rows = static_cast<uint32_t>(table.type.shape[0]);
  const auto depth = static_cast<uint32_t>(table.type.shape[1]);
  const auto codes = table.constant->data<int8_t>();
  std::vector<int8_t> packed(codes.size());
  std::vector<int32_t> first(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    first[row] = static_cast<int32_t>(abi::matmul_weight_offset(row, 0, depth) / kChunk);
    for (uint32_t k = 0; k < depth; ++k) {
      packed[abi::matmul_weight_offset(row, k, depth)] = codes[size_t{row} * depth + k];
    }
  }
  std::vector<int32_t> steps(depth / kChunk);
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = 2 * static_cast<int32_t>(i);

  ir::Graph& to = rewriter->to();
  const auto constant = [&](std::string_view suffix, ir::Tensor tensor,
                            std::optional<ir::Quant> quant = {}) {
    return to.add_constant(fmt::format("{}.{}", name, suffix),
                           std::make_shared<const ir::Tensor>(std::move(tensor)), std::move(quant));
  };
  const auto chunks = static_cast<int64_t>(steps.size());
  const ValueId first_id = constant("first_chunk", ir::make_i32({rows}, first));
  const ValueId steps_id = constant("chunk_steps", ir::make_i32({chunks}, steps));
  const ValueId packed_id =
      constant("packed", ir::make_i8({int64_t{rows} * chunks, kChunk}, packed), table.type.quant);
  const ir::Type& result = from.type(op.output);
  THIMBLE_TRY(const ValueId at, to.add(OpKind::gather, {first_id, rewriter->map(op.inputs[1])},
                                       {{ir::attr::dim, int64_t{0}}}, op.source));
  ir::Shape shape = to.type(at).shape;
  shape.push_back(1);
  THIMBLE_TRY(const ValueId column,
              to.add(OpKind::reshape, {at}, {{ir::attr::shape, shape}}, op.source));
  THIMBLE_TRY(
      const ValueId all,
      to.add(OpKind::int_pair, {column, steps_id},
             {{ir::attr::function, static_cast<int64_t>(ir::IntFunction::kAdd)}}, op.source));
  THIMBLE_TRY(const ValueId pieces,
              to.add(OpKind::gather, {packed_id, all}, {{ir::attr::dim, int64_t{0}}}, op.source));
  return to.add(OpKind::reshape, {pieces}, {{ir::attr::shape, result.shape}}, op.source,
                {from.value(op.output).name, result.dim_order, result.quant});
}

}  // namespace

Result<ir::Graph> read_packed_rows(const ir::Graph& graph) {
  ir::Rewriter rewriter(graph);
  for (const Op& op : graph.ops()) {
    if (!reads_rows(graph, op) || !is_packed(graph, *graph.value(op.inputs[0]).constant)) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    THIMBLE_TRY(const ValueId row, rewrite(op, &rewriter));
    rewriter.set(op.output, row);
  }
  return rewriter.finish();
}

}  // namespace thimble::engine::cortex_m
