// SPDX-License-Identifier: Apache-2.0
// Binary functions of ExecuTorch files, of two tensors or of a tensor and a number, with
// broadcasting. Arithmetic is in float32; extrema and comparisons are also in int8; logic is in
// bool; where supports any type. Any dim_order.
//
// Operands: a, b, [alpha,] y; where: condition, a, b, y. In place: y may be an operand that has its
// shape and dim_order.

#include "abi/ops/aten.h"
#include "abi/ops/stock.h"
#include "kernels/args/float_elementwise.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// The element types of the operands (From) and of y (To) may differ.
template <class From, class To, class Function>
void combine(const Tensor& a, const Tensor& b, const Tensor& y, Function f) {
  StrideIterator iterator = broadcast_pair(y, a, b);
  do {
    const StrideIterator::Axis& row = iterator.row();
    const From* from_a = static_cast<const From*>(a.data) + iterator.offset[1];
    const From* from_b = static_cast<const From*>(b.data) + iterator.offset[2];
    To* to = static_cast<To*>(y.data) + iterator.offset[0];
    for (int32_t i = 0; i < row.extent; ++i) {
      to[i * row.step[0]] = static_cast<To>(f(from_a[i * row.step[1]], from_b[i * row.step[2]]));
    }
  } while (iterator.next());
}

/// Combines a tensor and a number; b has the element type of a.
template <class From, class To, class Function>
void combine(const Tensor& a, From b, const Tensor& y, Function f) {
  StrideIterator iterator = broadcast_pair(y, a, a);
  do {
    const StrideIterator::Axis& row = iterator.row();
    const From* from = static_cast<const From*>(a.data) + iterator.offset[1];
    To* to = static_cast<To*>(y.data) + iterator.offset[0];
    for (int32_t i = 0; i < row.extent; ++i) {
      to[i * row.step[0]] = static_cast<To>(f(from[i * row.step[1]], b));
    }
  } while (iterator.next());
}

Status check_types(const Tensor& a, const Tensor& b, const Tensor& y, DType from, DType to) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(a, from));
  THIMBLE_RETURN_IF_ERROR(check_tensor(b, from));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, to));
  return check_broadcast_pair(a, b, y);
}
/// Returns true if the argument is a number, not the NaN that represents None.
bool is_present(const Call& call, uint32_t i) {
  return call.args[i].number == call.args[i].number;
}
float number(const Call& call, uint32_t i) {
  return static_cast<float>(call.args[i].number);
}

// --- Arithmetic ----------------------------------------------------------------------------------

template <uint32_t kOut>
Status check_with_number(const Call& call) {
  for (uint32_t i = 1; i < kOut; ++i) {
    if (!is_present(call, i)) return Status::kBadParameter;
  }
  return check_floats(tensor(call, 0), tensor(call, kOut));
}
template <class Function>
void arithmetic(const Call& call, uint32_t out, Function f) {
  combine<float, float>(tensor(call, 0), tensor(call, 1), tensor(call, out), f);
}
template <class Function>
void with_number(const Call& call, uint32_t out, Function f) {
  combine<float, float>(tensor(call, 0), number(call, 1), tensor(call, out), f);
}

void run_add(const Call& call) {
  arithmetic(call, 3, [alpha = number(call, 2)](float a, float b) { return a + alpha * b; });
}
void run_sub(const Call& call) {
  arithmetic(call, 3, [alpha = number(call, 2)](float a, float b) { return a - alpha * b; });
}
void run_mul(const Call& call) {
  arithmetic(call, 2, [](float a, float b) { return a * b; });
}
void run_div(const Call& call) {
  arithmetic(call, 2, [](float a, float b) { return a / b; });
}
void run_add_scalar(const Call& call) {
  with_number(call, 3, [alpha = number(call, 2)](float a, float b) { return a + alpha * b; });
}
void run_sub_scalar(const Call& call) {
  with_number(call, 3, [alpha = number(call, 2)](float a, float b) { return a - alpha * b; });
}
void run_mul_scalar(const Call& call) {
  with_number(call, 2, [](float a, float b) { return a * b; });
}
void run_div_scalar(const Call& call) {
  with_number(call, 2, [](float a, float b) { return a / b; });
}

// --- Extrema -------------------------------------------------------------------------------------

Status check_codes(const Call& call) {
  return check_types(tensor(call, 0), tensor(call, 1), tensor(call, 2), DType::kI8, DType::kI8);
}
Status check_extremum(const Call& call) {
  const DType type = tensor(call, 0).dtype;
  if (type != DType::kF32 && type != DType::kI8) return Status::kBadDType;
  return check_types(tensor(call, 0), tensor(call, 1), tensor(call, 2), type, type);
}
template <bool kLargest>
void run_extremum(const Call& call) {
  const Tensor& a = tensor(call, 0);
  if (a.dtype == DType::kI8) {
    combine<int8_t, int8_t>(a, tensor(call, 1), tensor(call, 2),
                            [](int32_t x, int32_t y) { return (x > y) == kLargest ? x : y; });
    return;
  }
  // The result is NaN if either operand is NaN.
  combine<float, float>(a, tensor(call, 1), tensor(call, 2), [](float x, float y) {
    if (!(x == x) || !(y == y)) return x + y;
    return (x > y) == kLargest ? x : y;
  });
}

// --- Comparisons and logic -----------------------------------------------------------------------

enum Relation { kEq, kNe, kLt, kLe, kGt, kGe };

template <Relation kRelation, class Value>
bool holds(Value a, Value b) {
  if constexpr (kRelation == kEq) return a == b;
  if constexpr (kRelation == kNe) return a != b;
  if constexpr (kRelation == kLt) return a < b;
  if constexpr (kRelation == kLe) return a <= b;
  if constexpr (kRelation == kGt) return a > b;
  return a >= b;
}

Status check_compared(const Call& call) {
  const DType type = tensor(call, 0).dtype;
  if (type != DType::kF32 && type != DType::kI8) return Status::kBadDType;
  return check_types(tensor(call, 0), tensor(call, 1), tensor(call, 2), type, DType::kBool);
}
template <Relation kRelation>
void run_compared(const Call& call) {
  const Tensor& a = tensor(call, 0);
  if (a.dtype == DType::kI8) {
    combine<int8_t, uint8_t>(a, tensor(call, 1), tensor(call, 2), holds<kRelation, int32_t>);
  } else {
    combine<float, uint8_t>(a, tensor(call, 1), tensor(call, 2), holds<kRelation, float>);
  }
}

Status check_compared_with_number(const Call& call) {
  const Tensor& a = tensor(call, 0);
  if (!is_present(call, 1)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_tensor(a));
  if (a.dtype != DType::kF32 && a.dtype != DType::kI8) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_tensor(tensor(call, 2), DType::kBool));
  return same_sizes(a, tensor(call, 2)) ? Status::kOk : Status::kBadShape;
}
template <Relation kRelation>
void run_compared_with_number(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const auto b = number(call, 1);
  if (a.dtype == DType::kI8) {
    StrideIterator iterator = broadcast_pair(tensor(call, 2), a, a);
    do {
      const StrideIterator::Axis& row = iterator.row();
      const int8_t* from = codes(a) + iterator.offset[1];
      uint8_t* to = static_cast<uint8_t*>(tensor(call, 2).data) + iterator.offset[0];
      for (int32_t i = 0; i < row.extent; ++i) {
        to[i * row.step[0]] = holds<kRelation>(static_cast<float>(from[i * row.step[1]]), b);
      }
    } while (iterator.next());
    return;
  }
  combine<float, uint8_t>(a, b, tensor(call, 2), holds<kRelation, float>);
}

Status check_logic(const Call& call) {
  return check_types(tensor(call, 0), tensor(call, 1), tensor(call, 2), DType::kBool, DType::kBool);
}
void run_and(const Call& call) {
  combine<uint8_t, uint8_t>(tensor(call, 0), tensor(call, 1), tensor(call, 2),
                            [](uint32_t a, uint32_t b) { return a != 0 && b != 0; });
}
void run_or(const Call& call) {
  combine<uint8_t, uint8_t>(tensor(call, 0), tensor(call, 1), tensor(call, 2),
                            [](uint32_t a, uint32_t b) { return (a | b) != 0; });
}
Status check_not(const Call& call) {
  return check_types(tensor(call, 0), tensor(call, 0), tensor(call, 1), DType::kBool, DType::kBool);
}
void run_not(const Call& call) {
  combine<uint8_t, uint8_t>(tensor(call, 0), tensor(call, 0), tensor(call, 1),
                            [](uint32_t a, uint32_t) { return a == 0; });
}

// --- Where ---------------------------------------------------------------------------------------

Status check_where(const Call& call) {
  const Tensor& condition = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_tensor(condition, DType::kBool));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  for (uint32_t i = 0; i < 3; ++i) {
    const Tensor& t = tensor(call, i);
    THIMBLE_RETURN_IF_ERROR(check_tensor(t, i == 0 ? DType::kBool : y.dtype));
    if (t.rank > y.rank) return Status::kBadShape;
    for (uint32_t d = 0; d < t.rank; ++d) {
      const int32_t size = y.sizes[d + y.rank - t.rank];
      if (t.sizes[d] != size && t.sizes[d] != 1) return Status::kBadShape;
    }
  }
  return Status::kOk;
}

/// Sets y = x where the condition equals `wanted`; other elements of y do not change.
void choose(const Tensor& condition, const Tensor& x, const Tensor& y, bool wanted) {
  const auto element = static_cast<int32_t>(element_bytes(y.dtype));
  StrideIterator iterator = broadcast_pair(y, condition, x);
  do {
    const StrideIterator::Axis& row = iterator.row();
    const uint8_t* test = static_cast<const uint8_t*>(condition.data) + iterator.offset[1];
    for (int32_t i = 0; i < row.extent; ++i) {
      if ((test[i * row.step[1]] != 0) != wanted) continue;
      const uint8_t* from =
          static_cast<const uint8_t*>(x.data) + (iterator.offset[2] + i * row.step[2]) * element;
      uint8_t* to =
          static_cast<uint8_t*>(y.data) + (iterator.offset[0] + i * row.step[0]) * element;
      for (int32_t byte = 0; byte < element; ++byte) to[byte] = from[byte];
    }
  } while (iterator.next());
}
void run_where(const Call& call) {
  choose(tensor(call, 0), tensor(call, 1), tensor(call, 3), true);
  choose(tensor(call, 0), tensor(call, 2), tensor(call, 3), false);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_add, check_float_binary_with_alpha, run_add);
THIMBLE_DEFINE_KERNEL(portable, aten_add_scalar, check_with_number<3>, run_add_scalar);
THIMBLE_DEFINE_KERNEL(portable, aten_div, check_float_binary, run_div);
THIMBLE_DEFINE_KERNEL(portable, aten_div_scalar, check_with_number<2>, run_div_scalar);
THIMBLE_DEFINE_KERNEL(portable, aten_logical_and, check_logic, run_and);
THIMBLE_DEFINE_KERNEL(portable, aten_logical_not, check_not, run_not);
THIMBLE_DEFINE_KERNEL(portable, aten_logical_or, check_logic, run_or);
THIMBLE_DEFINE_KERNEL(portable, aten_maximum, check_extremum, run_extremum<true>);
THIMBLE_DEFINE_KERNEL(portable, aten_minimum, check_extremum, run_extremum<false>);
THIMBLE_DEFINE_KERNEL(portable, aten_mul, check_float_binary, run_mul);
THIMBLE_DEFINE_KERNEL(portable, aten_mul_scalar, check_with_number<2>, run_mul_scalar);
THIMBLE_DEFINE_KERNEL(portable, aten_sub, check_float_binary_with_alpha, run_sub);
THIMBLE_DEFINE_KERNEL(portable, aten_sub_scalar, check_with_number<3>, run_sub_scalar);
THIMBLE_DEFINE_KERNEL(portable, aten_where, check_where, run_where);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_maximum, check_codes, run_extremum<true>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_minimum, check_codes, run_extremum<false>);

#define THIMBLE_COMPARISON(name, relation)                                          \
  THIMBLE_DEFINE_KERNEL(portable, aten_##name##_scalar, check_compared_with_number, \
                        run_compared_with_number<relation>);                        \
  THIMBLE_DEFINE_KERNEL(portable, aten_##name##_tensor, check_compared, run_compared<relation>)
THIMBLE_COMPARISON(eq, kEq);
THIMBLE_COMPARISON(ge, kGe);
THIMBLE_COMPARISON(gt, kGt);
THIMBLE_COMPARISON(le, kLe);
THIMBLE_COMPARISON(lt, kLt);
THIMBLE_COMPARISON(ne, kNe);
#undef THIMBLE_COMPARISON

}  // namespace thimble::kernels
