// SPDX-License-Identifier: Apache-2.0
// Reductions, softmax and normalizations that ExecuTorch files keep in float32 (extrema also in
// int8, `any` in bool). Sums are in double and are rounded once. Any dim_order, unless stated
// otherwise.

#include "abi/ops/aten.h"
#include "kernels/args/broadcast_pair.h"
#include "kernels/define_kernel.h"
#include "numerics/float_math.h"

namespace thimble::kernels {
namespace {

constexpr double wide(float x) {
  return static_cast<double>(x);
}
constexpr double square(double x) {
  return x * x;
}

// --- Over any dimensions -------------------------------------------------------------------------

/// Returns the dimensions as bits, or 0 if the list is invalid. An empty list means all dimensions.
uint32_t dims_mask(const IntList& dims, uint32_t rank) {
  const uint32_t all = (1U << rank) - 1;
  if (dims.count == 0) return all;
  uint32_t mask = 0;
  for (uint32_t i = 0; i < dims.count; ++i) {
    const int64_t d = dims.items[i] < 0 ? int64_t{dims.items[i]} + rank : dims.items[i];
    if (d < 0 || d >= rank || (mask >> d & 1) != 0) return 0;
    mask |= 1U << d;
  }
  return mask;
}

/// Returns true if y has the sizes of x, with the reduced ones as 1 or without them.
bool is_reduced(const Tensor& x, const Tensor& y, uint32_t mask, bool keep) {
  uint32_t rank = 0;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const bool reduced = (mask >> d & 1) != 0;
    if (reduced && !keep) continue;
    if (rank == y.rank || y.sizes[rank++] != (reduced ? 1 : x.sizes[d])) return false;
  }
  return rank == y.rank;
}

struct Reduction {
  StrideIterator kept;     // operands: y, x, in elements
  StrideIterator reduced;  // operand: x, as operand 1
  int32_t count = 1;
};
Reduction bind(const Tensor& x, const Tensor& y, uint32_t mask, bool keep) {
  Reduction r;
  int32_t steps_x[abi::kMaxRank], steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  uint32_t at = 0;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const bool reduced = (mask >> d & 1) != 0;
    if (reduced) {
      r.reduced.push(x.sizes[d], 0, steps_x[d]);
      r.count *= x.sizes[d];
    } else {
      r.kept.push(x.sizes[d], steps_y[at], steps_x[d]);
    }
    if (!reduced || keep) ++at;
  }
  return r;
}

/// Calls visit(index in y, index of the group's first element in x) for every output.
template <class Visit>
void for_each_output(StrideIterator& kept, Visit visit) {
  do {
    const StrideIterator::Axis& row = kept.row();
    for (int32_t i = 0; i < row.extent; ++i) {
      visit(kept.offset[0] + i * row.step[0], kept.offset[1] + i * row.step[1]);
    }
  } while (kept.next());
}
/// Calls visit(index in x) for every element of the group that starts at `start`.
template <class Visit>
void for_each_of(StrideIterator& reduced, int32_t start, Visit visit) {
  do {
    const StrideIterator::Axis& row = reduced.row();
    for (int32_t i = 0; i < row.extent; ++i) visit(start + reduced.offset[1] + i * row.step[1]);
  } while (reduced.next());
}

/// Operands of mean and sum: x, dims, keepdim, dtype or None, y.
Status check_sum(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 4);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kF32));
  const int64_t dtype = call.args[3].integer;
  if (dtype != kAbsent && dtype != static_cast<int64_t>(DType::kF32)) return Status::kBadDType;
  const uint32_t mask = dims_mask(ints(call, 1), x.rank);
  if (mask == 0 && x.rank != 0) return Status::kBadParameter;
  const bool keep = call.args[2].integer != 0;
  return is_reduced(x, y, mask, keep) ? Status::kOk : Status::kBadShape;
}
template <bool kMean>
void run_sum(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 4);
  Reduction r = bind(x, y, dims_mask(ints(call, 1), x.rank), call.args[2].integer != 0);
  for_each_output(r.kept, [&](int32_t to, int32_t from) {
    double sum = 0;
    for_each_of(r.reduced, from, [&](int32_t i) { sum += wide(floats(x)[i]); });
    mutable_floats(y)[to] = static_cast<float>(kMean ? sum / r.count : sum);
  });
}

/// Operands: x, dims or None, correction or None (1), keepdim, y.
Status check_var(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 4);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kF32));
  const uint32_t mask = dims_mask(ints(call, 1), x.rank);
  if (mask == 0 && x.rank != 0) return Status::kBadParameter;
  return is_reduced(x, y, mask, call.args[3].integer != 0) ? Status::kOk : Status::kBadShape;
}
void run_var(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 4);
  Reduction r = bind(x, y, dims_mask(ints(call, 1), x.rank), call.args[3].integer != 0);
  const double given = call.args[2].number;
  const double freedom = r.count - (numerics::is_nan(given) ? 1 : given);
  for_each_output(r.kept, [&](int32_t to, int32_t from) {
    double sum = 0, squares = 0;
    for_each_of(r.reduced, from, [&](int32_t i) { sum += wide(floats(x)[i]); });
    const double mean = sum / r.count;
    for_each_of(r.reduced, from, [&](int32_t i) { squares += square(wide(floats(x)[i]) - mean); });
    mutable_floats(y)[to] = static_cast<float>(freedom > 0 ? squares / freedom : numerics::kNan);
  });
}

/// Operands: x, dims, keepdim, y.
Status check_extremum(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  if (x.dtype != DType::kF32 && x.dtype != DType::kI8) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, x.dtype));
  const uint32_t mask = dims_mask(ints(call, 1), x.rank);
  if (mask == 0 && x.rank != 0) return Status::kBadParameter;
  return is_reduced(x, y, mask, call.args[2].integer != 0) ? Status::kOk : Status::kBadShape;
}
/// A NaN exceeds every number.
template <class Element>
bool exceeds(Element a, Element b, bool largest) {
  return a != a || (largest ? a > b : a < b);
}
template <class Element, bool kLargest>
void extremum(const Call& call) {
  const Tensor& x = tensor(call, 0);
  Reduction r =
      bind(x, tensor(call, 3), dims_mask(ints(call, 1), x.rank), call.args[2].integer != 0);
  const Element* const in = static_cast<const Element*>(x.data);
  Element* const out = static_cast<Element*>(tensor(call, 3).data);
  for_each_output(r.kept, [&](int32_t to, int32_t from) {
    Element best = in[from];
    for_each_of(r.reduced, from, [&](int32_t i) {
      if (best == best && exceeds(in[i], best, kLargest)) best = in[i];
    });
    out[to] = best;
  });
}
template <bool kLargest>
void run_extremum(const Call& call) {
  if (tensor(call, 0).dtype == DType::kI8) return extremum<int8_t, kLargest>(call);
  extremum<float, kLargest>(call);
}

/// The dimension of any and argmax as bits: operand 1, or None for all. 0 if it is invalid.
uint32_t dim_mask(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const int64_t dim = call.args[1].integer;
  if (dim == kAbsent) return dims_mask({}, x.rank);
  if (dim < -int64_t{x.rank} || dim >= x.rank) return 0;
  return 1U << (dim < 0 ? dim + x.rank : dim);
}
/// Operands: x bool, dim, keepdim, y bool.
Status check_any(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kBool));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kBool));
  const uint32_t mask = dim_mask(call);
  if (mask == 0 && x.rank != 0) return Status::kBadParameter;
  return is_reduced(x, y, mask, call.args[2].integer != 0) ? Status::kOk : Status::kBadShape;
}
void run_any(const Call& call) {
  const Tensor& x = tensor(call, 0);
  Reduction r = bind(x, tensor(call, 3), dim_mask(call), call.args[2].integer != 0);
  const uint8_t* const in = static_cast<const uint8_t*>(x.data);
  uint8_t* const out = static_cast<uint8_t*>(tensor(call, 3).data);
  for_each_output(r.kept, [&](int32_t to, int32_t from) {
    uint8_t any = 0;
    for_each_of(r.reduced, from, [&](int32_t i) { any |= in[i] != 0 ? 1 : 0; });
    out[to] = any;
  });
}

/// Operands: x, dim or None (all dimensions), keepdim, y int64.
Status check_argmax(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  if (x.dtype != DType::kF32 && x.dtype != DType::kI8) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kI64));
  const uint32_t mask = dim_mask(call);
  if (mask == 0 && x.rank != 0) return Status::kBadParameter;
  return is_reduced(x, y, mask, call.args[2].integer != 0) ? Status::kOk : Status::kBadShape;
}
template <class Element>
void argmax(const Call& call) {
  const Tensor& x = tensor(call, 0);
  Reduction r = bind(x, tensor(call, 3), dim_mask(call), call.args[2].integer != 0);
  const Element* const in = static_cast<const Element*>(x.data);
  uint8_t* const out = static_cast<uint8_t*>(tensor(call, 3).data);
  for_each_output(r.kept, [&](int32_t to, int32_t from) {
    Element best = in[from];
    int64_t at = 0;
    int64_t index = 0;
    for_each_of(r.reduced, from, [&](int32_t i) {
      if (best == best && exceeds(in[i], best, true)) {
        best = in[i];
        at = index;
      }
      ++index;
    });
    memcpy(out + to * 8, &at, 8);
  });
}
void run_argmax(const Call& call) {
  if (tensor(call, 0).dtype == DType::kI8) return argmax<int8_t>(call);
  argmax<float>(call);
}

// --- Softmax -------------------------------------------------------------------------------------

/// Operands: x, dim, half_to_float (0), y.
Status check_softmax(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const int64_t dim = call.args[1].integer;
  if (call.args[2].integer != 0) return Status::kBadParameter;
  if (dim < -int64_t{x.rank} || dim >= x.rank) return Status::kBadParameter;
  return check_floats(x, tensor(call, 3));
}
template <bool kLog>
void run_softmax(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  const int64_t dim = call.args[1].integer;
  const auto along = static_cast<uint32_t>(dim < 0 ? dim + x.rank : dim);
  int32_t steps_x[abi::kMaxRank], steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  StrideIterator kept;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (d != along) kept.push(x.sizes[d], steps_y[d], steps_x[d]);
  }
  for_each_output(kept, [&](int32_t to, int32_t from) {
    const float* const in = floats(x) + from;
    float* const out = mutable_floats(y) + to;
    const int32_t length = x.sizes[along];
    double max = wide(in[0]);
    double sum = 0;
    for (int32_t i = 1; i < length; ++i) {
      const double value = wide(in[i * steps_x[along]]);
      if (!(value <= max)) max = value;
    }
    for (int32_t i = 0; i < length; ++i) sum += numerics::exp(wide(in[i * steps_x[along]]) - max);
    const double log_sum = kLog ? numerics::log(sum) : 0;
    for (int32_t i = 0; i < length; ++i) {
      const double shifted = wide(in[i * steps_x[along]]) - max;
      out[i * steps_y[along]] =
          static_cast<float>(kLog ? shifted - log_sum : numerics::exp(shifted) / sum);
    }
  });
}

// --- Normalizations ------------------------------------------------------------------------------

Status check_factor(const Tensor& t, int32_t count) {
  if (t.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(t, DType::kF32));
  if (!is_contiguous(t)) return Status::kBadDimOrder;
  return elements(t) == count ? Status::kOk : Status::kBadShape;
}
double factor(const Tensor& t, int32_t i, float absent) {
  return wide(t.is_null ? absent : floats(t)[i]);
}

/// Operands: x, normalized shape, weight?, bias?, eps, y, mean, 1 / deviation; all contiguous. mean
/// and 1 / deviation have x's leading dimensions.
int32_t layer_length(const Call& call) {
  int32_t length = 1;
  for (uint32_t i = 0; i < ints(call, 1).count; ++i) length *= ints(call, 1).items[i];
  return length;
}
Status check_layer_norm(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const IntList& shape = ints(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_floats(x, tensor(call, 5)));
  if (shape.count > x.rank) return Status::kBadShape;
  for (uint32_t i = 0; i < shape.count; ++i) {
    if (shape.items[i] != x.sizes[x.rank - shape.count + i]) return Status::kBadShape;
  }
  const int32_t length = layer_length(call);
  constexpr uint32_t kEntries[] = {2, 3};
  for (const uint32_t i : kEntries) {
    THIMBLE_RETURN_IF_ERROR(check_factor(tensor(call, i), length));
  }
  constexpr uint32_t kResults[] = {6, 7};
  for (const uint32_t i : kResults) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(tensor(call, i), DType::kF32));
    if (!is_contiguous(tensor(call, i))) return Status::kBadDimOrder;
    if (elements(tensor(call, i)) != elements(x) / length) return Status::kBadShape;
  }
  if (!(call.args[4].number >= 0)) return Status::kBadParameter;
  return is_contiguous(x) && is_contiguous(tensor(call, 5)) ? Status::kOk : Status::kBadDimOrder;
}
void run_layer_norm(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const int32_t length = layer_length(call);
  for (int32_t row = 0, rows = elements(x) / length; row < rows; ++row) {
    const float* const in = floats(x) + row * length;
    float* const out = mutable_floats(tensor(call, 5)) + row * length;
    double sum = 0, squares = 0;
    for (int32_t i = 0; i < length; ++i) sum += wide(in[i]);
    const double mean = sum / length;
    for (int32_t i = 0; i < length; ++i) squares += square(wide(in[i]) - mean);
    const double scale = 1.0 / numerics::sqrt(squares / length + call.args[4].number);
    for (int32_t i = 0; i < length; ++i) {
      out[i] = static_cast<float>((wide(in[i]) - mean) * scale * factor(tensor(call, 2), i, 1) +
                                  factor(tensor(call, 3), i, 0));
    }
    mutable_floats(tensor(call, 6))[row] = static_cast<float>(mean);
    mutable_floats(tensor(call, 7))[row] = static_cast<float>(scale);
  }
}

/// Operands: x [N, C, ...], weight?, bias?, running mean, running variance, momentum (unused), eps,
/// y, and two empty tensors.
Status check_batch_norm(const Call& call) {
  const Tensor& x = tensor(call, 0);
  THIMBLE_RETURN_IF_ERROR(check_floats(x, tensor(call, 7)));
  if (x.rank < 2) return Status::kBadShape;
  constexpr uint32_t kEntries[] = {1, 2, 3, 4};
  for (const uint32_t i : kEntries) {
    THIMBLE_RETURN_IF_ERROR(check_factor(tensor(call, i), x.sizes[1]));
  }
  if (tensor(call, 3).is_null || tensor(call, 4).is_null) return Status::kBadParameter;
  return call.args[6].number >= 0 ? Status::kOk : Status::kBadParameter;
}
void run_batch_norm(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 7);
  int32_t steps_x[abi::kMaxRank], steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  StrideIterator image;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (d != 1) image.push(x.sizes[d], steps_y[d], steps_x[d]);
  }
  for (int32_t c = 0; c < x.sizes[1]; ++c) {
    const double scale = factor(tensor(call, 1), c, 1) /
                         numerics::sqrt(wide(floats(tensor(call, 4))[c]) + call.args[6].number);
    const double shift = factor(tensor(call, 2), c, 0) - wide(floats(tensor(call, 3))[c]) * scale;
    for_each_output(image, [&](int32_t to, int32_t from) {
      mutable_floats(y)[to + c * steps_y[1]] =
          static_cast<float>(wide(floats(x)[from + c * steps_x[1]]) * scale + shift);
    });
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_amax, check_extremum, run_extremum<true>);
THIMBLE_DEFINE_KERNEL(portable, aten_amin, check_extremum, run_extremum<false>);
THIMBLE_DEFINE_KERNEL(portable, aten_any, check_any, run_any);
THIMBLE_DEFINE_KERNEL(portable, aten_argmax, check_argmax, run_argmax);
THIMBLE_DEFINE_KERNEL(portable, aten_batch_norm, check_batch_norm, run_batch_norm);
THIMBLE_DEFINE_KERNEL(portable, aten_layer_norm, check_layer_norm, run_layer_norm);
THIMBLE_DEFINE_KERNEL(portable, aten_log_softmax, check_softmax, run_softmax<true>);
THIMBLE_DEFINE_KERNEL(portable, aten_mean, check_sum, run_sum<true>);
THIMBLE_DEFINE_KERNEL(portable, aten_softmax, check_softmax, run_softmax<false>);
THIMBLE_DEFINE_KERNEL(portable, aten_sum, check_sum, run_sum<false>);
THIMBLE_DEFINE_KERNEL(portable, aten_var, check_var, run_var);

}  // namespace thimble::kernels
