// SPDX-License-Identifier: Apache-2.0
// Data movement: views where strides allow it, copies otherwise.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;

Result<View> Lowering::copied(const ir::Op& op) {
  return read(op.inputs[0]);
}

Result<View> Lowering::permute(const ir::Op& op) {
  THIMBLE_TRY(const View x, read(op.inputs[0]));
  return permuted_view(x, op.get(ir::attr::dims));
}

Result<View> Lowering::expand(const ir::Op& op) {
  THIMBLE_TRY(const View x, read(op.inputs[0]));
  return broadcast_view(x, type(op.output).shape);
}

Result<View> Lowering::slice(const ir::Op& op) {
  THIMBLE_TRY(const View x, read(op.inputs[0]));
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  return sliced_view(x, dim, op.get(ir::attr::start), type(op.output).shape[dim],
                     op.get(ir::attr::step));
}

/// A 4-D value that is flattened only for linear layers is not copied. The columns of the weights
/// are permuted instead.
Result<View> Lowering::reshape(const ir::Op& op) {
  THIMBLE_TRY(const View x, read(op.inputs[0]));
  const ir::Shape& shape = type(op.output).shape;
  if (const auto view = reshaped_view(x, shape)) return *view;
  const auto& users = consumers_[static_cast<size_t>(op.output)];
  const auto& outputs = graph_.outputs();
  bool columns = shape.size() == 2 && x.rank() == 4 && shape[0] == x.shape[0] && !users.empty() &&
                 std::find(outputs.begin(), outputs.end(), op.output) == outputs.end();
  for (const int user : users) {
    const ir::Op& reader = graph_.ops()[static_cast<size_t>(user)];
    columns = columns && (reader.kind == OpKind::qlinear || reader.kind == OpKind::qlinear16);
  }
  const int64_t order[] = {0, 2, 3, 1};
  const auto permuted = columns ? reshaped_view(permuted_view(x, order), shape) : std::nullopt;
  if (permuted && permuted->steps[1] == 1) {
    std::vector<int64_t>& moved = columns_[op.output];
    const int64_t channels = x.shape[1], pixels = x.shape[2] * x.shape[3];
    for (int64_t i = 0; i < shape[1]; ++i) {
      moved.push_back(i % channels * pixels + i / channels);
    }
    return *permuted;
  }
  THIMBLE_TRY(View y, result(op));
  // Uses a single copy if one of the two shapes is a view of the other's memory.
  if (const auto target = reshaped_view(y, x.shape)) {
    THIMBLE_CHECK(copy(*target, x));
    return y;
  }
  ir::DimOrder plain(x.rank());
  std::iota(plain.begin(), plain.end(), uint8_t{0});
  const View dense = new_view(x.element, x.shape, plain);
  THIMBLE_CHECK(copy(dense, x));
  THIMBLE_CHECK(copy(y, *reshaped_view(dense, shape)));
  return y;
}

Result<View> Lowering::concat(const ir::Op& op) {
  THIMBLE_TRY(View y, result(op));
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  int64_t start = 0;
  for (const ir::ValueId part : op.inputs) {
    THIMBLE_TRY(const View x, read(part));
    const View there = sliced_view(y, dim, start, x.shape[dim]);
    if (same_place(there, x)) {
      operand_in_place_ = true;  // another operation wrote this part of the result
    } else {
      THIMBLE_CHECK(copy(there, x));
    }
    start += x.shape[dim];
  }
  return y;
}

Result<View> Lowering::pad(const ir::Op& op) {
  THIMBLE_TRY(const View x, read(op.inputs[0]));
  THIMBLE_TRY(View y, result(op, &x));
  const auto &before = op.get(ir::attr::before), &after = op.get(ir::attr::after);
  const auto value = static_cast<int64_t>(op.get(ir::attr::value));
  View inside = y;
  for (size_t i = 0; i < before.size(); ++i) {
    const int64_t size = x.shape[i];
    if (before[i] > 0) THIMBLE_CHECK(fill(sliced_view(inside, i, 0, before[i]), value));
    if (after[i] > 0) {
      THIMBLE_CHECK(fill(sliced_view(inside, i, before[i] + size, after[i]), value));
    }
    inside = sliced_view(inside, i, before[i], size);
  }
  if (same_place(inside, x)) {
    operand_in_place_ = true;  // another operation wrote this part of the result
  } else {
    THIMBLE_CHECK(copy(inside, x));
  }
  return y;
}

namespace {

/// Returns the positions that an index tensor selects in a dimension of this size.
std::vector<int64_t> positions_of(const ir::Tensor& index, int64_t size) {
  std::vector<int64_t> at;
  for (int64_t i = 0; i < ir::element_count(index.shape); ++i) {
    int64_t position = index.dtype == ir::DType::kI32
                           ? index.data<int32_t>()[static_cast<size_t>(i)]
                           : index.data<int64_t>()[static_cast<size_t>(i)];
    if (position < 0) position += size;
    at.push_back(std::clamp<int64_t>(position, 0, size - 1));
  }
  return at;
}

}  // namespace

/// Returns true if the operator repeats each row (or column) of an image twice.
bool Lowering::is_nearest_x2(const ir::Op& op) const {
  const ir::Tensor* index = op.kind == OpKind::gather ? constant_of(op.inputs[1]) : nullptr;
  const int64_t dim = index != nullptr ? op.get(ir::attr::dim) : 0;
  const ir::Shape& shape = type(op.inputs[0]).shape;
  if (index == nullptr || index->shape.size() != 1 || shape.size() != 4 || dim < 2) return false;
  const auto element = element_of(type(op.output).dtype);
  const int64_t size = shape[static_cast<size_t>(dim)];
  if (index->shape[0] != 2 * size || !element || element->bits > 16) return false;
  const auto at = positions_of(*index, size);
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] != static_cast<int64_t>(i / 2)) return false;
  }
  return true;
}

/// Repeats rows and columns of an image twice, using the hardware's IFM upscaling. If only one of
/// the two axes is repeated so far, the work is left to the following operator.
Result<View> Lowering::nearest_x2(const ir::Op& op) {
  const auto before = nearest_x2_one_axis_.find(op.inputs[0]);
  if (before == nearest_x2_one_axis_.end()) {
    THIMBLE_TRY(const View x, read(op.inputs[0]));
    nearest_x2_one_axis_[op.output] = x;
    return x;
  }
  THIMBLE_TRY(const View x, with_inner(before->second, 1));
  THIMBLE_TRY(const View place, result(op));
  const bool aside = place.steps[1] != 1 && place.shape[1] > 1;
  const View y = aside ? new_view(place.element, place.shape, ir::channels_last_order()) : place;
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    NpuOp pool = op_of(NpuOpKind::kPool);
    pool.pool = PoolMode::kAverage;
    pool.upscale = Upscale::kNearest;
    pool.ifm = image_of(x, n);
    pool.ofm = image_of(y, n);
    push(std::move(pool));
  }
  if (aside) THIMBLE_CHECK(copy(place, y));
  return place;
}

Result<View> Lowering::gather(const ir::Op& op) {
  const ir::Tensor* index = constant_of(op.inputs[1]);
  if (index == nullptr) return unsupported("its index is not a constant");
  if (index->shape.size() > 1) {
    return unsupported("its index has {} dimensions, the limit is 1", index->shape.size());
  }
  if (is_nearest_x2(op)) {
    if (nearest_x2_one_axis_.contains(op.inputs[0])) return nearest_x2(op);
    const auto& users = consumers_[static_cast<size_t>(op.output)];
    const auto& outputs = graph_.outputs();
    const bool waits =
        users.size() == 1 && std::find(outputs.begin(), outputs.end(), op.output) == outputs.end();
    const ir::Op* next = waits ? &graph_.ops()[static_cast<size_t>(users[0])] : nullptr;
    if (next != nullptr && is_nearest_x2(*next) && next->inputs[0] == op.output &&
        next->get(ir::attr::dim) != op.get(ir::attr::dim)) {
      return nearest_x2(op);
    }
  }
  THIMBLE_TRY(const View x, read(op.inputs[0]));
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  const std::vector<int64_t> at = positions_of(*index, x.shape[dim]);
  if (index->shape.empty()) {
    View one = sliced_view(x, dim, at[0], 1);
    one.shape.erase(one.shape.begin() + static_cast<std::ptrdiff_t>(dim));
    one.steps.erase(one.steps.begin() + static_cast<std::ptrdiff_t>(dim));
    return one;
  }
  // If each position is repeated the same number of times, one copy per repetition suffices.
  int64_t times = 1;
  while (times < static_cast<int64_t>(at.size()) && at[static_cast<size_t>(times)] == at[0])
    ++times;
  bool repeated = times > 1 && static_cast<int64_t>(at.size()) == times * x.shape[dim];
  for (size_t i = 0; repeated && i < at.size(); ++i) {
    repeated = at[i] == static_cast<int64_t>(i) / times;
  }
  if (repeated) {
    THIMBLE_TRY(View y, result(op, &x));
    for (int64_t i = 0; i < times; ++i) {
      THIMBLE_CHECK(copy(sliced_view(y, dim, i, x.shape[dim], times), x));
    }
    return y;
  }
  struct Run {
    int64_t from, start, count, step;
  };
  std::vector<Run> runs;
  for (size_t i = 0; i < at.size(); ++i) {
    if (!runs.empty()) {
      Run& last = runs.back();
      const int64_t step = at[i] - (last.start + (last.count - 1) * last.step);
      if (step > 0 && (last.count == 1 || step == last.step)) {
        last.step = step;
        ++last.count;
        continue;
      }
    }
    runs.push_back({static_cast<int64_t>(i), at[i], 1, 1});
  }
  if (runs.size() == 1) return sliced_view(x, dim, at[0], runs[0].count, runs[0].step);
  if (runs.size() > static_cast<size_t>(kPartsMax)) {
    return unsupported("its index has {} ranges of constant step, the limit is {}", runs.size(),
                       kPartsMax);
  }
  THIMBLE_TRY(View y, result(op, &x));
  for (const Run& run : runs) {
    THIMBLE_CHECK(copy(sliced_view(y, dim, run.from, run.count),
                       sliced_view(x, dim, run.start, run.count, run.step)));
  }
  return y;
}

}  // namespace thimble::engine::ethos_u
