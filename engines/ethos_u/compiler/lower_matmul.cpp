// SPDX-License-Identifier: Apache-2.0
// Products of two activations. The U85 uses one of them as weights. On U55 and U65 elements are
// multiplied and then summed over the depth.

#include <algorithm>

#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {

struct Lowering::Product {
  View y, a, b;  // [..., M, N], [..., M, K], [..., N, K], of the same rank
  Requantize requantize;
  int64_t low, high;
};

namespace {

Operand plane_of(const View& view, int64_t offset, const Shape4& shape, int64_t step_h,
                 int64_t step_w) {
  Operand operand = operand_at(view, offset);
  operand.shape = shape;
  operand.stride_w = shape.w > 1 ? step_w : shape.c;
  operand.stride_h = shape.h > 1 ? step_h : shape.w * operand.stride_w;
  return operand;
}

}  // namespace

Result<View> Lowering::matmul(const ir::Op& op) {
  THIMBLE_TRY(View a, read(op.inputs[0]));
  THIMBLE_TRY(View b, read(op.inputs[1]));
  Product product;
  product.requantize = global_scale(op.get(ir::attr::mult), op.get(ir::attr::shift),
                                    op.get(ir::attr::rounding) != 0);
  product.low = op.get(ir::attr::min);
  product.high = op.get(ir::attr::max);
  if (op.get(ir::attr::transpose_b) == 0) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < b.rank(); ++i) dims.push_back(static_cast<int64_t>(i));
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    b = permuted_view(b, dims);
  }
  THIMBLE_TRY(a, with_inner(a, a.rank() - 1));
  THIMBLE_TRY(b, with_inner(b, b.rank() - 1));
  THIMBLE_TRY(View y, result(op, &a));
  const size_t last = y.rank() - 1;
  ir::Shape lead = y.shape;
  lead[last] = a.shape[a.rank() - 1];
  product.a = broadcast_view(a, lead).with_zero_point(op.get(ir::attr::a_zp));
  lead[last - 1] = y.shape[last];
  product.b = broadcast_view(b, lead).with_zero_point(op.get(ir::attr::b_zp));
  const bool aside = y.steps[last] != 1 && y.shape[last] > 1;
  product.y = aside ? new_view(y.element, y.shape, inner_order(y, last)) : y;
  product.y.zero_point = static_cast<int32_t>(op.get(ir::attr::y_zp));
  THIMBLE_CHECK(is_u85() ? matmul_native(product) : matmul_by_products(product));
  if (aside) THIMBLE_CHECK(copy(y, product.y));
  return y;
}

Status Lowering::matmul_native(const Product& product) {
  const View &y = product.y, &a = product.a, &b = product.b;
  const size_t last = y.rank() - 1;
  std::vector<size_t> batch(last - 1);
  for (size_t i = 0; i < batch.size(); ++i) batch[i] = i;
  const View* views[] = {&y, &a, &b};
  const int64_t rows = y.shape[last - 1], columns = y.shape[last], depth = a.shape[last];
  if (std::max({rows, columns, depth}) > kSizeMax) {
    return unsupported("a product of {} x {} x {}, the limit is {}", rows, depth, columns,
                       kSizeMax);
  }
  std::vector<Axis> axis;
  if (rows > 1) axis.push_back({rows, {y.steps[last - 1], a.steps[last - 1], 0}});
  THIMBLE_TRY(const Grid grid,
              arrange(axis, program_.tensors[static_cast<size_t>(y.tensor)].shape, 3));
  const auto loops = common_axes(views, batch);
  int64_t count = 1;
  for (const Axis& loop : loops) count *= loop.size;
  if (count > kCopiesMax) return unsupported("a product repeated {} times", count);
  return for_each_loop(loops, 3, [&](const std::vector<int64_t>& offsets) {
    NpuOp op = op_of(NpuOpKind::kConv);
    op.requantize = product.requantize;
    op.minimum = static_cast<int32_t>(product.low);
    op.maximum = static_cast<int32_t>(product.high);
    op.ofm = plane_of(y, offsets[0], {grid.h.size, grid.w.size, columns}, grid.h.steps[0],
                      grid.w.steps[0]);
    op.ifm = plane_of(a, offsets[1], {grid.h.size, grid.w.size, depth}, grid.h.steps[1],
                      grid.w.steps[1]);
    op.ifm2 = plane_of(b, offsets[2], {1, columns, depth}, 0, b.steps[last - 1]);
    push(std::move(op));
    return ok();
  });
}

Status Lowering::matmul_by_products(const Product& product) {
  const View &y = product.y, &a = product.a, &b = product.b;
  const size_t last = y.rank() - 1;
  const int64_t rows = y.shape[last - 1], columns = y.shape[last], depth = a.shape[last];
  if (std::max({rows, columns, depth}) > kSizeMax) {
    return unsupported("a product of {} x {} x {}, the limit is {}", rows, depth, columns,
                       kSizeMax);
  }
  std::vector<size_t> batch(last - 1);
  for (size_t i = 0; i < batch.size(); ++i) batch[i] = i;
  const View sums = new_view(kInt32, y.shape, inner_order(y, last));
  const View* views[] = {&sums, &a, &b};
  const int64_t together = std::clamp<int64_t>(kProductsTogether / (rows * depth), 1, columns);
  const auto loops = common_axes(views, batch);
  int64_t count = (columns + together - 1) / together;
  for (const Axis& loop : loops) count *= loop.size;
  if (count > kPartsMax) {
    return unsupported("a matrix product in {} parts of at most {} products, the limit is {}",
                       count, kProductsTogether, kPartsMax);
  }
  // Element [n, m, k] of the products is a[m, k] * b[n, k]. Both a and b are broadcast along one
  // dimension.
  const auto plane = [&](const View& view, int64_t offset, int64_t step_n, int64_t step_m) {
    View result = view;
    result.offset += offset;
    result.shape = {1, rows, depth};
    result.steps = {step_n, step_m, 1};
    return result;
  };
  THIMBLE_CHECK(for_each_loop(loops, 3, [&](const std::vector<int64_t>& offsets) -> Status {
    for (int64_t n = 0; n < columns; n += together) {
      const int64_t part = std::min(together, columns - n);
      View left = plane(a, offsets[1], 0, a.steps[last - 1]);
      View right = plane(b, offsets[2] + n * b.steps[last - 1], b.steps[last - 1], 0);
      left.shape[0] = right.shape[0] = part;
      const View products = scratch(kInt32, {part, rows, depth});
      NpuOp mul = op_of(NpuOpKind::kElementwise);
      mul.elementwise = ElementwiseMode::kMul;
      THIMBLE_CHECK(each(mul, products, left, &right));
      NpuOp add = op_of(NpuOpKind::kPool);
      add.pool = PoolMode::kReduceSum;
      add.ifm = plane_of(products, 0, {part, rows, depth}, rows * depth, depth);
      add.ofm =
          plane_of(sums, offsets[0] + n, {part, rows, 1}, sums.steps[last], sums.steps[last - 1]);
      push(std::move(add));
    }
    return ok();
  }));
  return requantize_each(y, sums, product.requantize, product.low, product.high);
}

}  // namespace thimble::engine::ethos_u
