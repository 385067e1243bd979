// SPDX-License-Identifier: Apache-2.0
// Additions, products and other operators with two operands. If one operand is constant, a LUT
// computes the result. Where the hardware's input scales are not bit-exact, sums are computed in 32
// bits.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engines/ethos_u/compiler/lowering.h"
#include "numerics/fixed_point.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;
using ir::ValueId;

std::optional<int64_t> Lowering::single_value(ValueId value) const {
  const ir::Tensor* tensor = constant_of(value);
  if (tensor == nullptr || tensor->dtype != ir::DType::kI8) return std::nullopt;
  const auto codes = tensor->data<int8_t>();
  const bool one = std::all_of(codes.begin(), codes.end(), [&](int8_t c) { return c == codes[0]; });
  return one ? std::optional<int64_t>(codes[0]) : std::nullopt;
}

bool Lowering::fuse_table(const ir::Op& op, ValueId x, const Table& table) {
  const auto& outputs = graph_.outputs();
  const std::vector<size_t>& writers = writers_[static_cast<size_t>(x)];
  if (writers.empty() || consumers_[static_cast<size_t>(x)].size() != 1 ||
      std::find(outputs.begin(), outputs.end(), x) != outputs.end()) {
    return false;
  }
  const View& view = *views_[static_cast<size_t>(x)];
  const std::optional<View>& place = places_[static_cast<size_t>(op.output)];
  if (place && (place->tensor != view.tensor || place->offset != view.offset ||
                place->steps != view.steps)) {
    return false;
  }
  for (const size_t i : writers) {
    const NpuOp& writer = program_.ops[i];
    if (writer.table.kind != Table::Kind::kNone || !(writer.ofm.element == view.element)) {
      return false;
    }
  }
  for (const size_t i : writers) program_.ops[i].table = table;
  pushed_ = writers;
  return true;
}

Result<View> Lowering::by_table(const ir::Op& op, ValueId x, const UnaryFunction& function) {
  Table table = {Table::Kind::k8To8, std::vector<std::byte>(256)};
  for (int64_t code = -128; code < 128; ++code) {
    table.content[static_cast<size_t>(code + 128)] = static_cast<std::byte>(function(code) & 0xFF);
  }
  THIMBLE_TRY(View from, read(x));
  const bool same = type(x).shape == type(op.output).shape;
  if (same && fuse_table(op, x, table)) return from;
  from = broadcast_view(from, type(op.output).shape);
  THIMBLE_TRY(View y, result(op, &from));
  THIMBLE_CHECK(table_each(y, from, std::move(table), kByte));
  return y;
}

Result<std::optional<View>> Lowering::as_table(const ir::Op& op, const BinaryFunction& function) {
  const ValueId a = op.inputs[0], b = op.inputs[1];
  UnaryFunction one;
  ValueId x = a;
  if (a == b) {
    one = [&](int64_t code) { return function(code, code); };
  } else if (const auto second = single_value(b)) {
    one = [&, second](int64_t code) { return function(code, *second); };
  } else if (const auto first = single_value(a)) {
    one = [&, first](int64_t code) { return function(*first, code); };
    x = b;
  } else {
    return std::optional<View>();
  }
  THIMBLE_TRY(View y, by_table(op, x, one));
  return std::optional<View>(y);
}

Result<View> Lowering::widened(const View& x, const UnaryFunction& function) {
  Table table = {Table::Kind::k8To32, std::vector<std::byte>(1024)};
  for (int64_t code = -128; code < 128; ++code) {
    const auto value = static_cast<int32_t>(function(code));
    std::memcpy(table.content.data() + 4 * (code + 128), &value, 4);
  }
  View y = new_view(kInt32, x.shape, order_of(x));
  THIMBLE_CHECK(table_each(y, x, std::move(table), kByte));
  return y;
}

namespace {

int64_t requantized(int64_t value, int64_t mult, int64_t shift, bool single) {
  const auto v = static_cast<int32_t>(value), m = static_cast<int32_t>(mult);
  const auto s = static_cast<int32_t>(shift);
  return single ? numerics::requantize_single(v, m, s) : numerics::requantize(v, m, s);
}

}  // namespace

/// One operand of a sum: (value - zero point) * 2^spare, requantized.
struct Lowering::SumTerm {
  int64_t zero_point, mult, shift, spare;
  bool negative, single;

  [[nodiscard]] int64_t value(int64_t code) const {
    const int64_t difference = (code - zero_point) * (int64_t{1} << spare);
    return requantized(negative ? -difference : difference, mult, shift, single);
  }
  /// Returns the operand as scaled by the hardware, with the hardware's rounding.
  [[nodiscard]] int64_t scaled(int64_t code, bool natural) const {
    const int64_t right = 31 - spare - shift;
    int64_t product = (code - zero_point) * mult;
    int64_t half = right > 0 ? int64_t{1} << (right - 1) : 0;
    if (!natural && right > 31 - spare) {
      half += product < 0 ? -(int64_t{1} << (30 - spare)) : int64_t{1} << (30 - spare);
    }
    const int64_t result = (product + half) >> right;
    return negative ? -result : result;
  }
  [[nodiscard]] bool exact(bool natural) const {
    if (31 - spare - shift < 0 || 31 - spare - shift > 62 || shift > 30 - spare - 8) return false;
    const int64_t half = spare == 20 ? 128 : 32768;
    for (int64_t code = -half; code < half; ++code) {
      if (value(code) != scaled(code, natural)) return false;
    }
    return true;
  }
  /// Returns true if the scale is the one that U55 and U65 apply to an operand without OPA or OPB
  /// scale.
  [[nodiscard]] bool implied() const { return mult == int64_t{1} << 30 && shift == 0; }
  [[nodiscard]] int64_t largest() const {
    const int64_t half = spare == 20 ? 128 : 32768;
    return std::max(std::abs(value(-half)), std::abs(value(half - 1)));
  }
  [[nodiscard]] InputScale input() const {
    return {static_cast<uint32_t>(mult), static_cast<uint8_t>(31 - spare - shift),
            static_cast<uint8_t>(spare), single};
  }
};

Result<View> Lowering::sum_of_tables(const ir::Op& op, const SumTerm& a, const SumTerm& b) {
  THIMBLE_TRY(View left, read(op.inputs[0]));
  THIMBLE_TRY(View right, read(op.inputs[1]));
  THIMBLE_TRY(View wide_left, widened(left, [&](int64_t code) { return a.value(code); }));
  THIMBLE_TRY(View wide_right, widened(right, [&](int64_t code) { return b.value(code); }));
  const View& like = left.elements() >= right.elements() ? left : right;
  THIMBLE_TRY(View y, result(op, &like));
  const View total = new_view(kInt32, y.shape, order_of(y));
  THIMBLE_CHECK(binary(ElementwiseMode::kAdd, total, wide_left, wide_right));
  const Requantize scale = global_scale(op.get(ir::attr::y_mult), op.get(ir::attr::y_shift),
                                        op.get(ir::attr::rounding) != 0);
  THIMBLE_CHECK(requantize_each(y.with_zero_point(op.get(ir::attr::y_zp)), total, scale,
                                op.get(ir::attr::min), op.get(ir::attr::max)));
  return y;
}

Result<View> Lowering::sum(const ir::Op& op) {
  const bool wide = op.kind == OpKind::qadd16 || op.kind == OpKind::qsub16;
  const bool subtract = op.kind == OpKind::qsub || op.kind == OpKind::qsub16;
  const bool single = !wide && op.get(ir::attr::rounding) != 0;
  const int64_t spare = wide ? 15 : 20;
  const SumTerm a = {wide ? 0 : op.get(ir::attr::a_zp),
                     op.get(ir::attr::a_mult),
                     op.get(ir::attr::a_shift),
                     spare,
                     false,
                     single};
  const SumTerm b = {wide ? 0 : op.get(ir::attr::b_zp),
                     op.get(ir::attr::b_mult),
                     op.get(ir::attr::b_shift),
                     spare,
                     subtract,
                     single};
  const int64_t y_mult = op.get(ir::attr::y_mult), y_shift = op.get(ir::attr::y_shift);
  const int64_t y_zp = wide ? 0 : op.get(ir::attr::y_zp);
  const int64_t low = op.get(ir::attr::min), high = op.get(ir::attr::max);
  if (!wide) {
    THIMBLE_TRY(const auto y, as_table(op, [&](int64_t x, int64_t z) {
                  const int64_t both = numerics::wrap_add(static_cast<int32_t>(a.value(x)),
                                                          static_cast<int32_t>(b.value(z)));
                  return std::clamp(requantized(both, y_mult, y_shift, single) + y_zp, low, high);
                }));
    if (y) return *y;
  }
  const int64_t largest = a.largest() + b.largest();
  const bool fits = (largest << std::max<int64_t>(y_shift, 0)) <= INT32_MAX;
  const bool natural = single && is_u85();
  const bool given = is_u85() || a.implied() || b.implied();
  if (!fits) return unsupported("the scaled sum may reach {}, which exceeds 32 bits", largest);
  if (!given || !a.exact(natural) || !b.exact(natural)) {
    if (!wide) return sum_of_tables(op, a, b);
    return unsupported("multipliers {} * 2^{} and {} * 2^{} of its operands: {}", a.mult,
                       a.shift - 31, b.mult, b.shift - 31,
                       is_u85() ? "the hardware's operand scales do not round them exactly"
                                : "the hardware scales only one operand; the other must be 1/2");
  }
  NpuOp sum = op_of(NpuOpKind::kElementwise);
  sum.elementwise = subtract ? ElementwiseMode::kSub : ElementwiseMode::kAdd;
  sum.input_scaled = true;
  sum.ifm_scale = a.input();
  sum.ifm2_scale = b.input();
  if (!is_u85()) (b.implied() ? sum.ifm2_scale : sum.ifm_scale) = {};
  sum.requantize = global_scale(y_mult, y_shift, single);
  sum.minimum = static_cast<int32_t>(low);
  sum.maximum = static_cast<int32_t>(high);
  THIMBLE_TRY(View left, read(op.inputs[0]));
  THIMBLE_TRY(View right, read(op.inputs[1]));
  const View& like = left.elements() >= right.elements() ? left : right;
  THIMBLE_TRY(View y, result(op, &like));
  const View second = broadcast_view(right.with_zero_point(b.zero_point), y.shape);
  THIMBLE_CHECK(each(sum, y.with_zero_point(y_zp),
                     broadcast_view(left.with_zero_point(a.zero_point), y.shape), &second));
  return y;
}

Result<View> Lowering::product(const ir::Op& op) {
  const bool wide = op.kind == OpKind::qmul16;
  const bool single = !wide && op.get(ir::attr::rounding) != 0;
  const int64_t a_zp = wide ? 0 : op.get(ir::attr::a_zp), b_zp = wide ? 0 : op.get(ir::attr::b_zp);
  const int64_t y_zp = wide ? 0 : op.get(ir::attr::y_zp);
  const int64_t mult = op.get(ir::attr::mult), shift = op.get(ir::attr::shift);
  const int64_t low = op.get(ir::attr::min), high = op.get(ir::attr::max);
  if (!wide) {
    THIMBLE_TRY(const auto y, as_table(op, [&](int64_t a, int64_t b) {
                  const int64_t both = (a - a_zp) * (b - b_zp);
                  return std::clamp(requantized(both, mult, shift, single) + y_zp, low, high);
                }));
    if (y) return *y;
  }
  const int64_t largest = wide ? int64_t{1} << 30 : (128 + std::abs(a_zp)) * (128 + std::abs(b_zp));
  if ((largest << std::max<int64_t>(shift, 0)) > INT32_MAX) {
    return unsupported("its product may reach {} * 2^{}, which exceeds 32 bits", largest, shift);
  }
  THIMBLE_TRY(View a, read(op.inputs[0]));
  THIMBLE_TRY(View b, read(op.inputs[1]));
  const View& like = a.elements() >= b.elements() ? a : b;
  THIMBLE_TRY(View y, result(op, &like));
  const auto is_code = [](int64_t zero_point) { return zero_point >= -128 && zero_point <= 127; };
  const bool codes = is_code(a_zp) && is_code(b_zp);
  if (!codes) {
    THIMBLE_TRY(a, widened(a, [&](int64_t code) { return code - a_zp; }));
    THIMBLE_TRY(b, widened(b, [&](int64_t code) { return code - b_zp; }));
    const View both = new_view(kInt32, y.shape, order_of(y));
    THIMBLE_CHECK(binary(ElementwiseMode::kMul, both, a, b));
    THIMBLE_CHECK(requantize_each(y.with_zero_point(y_zp), both, global_scale(mult, shift, single),
                                  low, high));
    return y;
  }
  a = a.with_zero_point(a_zp);
  b = b.with_zero_point(b_zp);
  NpuOp mul = op_of(NpuOpKind::kElementwise);
  mul.elementwise = ElementwiseMode::kMul;
  mul.requantize = global_scale(mult, shift, single);
  mul.minimum = static_cast<int32_t>(low);
  mul.maximum = static_cast<int32_t>(high);
  const View second = broadcast_view(b, y.shape);
  THIMBLE_CHECK(each(mul, y.with_zero_point(y_zp), broadcast_view(a, y.shape), &second));
  return y;
}

Result<View> Lowering::quotient(const ir::Op& op) {
  const int64_t a_zp = op.get(ir::attr::a_zp), b_zp = op.get(ir::attr::b_zp),
                y_zp = op.get(ir::attr::y_zp);
  const int64_t low = op.get(ir::attr::min), high = op.get(ir::attr::max);
  THIMBLE_TRY(const auto y, as_table(op, [&](int64_t a, int64_t b) {
                const int64_t n = a - a_zp, d = b - b_zp;
                if (d == 0) return n > 0 ? high : n < 0 ? low : std::clamp(y_zp, low, high);
                const int64_t top = std::abs(n) << 20, bottom = std::abs(d);
                const int64_t magnitude = (2 * top + bottom) / (2 * bottom);
                const int64_t t = (n < 0) == (d < 0) ? magnitude : -magnitude;
                return std::clamp(requantized(t, op.get(ir::attr::mult), op.get(ir::attr::shift),
                                              op.get(ir::attr::rounding) != 0) +
                                      y_zp,
                                  low, high);
              }));
  if (!y) return unsupported("a division of two values that are not constant");
  return *y;
}

/// y = (above - zero) + (below - zero) + zero, where `above` is the result of x if x is positive,
/// `below` if x is negative, and each is the result of 0 otherwise. All values are int8.
Result<View> Lowering::prelu_of_bytes(const ir::Op& op, View x, View w) {
  const bool single = op.get(ir::attr::rounding) != 0;
  const int64_t x_zp = op.get(ir::attr::x_zp), w_zp = op.get(ir::attr::w_zp);
  const int64_t low = op.get(ir::attr::min), high = op.get(ir::attr::max);
  const int64_t zero = std::clamp(op.get(ir::attr::y_zp), low, high);
  const auto bytes_of = [&](const UnaryFunction& function) {
    Table table = {Table::Kind::k8To8, std::vector<std::byte>(256)};
    for (int64_t code = -128; code < 128; ++code) {
      table.content[static_cast<size_t>(code + 128)] =
          static_cast<std::byte>(function(code) & 0xFF);
    }
    return table;
  };
  THIMBLE_TRY(View y, result(op, &x));
  View above = new_view(kByte, x.shape, order_of(x)), below = above;
  const Table rising = bytes_of([&](int64_t code) {
    const int64_t value = requantized(std::max<int64_t>(code - x_zp, 0), op.get(ir::attr::mult),
                                      op.get(ir::attr::shift), single);
    return std::clamp(value + op.get(ir::attr::y_zp), low, high);
  });
  THIMBLE_CHECK(table_each(above, x, rising, kByte));
  // If no slope is negative, the products of positive values are limited to `zero`.
  const ir::Tensor* slopes = constant_of(op.inputs[1]);
  const bool rises = slopes != nullptr && std::ranges::all_of(slopes->data<int8_t>(),
                                                              [&](int8_t c) { return c >= w_zp; });
  View negative = x;
  if (!rises) {
    negative = new_view(kByte, x.shape, order_of(x));
    THIMBLE_CHECK(table_each(negative, x,
                             bytes_of([&](int64_t code) { return std::min(code, x_zp); }), kByte));
  }
  NpuOp mul = op_of(NpuOpKind::kElementwise);
  mul.elementwise = ElementwiseMode::kMul;
  mul.requantize = global_scale(op.get(ir::attr::w_mult), op.get(ir::attr::w_shift), single);
  mul.minimum = static_cast<int32_t>(low);
  mul.maximum = static_cast<int32_t>(rises ? zero : high);
  below = new_view(kByte, x.shape, order_of(x));
  const View factor = broadcast_view(w.with_zero_point(w_zp), x.shape);
  THIMBLE_CHECK(each(mul, below.with_zero_point(op.get(ir::attr::y_zp)),
                     negative.with_zero_point(x_zp), &factor));
  // Both operands are scaled by 2^19, which is the scale that U55 and U65 apply without OPA.
  const SumTerm term = {zero, int64_t{1} << 30, 0, 20, false, single};
  NpuOp sum = op_of(NpuOpKind::kElementwise);
  sum.elementwise = ElementwiseMode::kAdd;
  sum.input_scaled = true;
  sum.ifm_scale = term.input();
  if (is_u85()) sum.ifm2_scale = term.input();
  sum.requantize = global_scale(int64_t{1} << 30, -18, single);
  sum.minimum = static_cast<int32_t>(low);
  sum.maximum = static_cast<int32_t>(high);
  const View second = below.with_zero_point(zero);
  THIMBLE_CHECK(each(sum, y.with_zero_point(zero), above.with_zero_point(zero), &second));
  return y;
}

Result<View> Lowering::prelu(const ir::Op& op) {
  const bool wide = op.kind == OpKind::qprelu16;
  const bool single = !wide && op.get(ir::attr::rounding) != 0;
  const int64_t x_zp = wide ? 0 : op.get(ir::attr::x_zp), w_zp = wide ? 0 : op.get(ir::attr::w_zp);
  const int64_t y_zp = wide ? 0 : op.get(ir::attr::y_zp);
  const int64_t mult = op.get(ir::attr::mult), shift = op.get(ir::attr::shift);
  const int64_t w_mult = op.get(ir::attr::w_mult), w_shift = op.get(ir::attr::w_shift);
  const int64_t low = op.get(ir::attr::min), high = op.get(ir::attr::max);
  if (!wide) {
    THIMBLE_TRY(const auto y, as_table(op, [&](int64_t x, int64_t w) {
                  const int64_t d = x - x_zp;
                  const int64_t scaled = d >= 0
                                             ? requantized(d, mult, shift, single)
                                             : requantized(d * (w - w_zp), w_mult, w_shift, single);
                  return std::clamp(scaled + y_zp, low, high);
                }));
    if (y) return *y;
  }
  const int64_t largest = wide ? int64_t{1} << 30 : int64_t{255} * 255;
  if (std::max(shift, w_shift) > (wide ? 0 : 14)) {
    return unsupported("with shifts {} and {}, the value {} may exceed 32 bits", shift, w_shift,
                       largest);
  }
  THIMBLE_TRY(View x, read(op.inputs[0]));
  THIMBLE_TRY(View w, read(op.inputs[1]));
  const auto is_code = [](int64_t zero_point) { return zero_point >= -128 && zero_point <= 127; };
  if (!wide && is_code(x_zp) && is_code(w_zp)) return prelu_of_bytes(op, x, w);
  THIMBLE_TRY(View y, result(op, &x));
  // x is split into a positive and a negative part; at each element one of them is zero.
  View above = new_view(kInt32, x.shape, order_of(x)), below = above, slopes = w;
  View rising = above;
  if (wide) {
    View part = new_view(kInt16, x.shape, order_of(x));
    THIMBLE_CHECK(with_scalar(ElementwiseMode::kMax, part, x, 0));
    rising = new_view(kInt32, x.shape, order_of(x));
    THIMBLE_CHECK(
        requantize_each(rising, part, global_scale(mult, shift, single), INT32_MIN, INT32_MAX));
    below = new_view(kInt16, x.shape, order_of(x));
    THIMBLE_CHECK(with_scalar(ElementwiseMode::kMin, below, x, 0));
  } else {
    THIMBLE_TRY(rising, widened(x, [&](int64_t code) {
                  return requantized(std::max<int64_t>(code - x_zp, 0), mult, shift, single);
                }));
    THIMBLE_TRY(below, widened(x, [&](int64_t code) { return std::min<int64_t>(code - x_zp, 0); }));
    THIMBLE_TRY(slopes, widened(w, [&](int64_t code) { return code - w_zp; }));
  }
  View falling = new_view(kInt32, x.shape, order_of(x));
  const Requantize slope_scale = global_scale(w_mult, w_shift, single);
  if (wide) {
    THIMBLE_CHECK(binary(ElementwiseMode::kMul, falling, below, slopes, slope_scale));
  } else {
    const View both = new_view(kInt32, x.shape, order_of(x));
    THIMBLE_CHECK(binary(ElementwiseMode::kMul, both, below, slopes));
    THIMBLE_CHECK(requantize_each(falling, both, slope_scale, INT32_MIN, INT32_MAX));
  }
  View total = new_view(kInt32, x.shape, order_of(x));
  THIMBLE_CHECK(binary(ElementwiseMode::kAdd, total, rising, falling));
  THIMBLE_CHECK(requantize_each(y.with_zero_point(y_zp), total, unit_scale(), low, high));
  return y;
}

}  // namespace thimble::engine::ethos_u
