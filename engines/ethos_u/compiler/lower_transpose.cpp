// SPDX-License-Identifier: Apache-2.0
// Transposed outputs of the U85: the hardware writes an operation's result with exchanged axes.
//
// A copy between memories that are dense along different axes, such as NCHW to NHWC, otherwise
// moves one element per position of a block. Here it is one operation that reads along the axis
// that is dense in the source, and writes along the axis that is dense in the destination. If the
// source is the result of a convolution or pool that nothing else reads, that operation writes the
// transposed result itself, and the copy is omitted.

#include <algorithm>
#include <numeric>

#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {
namespace {

using thimble::ethos_u::Transpose;

/// Axes of a copy: `w` is dense in the destination, `c` in the source.
struct CopyAxes {
  Axis h = {1, {0, 0}}, w, c;
  std::vector<Axis> loops;
};

constexpr int64_t kLoopsMax = 64;

std::optional<CopyAxes> transposed_axes(const View& to, const View& from) {
  std::vector<size_t> dims(to.rank());
  std::iota(dims.begin(), dims.end(), size_t{0});
  const View* views[] = {&to, &from};
  std::vector<Axis> axes = common_axes(views, dims);
  const auto take_dense = [&](size_t view) -> std::optional<Axis> {
    const auto at = std::find_if(axes.begin(), axes.end(),
                                 [&](const Axis& axis) { return axis.steps[view] == 1; });
    if (at == axes.end()) return std::nullopt;
    const Axis axis = *at;
    axes.erase(at);
    return axis;
  };
  const auto w = take_dense(0);
  const auto c = take_dense(1);
  if (!w || !c) return std::nullopt;
  CopyAxes result;
  result.w = *w, result.c = *c;
  const auto longest = std::max_element(
      axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.size < b.size; });
  if (longest != axes.end()) {
    result.h = *longest;
    axes.erase(longest);
  }
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.size;
  result.loops = std::move(axes);
  const bool fits = std::max({result.h.size, result.w.size, result.c.size}) <= kSizeMax;
  return fits && count <= kLoopsMax ? std::optional(result) : std::nullopt;
}

/// Returns the transposition that writes the operand: its innermost axis in memory has stride 1,
/// and of the two others the one with the larger stride is the outer one.
Transpose transposition_of(const Operand& ofm) {
  if (ofm.shape.c == 1 || ofm.stride_c == 1) return Transpose::kHwc;
  if (ofm.shape.w > 1 && ofm.stride_w == 1) {
    return ofm.shape.h == 1 || ofm.stride_h >= ofm.stride_c ? Transpose::kHcw : Transpose::kChw;
  }
  return ofm.shape.w == 1 || ofm.stride_w < ofm.stride_c ? Transpose::kCwh : Transpose::kWch;
}

}  // namespace

Result<bool> Lowering::copy_transposed(const View& to, const View& from) {
  if (!is_u85() || to.element.bits > 16) return false;
  const auto axes = transposed_axes(to, from);
  if (!axes) return false;
  THIMBLE_CHECK(for_each_loop(axes->loops, 2, [&](const std::vector<int64_t>& offsets) {
    NpuOp op = op_of(NpuOpKind::kPool);
    op.pool = PoolMode::kSum;
    const auto set = [&](Operand* operand, const View& view, size_t index) {
      *operand = operand_at(view.with_zero_point(0), offsets[index]);
      operand->shape = {axes->h.size, axes->w.size, axes->c.size};
      operand->stride_w = axes->w.steps[index];
      operand->stride_c = axes->c.steps[index];
      const int64_t row =
          std::max(axes->w.size * operand->stride_w, axes->c.size * operand->stride_c);
      operand->stride_h = axes->h.size > 1 ? axes->h.steps[index] : row;
    };
    set(&op.ifm, from, 1);
    set(&op.ofm, to, 0);
    op.transpose = transposition_of(op.ofm);
    push(std::move(op));
    return ok();
  }));
  return true;
}

namespace {

/// Returns true if the operation can write its result transposed.
bool may_transpose(const NpuOp& op) {
  const bool plain_pool = op.kind == NpuOpKind::kPool && op.pool != PoolMode::kNone &&
                          op.pool != PoolMode::kArgmaxX && op.pool != PoolMode::kArgmaxY;
  return (op.kind == NpuOpKind::kConv || op.kind == NpuOpKind::kDepthwise || plain_pool) &&
         op.transpose == Transpose::kHwc && !op.negate_axis_h && !op.negate_axis_w;
}

/// Returns the OFM of `copy` in the axes of `made`, the operand that the copied operation writes;
/// nullopt if they do not correspond.
std::optional<Operand> transposed_result(const Operand& made, const NpuOp& copy) {
  const Operand &read = copy.ifm, &to = copy.ofm;
  if (made.offset != read.offset || made.stride_c != 1 || !(made.element == read.element) ||
      made.shape.elements() != read.shape.elements()) {
    return std::nullopt;
  }
  struct Step {
    int64_t size, from, to;
  };
  const Step steps[] = {{read.shape.h, read.stride_h, to.stride_h},
                        {read.shape.w, read.stride_w, to.stride_w},
                        {read.shape.c, read.stride_c, to.stride_c}};
  // An axis of `made` is a part of one axis of the copy.
  const auto step_of = [&](int64_t size, int64_t stride) -> int64_t {
    if (size == 1) return 0;
    for (const Step& step : steps) {
      // A repeated axis has the step 0.
      const bool inside = step.size > 1 && step.from > 0 && stride % step.from == 0 &&
                          size * stride <= step.size * step.from;
      if (inside && stride >= step.from) return stride / step.from * step.to;
    }
    return -1;
  };
  Operand result = made;
  result.tensor = to.tensor;
  result.offset = to.offset;
  result.stride_h = step_of(made.shape.h, made.stride_h);
  result.stride_w = step_of(made.shape.w, made.stride_w);
  result.stride_c = step_of(made.shape.c, made.stride_c);
  if (std::min({result.stride_h, result.stride_w, result.stride_c}) < 0) return std::nullopt;
  const int64_t reach = std::max({result.stride_h * made.shape.h, result.stride_w * made.shape.w,
                                  result.stride_c * made.shape.c});
  if (made.shape.h == 1) result.stride_h = reach;
  if (made.shape.w == 1) result.stride_w = reach;
  const bool dense =
      (made.shape.w > 1 && result.stride_w == 1) || (made.shape.h > 1 && result.stride_h == 1);
  return dense && made.shape.c > 1 ? std::optional(result) : std::nullopt;
}

}  // namespace

void fuse_transpositions(NpuProgram* program) {
  struct Uses {
    int writers = 0, readers = 0;
    size_t writer = 0;
  };
  std::vector<Uses> uses(program->tensors.size());
  for (size_t i = 0; i < program->ops.size(); ++i) {
    const NpuOp& op = program->ops[i];
    Uses& made = uses[static_cast<size_t>(op.ofm.tensor)];
    ++made.writers, made.writer = i;
    ++uses[static_cast<size_t>(op.ifm.tensor)].readers;
    if (op.ifm2) ++uses[static_cast<size_t>(op.ifm2->tensor)].readers;
  }
  std::vector<bool> omitted(program->ops.size(), false);
  for (size_t i = 0; i < program->ops.size(); ++i) {
    const NpuOp& copy = program->ops[i];
    const bool copies = copy.kind == NpuOpKind::kPool && copy.pool == PoolMode::kSum &&
                        copy.transpose != Transpose::kHwc && copy.table.kind == Table::Kind::kNone;
    const Uses& use = uses[static_cast<size_t>(copy.ifm.tensor)];
    const NpuTensor& tensor = program->tensors[static_cast<size_t>(copy.ifm.tensor)];
    if (!copies || tensor.role != TensorRole::kIntermediate || use.writers != 1 ||
        use.readers != 1 || use.writer >= i) {
      continue;
    }
    NpuOp& maker = program->ops[use.writer];
    if (!may_transpose(maker) || omitted[use.writer]) continue;
    const auto ofm = transposed_result(maker.ofm, copy);
    if (!ofm) continue;
    maker.ofm = *ofm;
    maker.transpose = transposition_of(*ofm);
    omitted[i] = true;
  }
  std::vector<NpuOp> kept;
  for (size_t i = 0; i < program->ops.size(); ++i) {
    if (!omitted[i]) kept.push_back(std::move(program->ops[i]));
  }
  program->ops = std::move(kept);
}

}  // namespace thimble::engine::ethos_u
