// SPDX-License-Identifier: Apache-2.0
// Integers that are computed at run time. Every result is computed exactly in 64 or 128 bits, then
// reduced to the width of the element type.

#include <algorithm>

#include "eval/call.h"
#include "ir/int_functions.h"

namespace thimble::eval {
namespace {

using ir::IntFunction;
using ir::IntReduction;

/// Returns the low bits of a result.
template <typename T>
T wrapped(uint64_t value) {
  return static_cast<T>(value);
}

/// Returns a / b, rounded down or toward zero. A division by 0 gives 0. |a| is at most 2^63, so the
/// quotient is computed from magnitudes.
uint64_t quotient(int64_t a, int64_t b, bool down) {
  if (b == 0) return 0;
  const uint64_t dividend = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  const uint64_t divisor = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  const bool negative = (a < 0) != (b < 0);
  const uint64_t magnitude = dividend / divisor + (down && negative && dividend % divisor != 0);
  return negative ? 0 - magnitude : magnitude;
}

uint64_t pair_of(IntFunction function, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (function) {
    case IntFunction::kAdd:
      return x + y;
    case IntFunction::kSub:
      return x - y;
    case IntFunction::kMul:
      return x * y;
    case IntFunction::kFloorDivide:
      return quotient(a, b, true);
    case IntFunction::kTruncateDivide:
      return quotient(a, b, false);
    case IntFunction::kRemainder:
      return b == 0 ? 0 : x - quotient(a, b, true) * y;
    case IntFunction::kFmod:
      return b == 0 ? 0 : x - quotient(a, b, false) * y;
    case IntFunction::kAnd:
      return x & y;
    case IntFunction::kOr:
      return x | y;
    case IntFunction::kXor:
      return x ^ y;
  }
  return 0;
}

template <typename T>
int64_t reduction_of(IntReduction function, const std::vector<T>& elements) {
  switch (function) {
    case IntReduction::kSum: {
      uint64_t sum = 0;
      for (const T value : elements) sum += static_cast<uint64_t>(int64_t{value});
      return static_cast<int64_t>(sum);
    }
    case IntReduction::kMax:
      return *std::ranges::max_element(elements);
    case IntReduction::kMin:
      return *std::ranges::min_element(elements);
    case IntReduction::kArgmax:
      return std::ranges::max_element(elements) - elements.begin();
    case IntReduction::kArgmin:
      return std::ranges::min_element(elements) - elements.begin();
  }
  return 0;
}

/// Calls visit(T{}) for i32 and i64, and for bool as bytes.
template <typename Visit>
void dispatch_whole(ir::DType dtype, Visit visit) {
  if (dtype == ir::DType::kI64) return visit(int64_t{});
  if (dtype == ir::DType::kI32) return visit(int32_t{});
  visit(uint8_t{});
}

}  // namespace

void eval_int_cast(const Call& call) {
  dispatch_whole(call.inputs[0]->dtype, [&](auto from) {
    using From = decltype(from);
    const auto x = call.input<From>(0);
    for (size_t i = 0; i < x.size(); ++i) {
      const auto value = static_cast<int64_t>(x[i]);
      if (call.output.dtype == ir::DType::kI64) {
        call.result<int64_t>()[i] = value;
      } else {
        call.result<int32_t>()[i] = static_cast<int32_t>(clamp(value, INT32_MIN, INT32_MAX));
      }
    }
  });
}

void eval_int_cumsum(const Call& call) {
  dispatch_whole(call.output.dtype, [&](auto zero) {
    using T = decltype(zero);
    map_rows<T>(call, [](std::vector<T>& row) {
      uint64_t sum = 0;
      for (T& value : row) {
        sum += static_cast<uint64_t>(int64_t{value});
        value = wrapped<T>(sum);
      }
    });
  });
}

void eval_int_pair(const Call& call) {
  const auto function = static_cast<IntFunction>(call.get(ir::attr::function));
  dispatch_whole(call.output.dtype, [&](auto zero) {
    using T = decltype(zero);
    map_pairs<T>(call, [=](T a, T b) { return wrapped<T>(pair_of(function, a, b)); });
  });
}

void eval_int_quantize(const Call& call) {
  const int64_t low = call.get(ir::attr::min), high = call.get(ir::attr::max);
  const int64_t mult = call.get(ir::attr::mult), shift = call.get(ir::attr::shift);
  const int64_t y_zp = call.get(ir::attr::y_zp);
  const bool wide = call.get(ir::attr::wide) != 0;
  const auto x = call.input<int32_t>(0);
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t scaled = requantize(clamp(x[i], low, high), mult, shift, Rounding::kDouble);
    store_code(call, i,
               wide ? clamp(scaled + y_zp, INT16_MIN, INT16_MAX)
                    : clamp(scaled + y_zp, INT8_MIN, INT8_MAX));
  }
}

void eval_int_reduce(const Call& call) {
  const auto function = static_cast<IntReduction>(call.get(ir::attr::function));
  dispatch_whole(call.inputs[0]->dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_reduced<T>(call, [&](size_t index, const std::vector<T>& elements) {
      const int64_t value = reduction_of(function, elements);
      dispatch_whole(call.output.dtype, [&](auto to) {
        using To = decltype(to);
        call.result<To>()[index] = static_cast<To>(value);
      });
    });
  });
}

void eval_int_to_float(const Call& call) {
  dispatch_whole(call.inputs[0]->dtype, [&](auto zero) {
    const auto x = call.input<decltype(zero)>(0);
    for (size_t i = 0; i < x.size(); ++i) call.result<float>()[i] = static_cast<float>(x[i]);
  });
}

}  // namespace thimble::eval
