// SPDX-License-Identifier: Apache-2.0
// Operators of ExecuTorch files that move elements of any type. Each operator is one strided copy
// (kernels/args/move.h), or one copy per tensor. Shapes are logical and tensors may have any
// dim_order, except in view_copy. A negative dimension counts from the end.

#include "abi/ops/aten.h"
#include "kernels/args/move.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

constexpr uint32_t kNoDimension = abi::kMaxRank;

/// Returns a dimension in 0..rank-1, or kNoDimension.
uint32_t dimension(int64_t dim, uint32_t rank) {
  if (dim < 0) dim += rank;
  return dim < 0 || dim >= rank ? kNoDimension : static_cast<uint32_t>(dim);
}

/// Shape of the result, and the step in x in bytes along each of its dimensions.
struct Plan {
  uint32_t rank = 0;
  int32_t sizes[abi::kMaxRank] = {};
  int32_t steps[abi::kMaxRank] = {};
  int32_t start = 0;
  bool valid = true;

  void push(int32_t size, int32_t step) {
    if (rank == abi::kMaxRank) {
      valid = false;
      return;
    }
    sizes[rank] = size;
    steps[rank++] = step;
  }
  static Plan invalid() {
    Plan plan;
    plan.valid = false;
    return plan;
  }
};

struct Source {
  const Tensor& x;
  int32_t steps[abi::kMaxRank];
  explicit Source(const Tensor& t) : x(t) { byte_strides(t, steps); }
  void push(Plan& plan, uint32_t d) const { plan.push(x.sizes[d], steps[d]); }
};

Status check_plan(const Plan& plan, const Tensor& y) {
  if (!plan.valid) return Status::kBadParameter;
  if (plan.rank != y.rank) return Status::kBadShape;
  for (uint32_t d = 0; d < y.rank; ++d) {
    if (plan.sizes[d] != y.sizes[d]) return Status::kBadShape;
  }
  return Status::kOk;
}

template <Plan (*make)(const Call&), uint32_t kOut>
Status check_moved(const Call& call) {
  const Status s = check_pair(tensor(call, 0), tensor(call, kOut));
  return s != Status::kOk ? s : check_plan(make(call), tensor(call, kOut));
}
template <Plan (*make)(const Call&), uint32_t kOut>
void run_moved(const Call& call) {
  const Plan plan = make(call);
  Move move = gather(tensor(call, kOut), tensor(call, 0), plan.steps);
  move.from += plan.start;
  run_move(move);
}

// --- One copy ------------------------------------------------------------------------------------

Plan as_is(const Call& call) {
  const Source source(tensor(call, 0));
  Plan plan;
  for (uint32_t d = 0; d < source.x.rank; ++d) source.push(plan, d);
  return plan;
}

Plan permuted(const Call& call) {
  const Source source(tensor(call, 0));
  const IntList& dims = ints(call, 1);
  if (dims.count != source.x.rank) return Plan::invalid();
  Plan plan;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < dims.count; ++i) {
    const uint32_t d = dimension(dims.items[i], source.x.rank);
    if (d == kNoDimension) return Plan::invalid();
    seen |= 1U << d;
    source.push(plan, d);
  }
  return seen == (1U << source.x.rank) - 1 ? plan : Plan::invalid();
}

Plan with_swapped_dims(const Call& call, int64_t first, int64_t second) {
  const Source source(tensor(call, 0));
  const uint32_t a = dimension(first, source.x.rank);
  const uint32_t b = dimension(second, source.x.rank);
  if (a == kNoDimension || b == kNoDimension) return Plan::invalid();
  Plan plan;
  for (uint32_t d = 0; d < source.x.rank; ++d) source.push(plan, d == a ? b : d == b ? a : d);
  return plan;
}
Plan transposed(const Call& call) {
  return with_swapped_dims(call, call.args[1].integer, call.args[2].integer);
}
/// t_copy, for at most two dimensions.
Plan transposed_matrix(const Call& call) {
  const uint32_t rank = tensor(call, 0).rank;
  if (rank > 2) return Plan::invalid();
  return rank == 2 ? with_swapped_dims(call, 0, 1) : as_is(call);
}

Plan unsqueezed(const Call& call) {
  const Source source(tensor(call, 0));
  const uint32_t at = dimension(call.args[1].integer, source.x.rank + 1);
  if (at == kNoDimension) return Plan::invalid();
  Plan plan;
  for (uint32_t d = 0; d < source.x.rank; ++d) {
    if (d == at) plan.push(1, 0);
    source.push(plan, d);
  }
  if (at == source.x.rank) plan.push(1, 0);
  return plan;
}

/// Removes those of the dimensions `dims` whose size is 1.
Plan squeezed(const Source& source, uint32_t dims) {
  Plan plan;
  for (uint32_t d = 0; d < source.x.rank; ++d) {
    if ((dims >> d & 1) == 0 || source.x.sizes[d] != 1) source.push(plan, d);
  }
  return plan;
}
Plan squeezed_one(const Call& call) {
  const Source source(tensor(call, 0));
  const uint32_t d = dimension(call.args[1].integer, source.x.rank);
  return d == kNoDimension ? Plan::invalid() : squeezed(source, 1U << d);
}
Plan squeezed_some(const Call& call) {
  const Source source(tensor(call, 0));
  uint32_t dims = 0;
  for (uint32_t i = 0; i < ints(call, 1).count; ++i) {
    const uint32_t d = dimension(ints(call, 1).items[i], source.x.rank);
    if (d == kNoDimension) return Plan::invalid();
    dims |= 1U << d;
  }
  return squeezed(source, dims);
}

Plan selected(const Call& call) {
  const Source source(tensor(call, 0));
  const uint32_t dim = dimension(call.args[1].integer, source.x.rank);
  if (dim == kNoDimension) return Plan::invalid();
  const int64_t size = source.x.sizes[dim];
  int64_t index = call.args[2].integer;
  if (index < -size || index >= size) return Plan::invalid();
  if (index < 0) index += size;
  Plan plan;
  plan.start = static_cast<int32_t>(index) * source.steps[dim];
  for (uint32_t d = 0; d < source.x.rank; ++d) {
    if (d != dim) source.push(plan, d);
  }
  return plan;
}

Plan flipped(const Call& call) {
  const Source source(tensor(call, 0));
  Plan plan = as_is(call);
  uint32_t seen = 0;
  for (uint32_t i = 0; i < ints(call, 1).count; ++i) {
    const uint32_t d = dimension(ints(call, 1).items[i], source.x.rank);
    if (d == kNoDimension || (seen >> d & 1) != 0) return Plan::invalid();
    seen |= 1U << d;
    plan.start += (source.x.sizes[d] - 1) * source.steps[d];
    plan.steps[d] = -source.steps[d];
  }
  return plan;
}

// --- View ----------------------------------------------------------------------------------------

/// The stock kernel copies bytes, so both tensors must be contiguous.
Status check_view(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (!is_contiguous(x) || !is_contiguous(y)) return Status::kBadDimOrder;
  if (x.bytes != y.bytes || ints(call, 1).count != y.rank) return Status::kBadShape;
  uint32_t open = 0;
  for (uint32_t d = 0; d < y.rank; ++d) {
    const int32_t size = ints(call, 1).items[d];
    if (size == -1) {
      ++open;
    } else if (size != y.sizes[d]) {
      return Status::kBadShape;
    }
  }
  return open <= 1 ? Status::kOk : Status::kBadParameter;
}
void run_view(const Call& call) {
  Move move;
  const Tensor& y = tensor(call, 2);
  move.to = static_cast<uint8_t*>(y.data);
  move.from = static_cast<const uint8_t*>(tensor(call, 0).data);
  move.iterator.push(static_cast<int32_t>(y.bytes), 1, 1);
  run_move(move);
}

// --- Several tensors -----------------------------------------------------------------------------

/// Checks that part and whole have equal sizes except along `dim`, where `whole` has the sum of all
/// parts.
Status check_part(const Tensor& part, const Tensor& whole, uint32_t dim) {
  THIMBLE_RETURN_IF_ERROR(check_pair(part, whole));
  if (part.rank != whole.rank) return Status::kBadShape;
  for (uint32_t d = 0; d < whole.rank; ++d) {
    if (d != dim && part.sizes[d] != whole.sizes[d]) return Status::kBadShape;
  }
  return Status::kOk;
}

/// Checks split_copy and split_with_sizes_copy, whose outputs are parts of x along a dimension, in
/// order.
template <uint32_t kDim, uint32_t kOuts>
Status check_split(const Call& call) {
  const Tensor& x = tensor(call, 0);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  const uint32_t dim = dimension(call.args[kDim].integer, x.rank);
  if (dim == kNoDimension) return Status::kBadParameter;
  int64_t total = 0;
  for (uint32_t i = 0; i < call.args[kOuts].list; ++i) {
    const Tensor y = call.list_item(call, kOuts, i);
    THIMBLE_RETURN_IF_ERROR(check_part(y, x, dim));
    total += y.sizes[dim];
  }
  return total == x.sizes[dim] ? Status::kOk : Status::kBadShape;
}
template <uint32_t kDim, uint32_t kOuts>
void run_split(const Call& call) {
  const Source source(tensor(call, 0));
  const uint32_t dim = dimension(call.args[kDim].integer, source.x.rank);
  int32_t offset = 0;
  for (uint32_t i = 0; i < call.args[kOuts].list; ++i) {
    const Tensor y = call.list_item(call, kOuts, i);
    Move move = gather(y, source.x, source.steps);
    move.from += offset;
    run_move(move);
    offset += y.sizes[dim] * source.steps[dim];
  }
}
/// Checks that each part except the last has the size given in the call.
Status check_split_by(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_split<2, 3>(call));
  const uint32_t dim = dimension(call.args[2].integer, tensor(call, 0).rank);
  const uint32_t count = call.args[3].list;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t size = call.list_item(call, 3, i).sizes[dim];
    const bool fits = i + 1 < count ? size == call.args[1].integer : size <= call.args[1].integer;
    if (!fits) return Status::kBadShape;
  }
  return Status::kOk;
}
Status check_split_sizes(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_split<2, 3>(call));
  const uint32_t dim = dimension(call.args[2].integer, tensor(call, 0).rank);
  if (ints(call, 1).count != call.args[3].list) return Status::kBadParameter;
  for (uint32_t i = 0; i < call.args[3].list; ++i) {
    if (call.list_item(call, 3, i).sizes[dim] != ints(call, 1).items[i]) return Status::kBadShape;
  }
  return Status::kOk;
}

/// Checks that `inner` has the sizes of `outer` without the dimension.
Status check_layer(const Tensor& inner, const Tensor& outer, uint32_t dim) {
  THIMBLE_RETURN_IF_ERROR(check_pair(inner, outer));
  if (inner.rank + 1 != outer.rank) return Status::kBadShape;
  for (uint32_t d = 0; d < inner.rank; ++d) {
    if (inner.sizes[d] != outer.sizes[d < dim ? d : d + 1]) return Status::kBadShape;
  }
  return Status::kOk;
}
/// Writes the steps along the dimensions of a slice.
void layer_steps(const Source& outer, uint32_t dim, int32_t* steps) {
  for (uint32_t d = 0; d + 1 < outer.x.rank; ++d) steps[d] = outer.steps[d < dim ? d : d + 1];
}

Status check_stack(const Call& call) {
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  const uint32_t dim = dimension(call.args[1].integer, y.rank);
  if (dim == kNoDimension) return Status::kBadParameter;
  if (static_cast<uint32_t>(y.sizes[dim]) != call.args[0].list) return Status::kBadShape;
  for (uint32_t i = 0; i < call.args[0].list; ++i)
    THIMBLE_RETURN_IF_ERROR(check_layer(call.list_item(call, 0, i), y, dim));
  return Status::kOk;
}
void run_stack(const Call& call) {
  const Source whole(tensor(call, 2));
  const uint32_t dim = dimension(call.args[1].integer, whole.x.rank);
  int32_t steps[abi::kMaxRank] = {};
  layer_steps(whole, dim, steps);
  for (uint32_t i = 0; i < call.args[0].list; ++i) {
    Move move = scatter(whole.x, call.list_item(call, 0, i), steps);
    move.to += static_cast<int32_t>(i) * whole.steps[dim];
    run_move(move);
  }
}

Status check_unbind(const Call& call) {
  const Tensor& x = tensor(call, 0);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  const uint32_t dim = dimension(call.args[1].integer, x.rank);
  if (dim == kNoDimension) return Status::kBadParameter;
  if (static_cast<uint32_t>(x.sizes[dim]) != call.args[2].list) return Status::kBadShape;
  for (uint32_t i = 0; i < call.args[2].list; ++i)
    THIMBLE_RETURN_IF_ERROR(check_layer(call.list_item(call, 2, i), x, dim));
  return Status::kOk;
}
void run_unbind(const Call& call) {
  const Source whole(tensor(call, 0));
  const uint32_t dim = dimension(call.args[1].integer, whole.x.rank);
  int32_t steps[abi::kMaxRank] = {};
  layer_steps(whole, dim, steps);
  for (uint32_t i = 0; i < call.args[2].list; ++i) {
    Move move = gather(call.list_item(call, 2, i), whole.x, steps);
    move.from += static_cast<int32_t>(i) * whole.steps[dim];
    run_move(move);
  }
}

// --- Repetition ----------------------------------------------------------------------------------

Status check_repeat(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (ints(call, 1).count != y.rank || x.rank > y.rank) return Status::kBadShape;
  const uint32_t missing = static_cast<uint32_t>(y.rank - x.rank);
  for (uint32_t d = 0; d < y.rank; ++d) {
    const int64_t size = d < missing ? 1 : x.sizes[d - missing];
    if (size * ints(call, 1).items[d] != y.sizes[d]) return Status::kBadShape;
  }
  return Status::kOk;
}
/// Copies x once for each position in the repetitions.
void run_repeat(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Source whole(tensor(call, 2));
  const uint32_t missing = static_cast<uint32_t>(whole.x.rank - x.rank);
  StrideIterator places;
  for (uint32_t d = 0; d < whole.x.rank; ++d) {
    const int32_t size = d < missing ? 1 : x.sizes[d - missing];
    places.push(ints(call, 1).items[d], size * whole.steps[d], 0);
  }
  do {
    for (int32_t i = 0; i < places.row().extent; ++i) {
      Move move = scatter(whole.x, x, whole.steps + missing);
      move.to += places.offset[0] + i * places.row().step[0];
      run_move(move);
    }
  } while (places.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_alias_copy, (check_moved<as_is, 1>), (run_moved<as_is, 1>));
THIMBLE_DEFINE_KERNEL(portable, aten_clone, (check_moved<as_is, 2>), (run_moved<as_is, 2>));
THIMBLE_DEFINE_KERNEL(portable, aten_flip, (check_moved<flipped, 2>), (run_moved<flipped, 2>));
THIMBLE_DEFINE_KERNEL(portable, aten_permute_copy, (check_moved<permuted, 2>),
                      (run_moved<permuted, 2>));
THIMBLE_DEFINE_KERNEL(portable, aten_repeat, check_repeat, run_repeat);
THIMBLE_DEFINE_KERNEL(portable, aten_select_copy, (check_moved<selected, 3>),
                      (run_moved<selected, 3>));
THIMBLE_DEFINE_KERNEL(portable, aten_split_copy, check_split_by, (run_split<2, 3>));
THIMBLE_DEFINE_KERNEL(portable, aten_split_with_sizes_copy, check_split_sizes, (run_split<2, 3>));
THIMBLE_DEFINE_KERNEL(portable, aten_squeeze_copy_dim, (check_moved<squeezed_one, 2>),
                      (run_moved<squeezed_one, 2>));
THIMBLE_DEFINE_KERNEL(portable, aten_squeeze_copy_dims, (check_moved<squeezed_some, 2>),
                      (run_moved<squeezed_some, 2>));
THIMBLE_DEFINE_KERNEL(portable, aten_stack, check_stack, run_stack);
THIMBLE_DEFINE_KERNEL(portable, aten_t_copy, (check_moved<transposed_matrix, 1>),
                      (run_moved<transposed_matrix, 1>));
THIMBLE_DEFINE_KERNEL(portable, aten_transpose_copy, (check_moved<transposed, 3>),
                      (run_moved<transposed, 3>));
THIMBLE_DEFINE_KERNEL(portable, aten_unbind_copy, check_unbind, run_unbind);
THIMBLE_DEFINE_KERNEL(portable, aten_unsqueeze_copy, (check_moved<unsqueezed, 2>),
                      (run_moved<unsqueezed, 2>));
THIMBLE_DEFINE_KERNEL(portable, aten_view_copy, check_view, run_view);

}  // namespace thimble::kernels
