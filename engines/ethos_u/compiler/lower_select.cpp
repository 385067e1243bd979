// SPDX-License-Identifier: Apache-2.0
// Lowers comparisons, selection, LUTs of the graph, and rescaling.

#include <algorithm>

#include "engines/ethos_u/compiler/lowering.h"
#include "numerics/fixed_point.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;

Result<View> Lowering::lut(const ir::Op& op) {
  const ir::Tensor* table = constant_of(op.inputs[1]);
  if (table == nullptr) return unsupported("its table is not a constant");
  const auto entries = table->data<int8_t>();
  return by_table(op, op.inputs[0],
                  [&](int64_t code) { return entries[static_cast<size_t>(code + 128)]; });
}

Result<View> Lowering::lut16(const ir::Op& op) {
  const ir::Tensor* table = constant_of(op.inputs[1]);
  if (table == nullptr) return unsupported("its table is not a constant");
  const auto points = table->data<int16_t>();
  Table lines = {Table::Kind::k16, {}};
  for (size_t i = 0; i < 512; ++i) {
    const int32_t slope = points[i + 1] - points[i];
    if (slope < INT16_MIN || slope > INT16_MAX) {
      return unsupported("its table rises by {} at entry {}, the limit is {}", slope, i, INT16_MAX);
    }
    const uint32_t entry = static_cast<uint32_t>(static_cast<uint16_t>(slope)) << 16 |
                           static_cast<uint16_t>(points[i]);
    for (int byte = 0; byte < 4; ++byte) {
      lines.content.push_back(static_cast<std::byte>(entry >> (8 * byte) & 0xFFU));
    }
  }
  THIMBLE_TRY(View x, read(op.inputs[0]));
  if (fuse_table(op, op.inputs[0], lines)) return x;
  THIMBLE_TRY(View y, result(op, &x));
  THIMBLE_CHECK(table_each(y, x, std::move(lines), kInt16));
  return y;
}

namespace {

bool is_signed_value(const View& view) {
  return view.element.is_signed && view.element.bits <= 16;
}

bool related(int64_t difference, int64_t relation) {
  switch (relation) {
    case 0:
      return difference == 0;
    case 1:
      return difference != 0;
    case 2:
      return difference < 0;
    case 3:
      return difference <= 0;
    case 4:
      return difference > 0;
    default:
      return difference >= 0;
  }
}

}  // namespace

Result<View> Lowering::extreme(const ir::Op& op) {
  THIMBLE_TRY(View a, read(op.inputs[0]));
  THIMBLE_TRY(View b, read(op.inputs[1]));
  if (!is_signed_value(a)) return unsupported("its operands are not int8 or int16");
  const bool larger = op.kind == OpKind::maximum;
  if (a.element == kByte) {
    THIMBLE_TRY(const auto y, as_table(op, [&](int64_t x, int64_t z) {
                  return larger ? std::max(x, z) : std::min(x, z);
                }));
    if (y) return *y;
  }
  const View& like = a.elements() >= b.elements() ? a : b;
  THIMBLE_TRY(View y, result(op, &like));
  THIMBLE_CHECK(binary(larger ? ElementwiseMode::kMax : ElementwiseMode::kMin, y, a, b));
  return y;
}

/// Subtracts with saturation to 8 bits, which keeps the sign. A LUT converts the difference to the
/// result.
Result<View> Lowering::compare(const ir::Op& op) {
  const int64_t relation = op.get(ir::attr::relation);
  THIMBLE_TRY(View a, read(op.inputs[0]));
  THIMBLE_TRY(View b, read(op.inputs[1]));
  if (!is_signed_value(a)) return unsupported("its operands are not int8 or int16");
  const bool bytes = type(op.inputs[0]).dtype == ir::DType::kI8;
  if (bytes) {
    THIMBLE_TRY(const auto y, as_table(op, [&](int64_t x, int64_t z) {
                  return int64_t{related(x - z, relation)};
                }));
    if (y) return *y;
  }
  const View& like = a.elements() >= b.elements() ? a : b;
  THIMBLE_TRY(View y, result(op, &like));
  NpuOp sub = op_of(NpuOpKind::kElementwise);
  sub.elementwise = ElementwiseMode::kSub;
  sub.minimum = INT8_MIN;
  sub.maximum = INT8_MAX;
  sub.table = {Table::Kind::k8To8, std::vector<std::byte>(256)};
  for (int64_t code = -128; code < 128; ++code) {
    sub.table.content[static_cast<size_t>(code + 128)] =
        static_cast<std::byte>(related(code, relation) ? 1 : 0);
  }
  const View second = broadcast_view(b, y.shape);
  THIMBLE_CHECK(each(sub, y, broadcast_view(a, y.shape), &second));
  return y;
}

/// Values are 0 or 1, so `and` is MIN and `or` is MAX.
Result<View> Lowering::logical(const ir::Op& op) {
  if (op.kind == OpKind::logical_not) {
    return by_table(op, op.inputs[0], [](int64_t code) { return code == 0 ? 1 : 0; });
  }
  THIMBLE_TRY(View a, read(op.inputs[0]));
  THIMBLE_TRY(View b, read(op.inputs[1]));
  const View& like = a.elements() >= b.elements() ? a : b;
  THIMBLE_TRY(View y, result(op, &like));
  const bool both = op.kind == OpKind::logical_and;
  THIMBLE_CHECK(binary(both ? ElementwiseMode::kMin : ElementwiseMode::kMax, y, a, b));
  return y;
}

/// Computes condition * (a - b) + b.
Result<View> Lowering::choose_wide(const ir::Op& op, const View& condition, const View& a,
                                   const View& b) {
  THIMBLE_TRY(View y, result(op));
  THIMBLE_TRY(View truth, widened(condition, [](int64_t code) { return code != 0 ? 1 : 0; }));
  View difference = scratch(kInt32, y.shape), chosen = scratch(kInt32, y.shape);
  View base = scratch(kInt32, y.shape), total = scratch(kInt32, y.shape);
  THIMBLE_CHECK(binary(ElementwiseMode::kSub, difference, a, b));
  THIMBLE_CHECK(binary(ElementwiseMode::kMul, chosen, difference, truth));
  THIMBLE_CHECK(with_scalar(ElementwiseMode::kMul, base, broadcast_view(b, y.shape), 1));
  THIMBLE_CHECK(binary(ElementwiseMode::kAdd, total, chosen, base));
  THIMBLE_CHECK(requantize_each(y, total, unit_scale(), INT16_MIN, INT16_MAX));
  return y;
}

/// Computes max(min(a, A), min(b, B)). For each element, the condition sets one of A and B to the
/// smallest value and the other to the largest.
Result<View> Lowering::where(const ir::Op& op) {
  THIMBLE_TRY(View condition, read(op.inputs[0]));
  THIMBLE_TRY(View a, read(op.inputs[1]));
  THIMBLE_TRY(View b, read(op.inputs[2]));
  if (!is_signed_value(a)) return unsupported("its operands are not int8 or int16");
  if (a.element == kInt16) return choose_wide(op, condition, a, b);
  THIMBLE_TRY(View y, result(op));
  const ir::DimOrder order = order_of(y);
  View parts[2];
  for (int i = 0; i < 2; ++i) {
    Table table = {Table::Kind::k8To8, std::vector<std::byte>(256)};
    for (int64_t code = -128; code < 128; ++code) {
      const bool taken = (code != 0) == (i == 0);
      table.content[static_cast<size_t>(code + 128)] = static_cast<std::byte>(taken ? 127 : 0x80);
    }
    View limit = new_view(kByte, condition.shape, order_of(condition));
    THIMBLE_CHECK(table_each(limit, condition, std::move(table), kByte));
    parts[i] = new_view(kByte, y.shape, order);
    THIMBLE_CHECK(binary(ElementwiseMode::kMin, parts[i], i == 0 ? a : b, limit));
  }
  THIMBLE_CHECK(binary(ElementwiseMode::kMax, y, parts[0], parts[1]));
  return y;
}

Result<View> Lowering::rescale(const ir::Op& op) {
  const int64_t x_zp = op.get(ir::attr::x_zp), y_zp = op.get(ir::attr::y_zp);
  const int64_t mult = op.get(ir::attr::mult), shift = op.get(ir::attr::shift);
  THIMBLE_TRY(View x, read(op.inputs[0]));
  const bool wide = op.get(ir::attr::wide) != 0;
  if (shift > 14) return unsupported("shift {} may overflow 32 bits, the limit is 14", shift);
  if (x.element == kByte && !wide) {
    return by_table(op, op.inputs[0], [&](int64_t code) {
      const int32_t scaled =
          numerics::requantize(static_cast<int32_t>(code - x_zp), static_cast<int32_t>(mult),
                               static_cast<int32_t>(shift));
      return std::clamp<int64_t>(scaled + y_zp, -128, 127);
    });
  }
  THIMBLE_TRY(View y, result(op, &x));
  NpuOp scale = op_of(NpuOpKind::kPool);
  scale.pool = PoolMode::kAverage;
  scale.requantize = global_scale(mult, shift, false);
  scale.minimum = wide ? INT16_MIN : INT8_MIN;
  scale.maximum = wide ? INT16_MAX : INT8_MAX;
  THIMBLE_CHECK(each(scale, y.with_zero_point(y_zp), x.with_zero_point(x_zp)));
  return y;
}

}  // namespace thimble::engine::ethos_u
