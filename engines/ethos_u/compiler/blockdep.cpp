// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/blockdep.h"

#include <algorithm>
#include <vector>

#include "base/rounding.h"

namespace thimble::engine::ethos_u {
namespace {

/// A box of an operand in the operand's coordinates: rows, columns and channels.
struct Box {
  IndexRange h, w, c;
};
bool overlap(const IndexRange& a, const IndexRange& b) {
  return a.begin < b.end && b.begin < a.end;
}
bool overlap(const Box& a, const Box& b) {
  return overlap(a.h, b.h) && overlap(a.w, b.w) && overlap(a.c, b.c);
}

/// How blocks follow one another: depth first, then columns, then rows.
struct BlockGrid {
  int64_t h = 1, w = 1, c = 1;
  [[nodiscard]] int64_t count() const { return h * w * c; }
};
BlockGrid grid_of(const Kernel& kernel) {
  const Block& block = kernel.plan->block;
  return {divide_up(kernel.rows.size(), block.h), divide_up(kernel.op->ofm.shape.w, block.w),
          divide_up(kernel.channels.size(), block.d)};
}

IndexRange clip(int64_t index, int64_t size, const IndexRange& whole) {
  const int64_t begin = whole.begin + index * size;
  return {begin, std::min(begin + size, whole.end)};
}
/// Returns the box of the OFM that block `index` writes.
Box written(const Kernel& kernel, const BlockGrid& grid, int64_t index) {
  const Block& block = kernel.plan->block;
  return {clip(index / (grid.w * grid.c), block.h, kernel.rows),
          clip(index / grid.c % grid.w, block.w, {0, kernel.op->ofm.shape.w}),
          clip(index % grid.c, block.d, kernel.channels)};
}

IndexRange input_columns(const NpuOp& op, const IndexRange& columns) {
  if (op.kind == NpuOpKind::kElementwise) return columns;
  if (op.kind == NpuOpKind::kResize) return {0, op.ifm.shape.w};
  const Window& window = op.window;
  const int64_t scale = op.upscale == Upscale::kNone ? 1 : 2;
  const int64_t dilated = (window.kernel_w - 1) * window.dilation_w + 1;
  const int64_t begin = columns.begin * window.stride_w - window.pad_left;
  const int64_t end = (columns.end - 1) * window.stride_w + dilated - window.pad_left;
  return {std::max<int64_t>(0, begin) / scale, std::min(op.ifm.shape.w, divide_up(end, scale))};
}
/// Returns the box of the operand that a block reads to write `box`.
Box read(const NpuOp& op, const Operand& operand, bool second, const Box& box) {
  const bool by_channel = op.kind == NpuOpKind::kElementwise || op.kind == NpuOpKind::kDepthwise ||
                          op.kind == NpuOpKind::kResize ||
                          (op.kind == NpuOpKind::kPool && op.pool != PoolMode::kReduceSum);
  Box result;
  result.h = second ? second_input_rows(op, box.h) : input_rows(op, box.h).rows;
  result.w = second && op.kind != NpuOpKind::kElementwise ? IndexRange{0, operand.shape.w}
                                                          : input_columns(op, box.w);
  result.c =
      by_channel && operand.shape.c == op.ofm.shape.c ? box.c : IndexRange{0, operand.shape.c};
  if (operand.shape.w == 1) result.w = {0, 1};
  return result;
}

/// Converts a box from the coordinates of an operand to those of its tensor. Returns false if the
/// operand is not a box of the tensor with the tensor's strides.
bool to_tensor(const Kernel& kernel, const Operand& operand, Box* box) {
  const NpuTensor& tensor = kernel.program->tensors[static_cast<size_t>(operand.tensor)];
  const Shape4& shape = tensor.shape;
  const bool plain = operand.element.bits == tensor.element.bits &&
                     (operand.shape.h == 1 || operand.stride_h == shape.w * shape.c) &&
                     (operand.shape.w == 1 || operand.stride_w == shape.c) &&
                     operand.stride_c == 1 &&
                     operand.offset / shape.c % shape.w + operand.shape.w <= shape.w &&
                     operand.offset % shape.c + operand.shape.c <= shape.c;
  if (!plain) return false;
  const auto move = [](IndexRange* span, int64_t by) { span->begin += by, span->end += by; };
  move(&box->h, operand.offset / (shape.w * shape.c));
  move(&box->w, operand.offset / shape.c % shape.w);
  move(&box->c, operand.offset % shape.c);
  return true;
}

/// Returns the number of blocks of `before` that may be unfinished: 0 if it cannot be determined,
/// `limit` if the kernels have no data dependency.
int allowed(const Kernel& before, const Kernel& kernel, const Operand& operand, bool second,
            int limit) {
  const Operand& made = before.op->ofm;
  if (operand.tensor != made.tensor) return limit;
  const BlockGrid last = grid_of(before), first = grid_of(kernel);
  if (before.op->negate_axis_h || before.op->negate_axis_w) return 0;
  for (int depth = 0; depth < limit; ++depth) {
    for (int i = 0; i <= depth; ++i) {
      const int64_t j = depth - i;
      if (i >= first.count() || j >= last.count()) continue;
      Box reads = read(*kernel.op, operand, second, written(kernel, first, i));
      Box writes = written(before, last, last.count() - 1 - j);
      if (!to_tensor(kernel, operand, &reads) || !to_tensor(before, made, &writes)) return 0;
      if (overlap(reads, writes)) return depth;
    }
  }
  return limit;
}

bool reads_tensor(const Kernel& kernel, int tensor) {
  return kernel.op->ifm.tensor == tensor || (kernel.op->ifm2 && kernel.op->ifm2->tensor == tensor);
}

}  // namespace

int block_dependency(const Kernel* earlier, const Kernel* before, const Kernel& kernel) {
  if (before == nullptr) return 0;
  const Config& config = *kernel.program->config;
  const bool u85 = config.generation == Generation::kU85;
  const bool table_before = !before->op->table.content.empty();
  const bool shared_banks = !u85 && config.banks <= 16;
  if (shared_banks && table_before != !kernel.op->table.content.empty()) return 0;
  int limit = u85 ? 7 : 3;
  // If the previous kernel has fewer blocks than BLOCKDEP, blocks of the kernel before it count
  // too.
  if (earlier != nullptr && reads_tensor(kernel, earlier->op->ofm.tensor)) {
    limit = static_cast<int>(std::min<int64_t>(limit, grid_of(*before).count()));
  }
  limit = allowed(*before, kernel, kernel.op->ifm, false, limit);
  if (kernel.op->ifm2) limit = allowed(*before, kernel, *kernel.op->ifm2, true, limit);
  return limit;
}

}  // namespace thimble::engine::ethos_u
