// SPDX-License-Identifier: Apache-2.0
// Operators of ExecuTorch files that fill, pad, index, upsample or convert tensors: constants,
// padding, rows by index, nearest neighbours, type conversion.

#include "abi/ops/aten.h"
#include "abi/ops/decomposed.h"
#include "kernels/args/broadcast_pair.h"
#include "kernels/args/move.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

// --- Constants -----------------------------------------------------------------------------------

/// Returns true if the type can represent the number exactly.
bool fits(DType type, double value) {
  if (!(value == value)) return false;
  if (type == DType::kF32) return true;
  double min = 0, max = 1;
  switch (type) {
    case DType::kI8:
      min = -128, max = 127;
      break;
    case DType::kU8:
      max = 255;
      break;
    case DType::kI16:
      min = -32768, max = 32767;
      break;
    case DType::kI32:
    case DType::kI64:
      min = INT32_MIN, max = INT32_MAX;
      break;
    default:
      break;
  }
  return value >= min && value <= max && static_cast<double>(static_cast<int32_t>(value)) == value;
}

template <class Element>
void fill_as(const Tensor& y, Element value) {
  Element* to = static_cast<Element*>(y.data);
  for (int32_t i = 0, count = elements(y); i < count; ++i) to[i] = value;
}
/// Sets every element; the value must fit the type.
void fill(const Tensor& y, double value) {
  if (y.dtype == DType::kF32) return fill_as(y, static_cast<float>(value));
  const auto whole = static_cast<int32_t>(value);
  switch (element_bytes(y.dtype)) {
    case 1:
      return fill_as(y, static_cast<uint8_t>(whole));
    case 2:
      return fill_as(y, static_cast<int16_t>(whole));
    case 4:
      return fill_as(y, whole);
    default:
      return fill_as(y, static_cast<int64_t>(whole));
  }
}

/// Returns true if the list contains the sizes of y.
bool are_sizes(const IntList& list, const Tensor& y) {
  if (list.count != y.rank) return false;
  for (uint32_t d = 0; d < y.rank; ++d) {
    if (list.items[d] != y.sizes[d]) return false;
  }
  return true;
}

Status check_full(const Call& call) {
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  if (!are_sizes(ints(call, 0), y)) return Status::kBadShape;
  return fits(y.dtype, call.args[1].number) ? Status::kOk : Status::kBadParameter;
}
void run_full(const Call& call) {
  fill(tensor(call, 2), call.args[1].number);
}

/// Checks scalar_tensor: a number as a tensor without dimensions.
Status check_scalar(const Call& call) {
  const Tensor& y = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  if (y.rank != 0) return Status::kBadShape;
  return fits(y.dtype, call.args[0].number) ? Status::kOk : Status::kBadParameter;
}
void run_scalar(const Call& call) {
  fill(tensor(call, 1), call.args[0].number);
}

Status check_full_like(const Call& call) {
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_tensor(tensor(call, 0)));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  if (!same_sizes(tensor(call, 0), y)) return Status::kBadShape;
  return fits(y.dtype, call.args[1].number) ? Status::kOk : Status::kBadParameter;
}
void run_full_like(const Call& call) {
  fill(tensor(call, 3), call.args[1].number);
}

/// Checks _empty_dim_order. The content of y is unspecified.
Status check_empty(const Call& call) {
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  return are_sizes(ints(call, 0), y) ? Status::kOk : Status::kBadShape;
}
void run_empty(const Call&) {}

// --- Padding -------------------------------------------------------------------------------------

/// Returns the padding before or after dimension d. The list starts with the last dimension.
int32_t border(const IntList& pads, const Tensor& x, uint32_t d, uint32_t side) {
  const uint32_t from_end = x.rank - 1 - d;
  return from_end < pads.count / 2 ? pads.items[2 * from_end + side] : 0;
}

Status check_pad(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const IntList& pads = ints(call, 1);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (x.rank != y.rank) return Status::kBadShape;
  if (pads.count % 2 != 0 || pads.count / 2 > x.rank) return Status::kBadParameter;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const int32_t before = border(pads, x, d, 0);
    const int32_t after = border(pads, x, d, 1);
    if (before < 0 || after < 0) return Status::kBadParameter;
    if (int64_t{x.sizes[d]} + before + after != y.sizes[d]) return Status::kBadShape;
  }
  return fits(y.dtype, call.args[2].number) ? Status::kOk : Status::kBadParameter;
}
void run_pad(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  fill(y, call.args[2].number);
  int32_t steps[abi::kMaxRank];
  byte_strides(y, steps);
  Move move = scatter(y, x, steps);
  for (uint32_t d = 0; d < x.rank; ++d) move.to += border(ints(call, 1), x, d, 0) * steps[d];
  run_move(move);
}

// --- Rows by index -------------------------------------------------------------------------------

/// Returns an index, clamped to the valid rows. Indices are known only at run time.
int32_t index_at(const Tensor& indices, int32_t i, int32_t rows) {
  int64_t index;
  if (indices.dtype == DType::kI64) {
    memcpy(&index, static_cast<const uint8_t*>(indices.data) + i * 8, 8);
  } else {
    index = static_cast<const int32_t*>(indices.data)[i];
  }
  return index < 0 ? 0 : index >= rows ? rows - 1 : static_cast<int32_t>(index);
}

Status check_indices(const Tensor& indices) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(indices));
  if (indices.dtype != DType::kI32 && indices.dtype != DType::kI64) return Status::kBadDType;
  return is_contiguous(indices) ? Status::kOk : Status::kBadDimOrder;
}

/// Operands: weight, indices, padding_idx and two flags that are used only in training, y.
Status check_embedding(const Call& call) {
  const Tensor& w = tensor(call, 0);
  const Tensor& indices = tensor(call, 1);
  const Tensor& y = tensor(call, 5);
  THIMBLE_RETURN_IF_ERROR(check_pair(w, y));
  THIMBLE_RETURN_IF_ERROR(check_indices(indices));
  if (w.rank != 2 || y.rank != indices.rank + 1) return Status::kBadShape;
  if (call.args[2].integer < -1 || call.args[2].integer >= w.sizes[0]) {
    return Status::kBadParameter;
  }
  if (!is_contiguous(w) || !is_contiguous(y)) return Status::kBadDimOrder;
  for (uint32_t d = 0; d < indices.rank; ++d) {
    if (y.sizes[d] != indices.sizes[d]) return Status::kBadShape;
  }
  return y.sizes[indices.rank] == w.sizes[1] ? Status::kOk : Status::kBadShape;
}
void run_embedding(const Call& call) {
  const Tensor& w = tensor(call, 0);
  const Tensor& indices = tensor(call, 1);
  const uint32_t row = w.bytes / static_cast<uint32_t>(w.sizes[0]);
  uint8_t* to = static_cast<uint8_t*>(tensor(call, 5).data);
  for (int32_t i = 0, count = elements(indices); i < count; ++i, to += row) {
    const auto index = static_cast<uint32_t>(index_at(indices, i, w.sizes[0]));
    memcpy(to, static_cast<const uint8_t*>(w.data) + index * row, row);
  }
}

/// Operands: x, dim, indices of rank 1 (or 0), y.
Status check_index_select(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& indices = tensor(call, 2);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  THIMBLE_RETURN_IF_ERROR(check_indices(indices));
  const int64_t dim = call.args[1].integer;
  if (dim < -int64_t{x.rank} || dim >= x.rank) return Status::kBadParameter;
  if (x.rank != y.rank || indices.rank > 1) return Status::kBadShape;
  const auto along = static_cast<uint32_t>(dim < 0 ? dim + x.rank : dim);
  for (uint32_t d = 0; d < x.rank; ++d) {
    const int32_t size = d == along ? elements(indices) : x.sizes[d];
    if (y.sizes[d] != size) return Status::kBadShape;
  }
  return Status::kOk;
}
void run_index_select(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  const int64_t dim = call.args[1].integer;
  const auto along = static_cast<uint32_t>(dim < 0 ? dim + x.rank : dim);
  int32_t from[abi::kMaxRank], to[abi::kMaxRank];
  byte_strides(x, from);
  byte_strides(y, to);
  Move slice;
  slice.element = static_cast<int32_t>(element_bytes(x.dtype));
  for (uint32_t p = 0; p < y.rank; ++p) {
    const uint32_t d = y.dim_order[p];
    if (d != along) slice.iterator.push(y.sizes[d], to[d], from[d]);
  }
  for (int32_t i = 0; i < y.sizes[along]; ++i) {
    Move move = slice;
    move.to = static_cast<uint8_t*>(y.data) + i * to[along];
    move.from = static_cast<const uint8_t*>(x.data) +
                index_at(tensor(call, 2), i, x.sizes[along]) * from[along];
    run_move(move);
  }
}

// --- Nearest neighbours --------------------------------------------------------------------------

/// Operands: x [N, C, H, W], sizes or None, scales or None, y.
Status check_upsample(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const IntList& sizes = ints(call, 1);
  const DoubleList& scales = call.args[2].doubles;
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (x.rank != 4 || y.rank != 4) return Status::kBadShape;
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1]) return Status::kBadShape;
  if ((sizes.count == 2) == (scales.count == 2)) return Status::kBadParameter;
  for (uint32_t a = 0; a < 2; ++a) {
    if (sizes.count == 2 && sizes.items[a] != y.sizes[2 + a]) return Status::kBadShape;
    if (scales.count == 2 && !(scales.items[a] >= 0x1p-20 && scales.items[a] <= 0x1p20)) {
      return Status::kBadParameter;
    }
  }
  return Status::kOk;
}
void run_upsample(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  const DoubleList& scales = call.args[2].doubles;
  int32_t from[abi::kMaxRank], to[abi::kMaxRank];
  byte_strides(x, from);
  byte_strides(y, to);
  float scale[2];
  for (uint32_t a = 0; a < 2; ++a) {
    scale[a] = scales.count == 2
                   ? static_cast<float>(1.0 / scales.items[a])
                   : static_cast<float>(x.sizes[2 + a]) / static_cast<float>(y.sizes[2 + a]);
  }
  const auto source = [&](int32_t index, uint32_t a) {
    const float at = static_cast<float>(index) * scale[a];
    const auto last = static_cast<float>(x.sizes[2 + a] - 1);
    return static_cast<int32_t>(at < last ? at : last);
  };
  for (int32_t h = 0; h < y.sizes[2]; ++h) {
    for (int32_t w = 0; w < y.sizes[3]; ++w) {
      Move move;
      move.element = static_cast<int32_t>(element_bytes(x.dtype));
      move.iterator.push(x.sizes[0], to[0], from[0]);
      move.iterator.push(x.sizes[1], to[1], from[1]);
      move.to = static_cast<uint8_t*>(y.data) + h * to[2] + w * to[3];
      move.from =
          static_cast<const uint8_t*>(x.data) + source(h, 0) * from[2] + source(w, 1) * from[3];
      run_move(move);
    }
  }
}

// --- Type conversion -----------------------------------------------------------------------------

/// Operands: x, non_blocking (0), dim_order (of y; if empty, of x), y of x's type or float32.
Status check_to_copy(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  const IntList& order = ints(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  if (y.dtype != x.dtype && y.dtype != DType::kF32) return Status::kBadDType;
  if (!same_sizes(x, y)) return Status::kBadShape;
  if (call.args[1].integer != 0) return Status::kBadParameter;
  if (order.count != 0 && order.count != y.rank) return Status::kBadParameter;
  for (uint32_t p = 0; p < order.count; ++p) {
    if (order.items[p] != y.dim_order[p]) return Status::kBadDimOrder;
  }
  return Status::kOk;
}

template <class From>
void convert(const Tensor& x, const Tensor& y) {
  StrideIterator iterator = broadcast_pair(y, x, x);
  do {
    const StrideIterator::Axis& row = iterator.row();
    const From* from = static_cast<const From*>(x.data) + iterator.offset[1];
    float* to = mutable_floats(y) + iterator.offset[0];
    for (int32_t i = 0; i < row.extent; ++i) {
      to[i * row.step[0]] = static_cast<float>(from[i * row.step[1]]);
    }
  } while (iterator.next());
}
void run_to_copy(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  if (x.dtype == y.dtype) {
    int32_t steps[abi::kMaxRank];
    byte_strides(x, steps);
    Move move = gather(y, x, steps);
    return run_move(move);
  }
  switch (x.dtype) {
    case DType::kI8:
      return convert<int8_t>(x, y);
    case DType::kI16:
      return convert<int16_t>(x, y);
    case DType::kI32:
      return convert<int32_t>(x, y);
    case DType::kI64:
      return convert<int64_t>(x, y);
    default:
      return convert<uint8_t>(x, y);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_constant_pad_nd, check_pad, run_pad);
THIMBLE_DEFINE_KERNEL(portable, aten_embedding, check_embedding, run_embedding);
THIMBLE_DEFINE_KERNEL(portable, aten_full, check_full, run_full);
THIMBLE_DEFINE_KERNEL(portable, aten_full_like, check_full_like, run_full_like);
THIMBLE_DEFINE_KERNEL(portable, aten_index_select, check_index_select, run_index_select);
THIMBLE_DEFINE_KERNEL(portable, aten_scalar_tensor, check_scalar, run_scalar);
THIMBLE_DEFINE_KERNEL(portable, aten_upsample_nearest2d, check_upsample, run_upsample);
THIMBLE_DEFINE_KERNEL(portable, dim_order_empty, check_empty, run_empty);
THIMBLE_DEFINE_KERNEL(portable, dim_order_to_copy, check_to_copy, run_to_copy);

}  // namespace thimble::kernels
