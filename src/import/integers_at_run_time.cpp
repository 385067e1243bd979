// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic at run time, as operators int_* of the IR. They have the type of the result in
// the export, int32 or int64; a pass makes them 32 bits wide.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "import/constants.h"
#include "import/formula.h"
#include "import/integers.h"
#include "ir/infer.h"
#include "ir/int_functions.h"

namespace thimble::import_pt2 {
namespace at_run_time {
namespace {

using ir::DType;
using ir::IntFunction;
using ir::IntReduction;
using ir::OpKind;
using ir::ValueId;

/// One node with an integer result.
class Node {
 public:
  Node(Call& call, DType dtype) : call_(call), dtype_(dtype) {}

  [[nodiscard]] Call& call() const { return call_; }
  [[nodiscard]] bool has(std::string_view name) const { return call_.has(name); }
  Result<ValueId> operand(std::string_view name) const { return operand_as(call_, name, dtype_); }
  [[nodiscard]] ValueId number(double value) const {
    return call_.constant_value("number", filled(dtype_, {}, value));
  }
  Result<ValueId> pair(IntFunction function, ValueId a, ValueId b) const {
    return call_.add(OpKind::int_pair, {a, b},
                     {{ir::attr::function, static_cast<int64_t>(function)}});
  }
  Result<ValueId> larger(ValueId a, ValueId b) const { return call_.add(OpKind::maximum, {a, b}); }
  Result<ValueId> smaller(ValueId a, ValueId b) const { return call_.add(OpKind::minimum, {a, b}); }

 private:
  Call& call_;
  DType dtype_;
};

template <IntFunction kFunction>
Result<ValueId> pair_of(const Node& node) {
  THIMBLE_TRY(const ValueId a, node.operand("self"));
  THIMBLE_TRY(const ValueId b, node.operand("other"));
  return node.pair(kFunction, a, b);
}

bool is_zero(const Node& node, ValueId id) {
  const ir::Tensor* known = node.call().builder().constant_of(id);
  return known != nullptr &&
         std::ranges::all_of(known->bytes, [](std::byte byte) { return byte == std::byte{}; });
}

/// Returns x with the shape of a sum of x and the constant 0.
Result<ValueId> plus_zero(const Node& node, ValueId x, ValueId zero) {
  const auto shape = ir::broadcast_shape(node.call().shape(x), node.call().shape(zero));
  if (!shape) return bad_input("self and other do not broadcast");
  return node.call().add(OpKind::expand, {x}, {{ir::attr::shape, *shape}});
}

/// self + alpha * other; reversed: other - alpha * self. arange(1) + position stays a position.
template <IntFunction kFunction, bool kReversed>
Result<ValueId> sum_of(const Node& node) {
  THIMBLE_TRY(ValueId a, node.operand(kReversed ? "other" : "self"));
  THIMBLE_TRY(ValueId b, node.operand(kReversed ? "self" : "other"));
  THIMBLE_TRY(const int64_t alpha, node.call().any_integer("alpha", 1));
  if (alpha != 1) {
    THIMBLE_TRY(b, node.pair(IntFunction::kMul, b, node.number(static_cast<double>(alpha))));
  }
  if (is_zero(node, b)) return plus_zero(node, a, b);
  if (kFunction == IntFunction::kAdd && is_zero(node, a)) return plus_zero(node, b, a);
  return node.pair(kFunction, a, b);
}

Result<ValueId> divided(const Node& node) {
  THIMBLE_TRY(const std::string mode, node.call().text("rounding_mode", std::string()));
  if (mode == "floor") return pair_of<IntFunction::kFloorDivide>(node);
  return pair_of<IntFunction::kTruncateDivide>(node);
}

Result<ValueId> negated(const Node& node) {
  THIMBLE_TRY(const ValueId x, node.operand("self"));
  return node.pair(IntFunction::kSub, node.number(0), x);
}
Result<ValueId> magnitude(const Node& node) {
  THIMBLE_TRY(const ValueId x, node.operand("self"));
  THIMBLE_TRY(const ValueId negative, node.pair(IntFunction::kSub, node.number(0), x));
  return node.larger(x, negative);
}
Result<ValueId> sign(const Node& node) {
  THIMBLE_TRY(const ValueId x, node.operand("self"));
  THIMBLE_TRY(const ValueId low, node.larger(x, node.number(-1)));
  return node.smaller(low, node.number(1));
}
Result<ValueId> complement(const Node& node) {
  THIMBLE_TRY(const ValueId x, node.operand("self"));
  return node.pair(IntFunction::kXor, x, node.number(-1));
}
Result<ValueId> squared(const Node& node) {
  THIMBLE_TRY(const ValueId x, node.operand("self"));
  return node.pair(IntFunction::kMul, x, x);
}

/// x * 2^bits, or x / 2^bits rounded down. The numbers of bits must be known.
template <IntFunction kFunction>
Result<ValueId> shifted(const Node& node) {
  constexpr int64_t kBitsMax = 30;
  THIMBLE_TRY(const ValueId x, node.operand("self"));
  THIMBLE_TRY(const ValueId bits, node.operand("other"));
  const ir::Tensor* known = node.call().builder().constant_of(bits);
  if (known == nullptr) {
    return unsupported(
        "the number of bits depends on an input: select x // 2**n for each n with "
        "torch.where");
  }
  ir::Tensor factors = *known;
  for (size_t i = 0; i < static_cast<size_t>(ir::element_count(factors.shape)); ++i) {
    const double count = element(factors, i);
    if (count < 0 || count > kBitsMax) {
      return unsupported("a shift by {:g} bits, expected 0 to {}", count, kBitsMax);
    }
    set_element(factors, i, std::exp2(count));
  }
  return node.pair(kFunction, x, node.call().constant_value("factor", std::move(factors)));
}

/// Squares the base once per bit of the exponent, which is a small number.
Result<ValueId> raised(const Node& node) {
  constexpr int64_t kExponentMax = 31;
  THIMBLE_TRY(ValueId base, node.operand("self"));
  THIMBLE_TRY(const int64_t exponent, node.call().integer("exponent"));
  if (exponent < 1 || exponent > kExponentMax) {
    return unsupported("the exponent {} of an integer, expected 1 to {}", exponent, kExponentMax);
  }
  ValueId result = ir::kNoValue;
  for (int64_t left = exponent;;) {
    if ((left & 1) != 0) {
      if (result == ir::kNoValue) {
        result = base;
      } else {
        THIMBLE_TRY(result, node.pair(IntFunction::kMul, result, base));
      }
    }
    left >>= 1;
    if (left == 0) return result;
    THIMBLE_TRY(base, node.pair(IntFunction::kMul, base, base));
  }
}

/// Differences of neighbours along a dimension, after values before and after it were added.
Result<ValueId> difference(const Node& node) {
  Call& call = node.call();
  THIMBLE_TRY(ValueId x, node.operand("self"));
  THIMBLE_TRY(const int64_t times, call.integer("n", 1));
  if (times != 1) return unsupported("n is {}, expected 1: call torch.diff several times", times);
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size(), -1));
  std::vector<ValueId> parts;
  for (const std::string_view name : {"prepend", "self", "append"}) {
    if (!node.has(name)) continue;
    THIMBLE_TRY(const ValueId part, node.operand(name));
    parts.push_back(part);
  }
  if (parts.size() > 1) {
    THIMBLE_TRY(x, call.add(OpKind::concat, parts, {{ir::attr::dim, dim}}));
  }
  const int64_t size = call.shape(x)[static_cast<size_t>(dim)];
  if (size < 2) return unsupported("a difference of {} elements", size);
  const auto part = [&](int64_t start, int64_t end) {
    return call.add(OpKind::slice, {x},
                    {{ir::attr::dim, dim}, {ir::attr::start, start}, {ir::attr::end, end}});
  };
  THIMBLE_TRY(const ValueId after, part(1, size));
  THIMBLE_TRY(const ValueId before, part(0, size - 1));
  return node.pair(IntFunction::kSub, after, before);
}

Result<ValueId> clamped(const Node& node) {
  THIMBLE_TRY(ValueId x, node.operand("self"));
  if (node.has("min")) {
    THIMBLE_TRY(const ValueId low, node.operand("min"));
    THIMBLE_TRY(x, node.larger(x, low));
  }
  if (node.has("max")) {
    THIMBLE_TRY(const ValueId high, node.operand("max"));
    THIMBLE_TRY(x, node.smaller(x, high));
  }
  return x;
}

Result<ValueId> cumulative_sum(const Node& node) {
  THIMBLE_TRY(const ValueId x, node.operand("self"));
  const size_t rank = node.call().shape(x).size();
  if (rank == 0) return x;
  THIMBLE_TRY(const int64_t dim, node.call().dimension("dim", rank));
  return node.call().add(OpKind::int_cumsum, {x}, {{ir::attr::dim, dim}});
}

Result<ValueId> total(const Node& node) {
  THIMBLE_TRY(const ValueId x, node.operand("self"));
  const size_t rank = node.call().shape(x).size();
  if (rank == 0) return x;
  Ints dims;
  if (node.has("dim")) {
    THIMBLE_TRY(dims, node.call().dimensions("dim", rank));
  }
  if (dims.empty()) {
    dims.resize(rank);
    std::iota(dims.begin(), dims.end(), 0);
  }
  std::ranges::sort(dims);
  THIMBLE_TRY(const bool keeps_dims, node.call().boolean("keepdim", false));
  return node.call().add(OpKind::int_reduce, {x},
                         {{ir::attr::function, static_cast<int64_t>(IntReduction::kSum)},
                          {ir::attr::dims, dims},
                          {ir::attr::keepdim, int64_t{keeps_dims}}});
}

using Compute = Result<ValueId> (*)(const Node&);

const std::map<std::string_view, Compute>& table() {
  static const std::map<std::string_view, Compute> rows = {
      {"aten.__and__.Scalar", pair_of<IntFunction::kAnd>},
      {"aten.__and__.Tensor", pair_of<IntFunction::kAnd>},
      {"aten.__lshift__.Scalar", shifted<IntFunction::kMul>},
      {"aten.__lshift__.Tensor", shifted<IntFunction::kMul>},
      {"aten.__or__.Scalar", pair_of<IntFunction::kOr>},
      {"aten.__or__.Tensor", pair_of<IntFunction::kOr>},
      {"aten.__rshift__.Scalar", shifted<IntFunction::kFloorDivide>},
      {"aten.__rshift__.Tensor", shifted<IntFunction::kFloorDivide>},
      {"aten.__xor__.Scalar", pair_of<IntFunction::kXor>},
      {"aten.__xor__.Tensor", pair_of<IntFunction::kXor>},
      {"aten.abs.default", magnitude},
      {"aten.add.Scalar", sum_of<IntFunction::kAdd, false>},
      {"aten.add.Tensor", sum_of<IntFunction::kAdd, false>},
      {"aten.bitwise_and.Scalar", pair_of<IntFunction::kAnd>},
      {"aten.bitwise_and.Tensor", pair_of<IntFunction::kAnd>},
      {"aten.bitwise_left_shift.Scalar_Tensor", shifted<IntFunction::kMul>},
      {"aten.bitwise_left_shift.Tensor", shifted<IntFunction::kMul>},
      {"aten.bitwise_left_shift.Tensor_Scalar", shifted<IntFunction::kMul>},
      {"aten.bitwise_not.default", complement},
      {"aten.bitwise_or.Scalar", pair_of<IntFunction::kOr>},
      {"aten.bitwise_or.Tensor", pair_of<IntFunction::kOr>},
      {"aten.bitwise_right_shift.Scalar_Tensor", shifted<IntFunction::kFloorDivide>},
      {"aten.bitwise_right_shift.Tensor", shifted<IntFunction::kFloorDivide>},
      {"aten.bitwise_right_shift.Tensor_Scalar", shifted<IntFunction::kFloorDivide>},
      {"aten.bitwise_xor.Scalar", pair_of<IntFunction::kXor>},
      {"aten.bitwise_xor.Tensor", pair_of<IntFunction::kXor>},
      {"aten.clamp.Tensor", clamped},
      {"aten.clamp.default", clamped},
      {"aten.clamp_max.Tensor", clamped},
      {"aten.clamp_max.default", clamped},
      {"aten.clamp_min.Tensor", clamped},
      {"aten.clamp_min.default", clamped},
      {"aten.cumsum.default", cumulative_sum},
      {"aten.diff.default", difference},
      {"aten.div.Scalar_mode", divided},
      {"aten.div.Tensor_mode", divided},
      {"aten.floor_divide.Scalar", pair_of<IntFunction::kFloorDivide>},
      {"aten.floor_divide.default", pair_of<IntFunction::kFloorDivide>},
      {"aten.fmod.Scalar", pair_of<IntFunction::kFmod>},
      {"aten.fmod.Tensor", pair_of<IntFunction::kFmod>},
      {"aten.mul.Scalar", pair_of<IntFunction::kMul>},
      {"aten.mul.Tensor", pair_of<IntFunction::kMul>},
      {"aten.neg.default", negated},
      {"aten.pow.Tensor_Scalar", raised},
      {"aten.remainder.Scalar", pair_of<IntFunction::kRemainder>},
      {"aten.remainder.Tensor", pair_of<IntFunction::kRemainder>},
      {"aten.rsub.Scalar", sum_of<IntFunction::kSub, true>},
      {"aten.rsub.Tensor", sum_of<IntFunction::kSub, true>},
      {"aten.sgn.default", sign},
      {"aten.sign.default", sign},
      {"aten.square.default", squared},
      {"aten.sub.Scalar", sum_of<IntFunction::kSub, false>},
      {"aten.sub.Tensor", sum_of<IntFunction::kSub, false>},
      {"aten.sum.default", total},
      {"aten.sum.dim_IntList", total},
  };
  return rows;
}

/// Returns the functional form of an in-place operator, `aten.add.Tensor` of `aten.add_.Tensor`.
std::string functional(std::string_view target) {
  std::string name(target);
  if (is_in_place(target)) name.erase(name.find('.', name.find('.') + 1) - 1, 1);
  return name;
}

}  // namespace
}  // namespace at_run_time

Result<ir::ValueId> compute_integers(Call& call, std::string_view target) {
  const auto row = at_run_time::table().find(at_run_time::functional(target));
  const auto* meta = call.result_meta();
  if (row == at_run_time::table().end() || meta == nullptr) return ir::kNoValue;
  const auto dtype = ir_dtype(meta->dtype);
  if (dtype != ir::DType::kI32 && dtype != ir::DType::kI64) return ir::kNoValue;
  return row->second(at_run_time::Node(call, *dtype));
}

}  // namespace thimble::import_pt2
