// SPDX-License-Identifier: Apache-2.0
#include "random_wide_graph.h"

#include <cmath>

#include "../unit/ir_random_graph.h"
#include "ir/dce.h"
#include "numerics/multiplier.h"

namespace thimble::test {
namespace {

using ir::Attrs;
using ir::DType;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  ir::Graph run(int ops) {
    Shape shape = {1, random_.between(1, 6), random_.between(1, 6), random_.between(1, 6)};
    if (random_.chance(25)) shape = {random_.between(1, 3), random_.between(1, 12)};
    const DType dtype = random_.chance(40)   ? DType::kI8
                        : random_.chance(40) ? DType::kF32
                                             : DType::kI16;
    const ir::DimOrder order =
        shape.size() == 4 && random_.chance(30) ? ir::channels_last_order() : ir::DimOrder{};
    const ValueId x = graph_.add_input("x", {dtype, shape, order, {}});
    values_.push_back(dtype == DType::kF32 ? quantized(x) : x);
    if (dtype == DType::kI8) rescale(x, true);
    for (int tries = 0; made_ < ops && tries < ops * 20; ++tries) add_op();
    const int outputs = random_.chance(30) ? 2 : 1;
    for (int i = 0; i < outputs; ++i) graph_.add_output(exported(i == 0 ? values_.back() : pick()));
    return ir::remove_unused(graph_);
  }

 private:
  ValueId pick() {
    return values_[static_cast<size_t>(
        random_.between(0, static_cast<int64_t>(values_.size()) - 1))];
  }
  [[nodiscard]] const ir::Type& type(ValueId value) const { return graph_.type(value); }
  [[nodiscard]] bool is_wide(ValueId value) const { return type(value).dtype == DType::kI16; }
  [[nodiscard]] size_t rank(ValueId value) const { return type(value).shape.size(); }

  // Conversions at the borders of the int16 part. int16 has no zero point.
  ValueId quantized(ValueId x) {
    const ir::Attrs attrs = {{ir::attr::scale, random_.real(1e-4, 1e-3)},
                             {ir::attr::zero_point, int64_t{0}},
                             {ir::attr::type, int64_t{2}},
                             {ir::attr::min, int64_t{-32768}},
                             {ir::attr::max, int64_t{32767}}};
    return *graph_.add(OpKind::quantize, {x}, attrs, {}, {});
  }
  ValueId exported(ValueId value) {
    if (!is_wide(value) || random_.chance(60)) return value;
    const ir::Attrs attrs = {{ir::attr::scale, random_.real(1e-4, 1e-3)},
                             {ir::attr::zero_point, int64_t{0}}};
    return *graph_.add(OpKind::dequantize, {value}, attrs, {}, {});
  }

  ValueId constant(ir::Tensor tensor) {
    return graph_.add_constant("c", std::make_shared<const ir::Tensor>(std::move(tensor)));
  }
  ValueId random_constant(DType dtype, const Shape& shape) {
    return constant(random_tensor(random_, dtype, shape));
  }
  numerics::Multiplier multiplier(double magnitude) {
    return numerics::quantize_multiplier(magnitude * random_.real(0.2, 1.5));
  }
  void set_multiplier(Attrs* attrs, const ir::MultiplierKeys& keys, double magnitude) {
    const numerics::Multiplier m = multiplier(magnitude);
    attrs->set(keys.mult, int64_t{m.mult});
    attrs->set(keys.shift, int64_t{m.shift});
  }
  std::pair<ValueId, ValueId> multipliers(int64_t count, double magnitude) {
    std::vector<int32_t> mult, shift;
    for (int64_t i = 0; i < count; ++i) {
      const numerics::Multiplier m = multiplier(magnitude);
      mult.push_back(m.mult);
      shift.push_back(m.shift);
    }
    return {constant(ir::make_i32({count}, mult)), constant(ir::make_i32({count}, shift))};
  }
  /// int64 bias whose values exceed 32 bits.
  ValueId bias(int64_t channels) {
    if (random_.chance(30)) return ir::kNoValue;
    ir::Tensor tensor = ir::zeros(DType::kI64, {channels});
    for (int64_t& b : tensor.data<int64_t>()) {
      b = random_.between(-(int64_t{1} << 40), int64_t{1} << 40);
    }
    return constant(std::move(tensor));
  }
  void set_clamp(Attrs* attrs) {
    if (random_.chance(40)) attrs->set(ir::attr::min, random_.between(-32768, 0));
    if (random_.chance(30)) attrs->set(ir::attr::max, random_.between(1, 32767));
  }
  std::vector<int64_t> pair(int64_t low, int64_t high) {
    return {random_.between(low, high), random_.between(low, high)};
  }

  void keep(OpKind kind, std::vector<ValueId> inputs, Attrs attrs) {
    const auto result = graph_.add(kind, std::move(inputs), std::move(attrs), {}, {});
    if (!result.ok() || type(*result).elements() > 4000 || type(*result).elements() == 0) return;
    values_.push_back(*result);
    ++made_;
  }

  void add_op() {
    const ValueId x = random_.chance(60) ? values_.back() : pick();
    const int64_t choice = random_.between(0, 19);
    if (choice == 0) return rescale(x, random_.chance(50));
    if (choice == 1) return softmax(x);
    if (!is_wide(x)) return;
    if (choice <= 3) return binary(x);
    if (choice <= 5) return rank(x) == 4 ? conv(x) : linear(x);
    if (choice == 6) return linear(x);
    if (choice == 7) return keep(OpKind::lut16, {x, random_constant(DType::kI16, {513})}, {});
    if (choice == 8) return pool(x);
    if (choice == 9) return mean(x);
    if (choice <= 11) return movement(x);
    if (choice == 12) return norm(x);
    if (choice == 13) return product(x);
    if (choice == 14) return prelu(x);
    if (choice == 19) return recurrent(x);
    if (rank(x) != 4) return norm(x);
    if (choice <= 16) return transposed(x);
    choice == 17 ? resize(x) : adaptive_pool(x);
  }

  void rescale(ValueId x, bool wide) {
    Attrs attrs;
    const bool from_wide = is_wide(x);
    if (!from_wide) attrs.set(ir::attr::x_zp, random_.between(-128, 127));
    if (!wide) attrs.set(ir::attr::y_zp, random_.between(-128, 127));
    attrs.set(ir::attr::wide, int64_t{wide ? 1 : 0});
    set_multiplier(&attrs, ir::attr::multiplier, wide == from_wide ? 1.0 : wide ? 200.0 : 0.005);
    keep(OpKind::rescale, {x}, std::move(attrs));
  }

  void softmax(ValueId x) {
    if (rank(x) == 0) return;
    const double scale = std::exp2(random_.real(-14, -2)) / (is_wide(x) ? 64 : 1);
    const numerics::Multiplier m = numerics::quantize_multiplier(scale * 0x1p26);
    if (m.shift < 0) return;
    const double least = -std::floor(std::ldexp(31.0 * 0x1p26, -m.shift));
    keep(OpKind::qsoftmax16, {x},
         {{ir::attr::dim, random_.between(0, static_cast<int64_t>(rank(x)) - 1)},
          {ir::attr::mult, int64_t{m.mult}},
          {ir::attr::shift, int64_t{m.shift}},
          {ir::attr::diff_min, static_cast<int64_t>(least)}});
  }

  void binary(ValueId x) {
    constexpr OpKind kKinds[] = {OpKind::qadd16, OpKind::qmul16, OpKind::qsub16};
    const OpKind kind = kKinds[random_.between(0, 2)];
    Shape shape = type(x).shape;
    for (int64_t& size : shape) size = random_.chance(20) ? 1 : size;
    ValueId other = pick();
    if (!is_wide(other) || type(other).shape != type(x).shape) {
      other = random_constant(DType::kI16, shape);
    }
    Attrs attrs;
    if (kind == OpKind::qmul16) {
      set_multiplier(&attrs, ir::attr::multiplier, 3e-5);
    } else {
      set_multiplier(&attrs, ir::attr::a_multiplier, 0.4);
      set_multiplier(&attrs, ir::attr::b_multiplier, 0.4);
      set_multiplier(&attrs, ir::attr::y_multiplier, 4e-5);
    }
    set_clamp(&attrs);
    if (random_.chance(50)) return keep(kind, {x, other}, std::move(attrs));
    keep(kind, {other, x}, std::move(attrs));
  }

  void conv(ValueId x) {
    const int64_t channels = type(x).shape[1];
    int64_t groups = 1, out = random_.between(1, 8);
    if (random_.chance(35)) {
      groups = channels;
      out = channels * random_.between(1, 2);
    }
    const std::vector<int64_t> kernel = pair(1, 3);
    const auto [mult, shift] = multipliers(random_.chance(80) ? out : 1, 1e-4);
    Attrs attrs = {
        {ir::attr::stride, pair(1, 2)},
        {ir::attr::padding, std::vector<int64_t>{random_.between(0, 2), random_.between(0, 2),
                                                 random_.between(0, 2), random_.between(0, 2)}},
        {ir::attr::dilation, pair(1, random_.chance(20) ? 2 : 1)},
        {ir::attr::groups, groups}};
    set_clamp(&attrs);
    const ValueId w = random_constant(DType::kI8, {out, channels / groups, kernel[0], kernel[1]});
    keep(OpKind::qconv2d16, {x, w, bias(out), mult, shift}, std::move(attrs));
  }

  void linear(ValueId x) {
    if (rank(x) == 0) return;
    const int64_t out = random_.between(1, 9);
    const auto [mult, shift] = multipliers(random_.chance(70) ? out : 1, 1e-4);
    Attrs attrs;
    set_clamp(&attrs);
    const ValueId w = random_constant(DType::kI8, {out, type(x).shape.back()});
    keep(OpKind::qlinear16, {x, w, bias(out), mult, shift}, std::move(attrs));
  }

  void pool(ValueId x) {
    if (rank(x) != 4) return;
    const bool average = random_.chance(50);
    Attrs attrs = {{ir::attr::kernel, pair(1, 3)},
                   {ir::attr::stride, pair(1, 2)},
                   {ir::attr::padding, std::vector<int64_t>{0, random_.between(0, 1), 0, 0}}};
    if (average) set_clamp(&attrs);
    if (!average) attrs.set(ir::attr::dilation, pair(1, 2));
    keep(average ? OpKind::qavg_pool2d16 : OpKind::max_pool2d16, {x}, std::move(attrs));
  }

  void adaptive_pool(ValueId x) {
    const bool average = random_.chance(50);
    Attrs attrs = {{ir::attr::size, pair(1, 7)}};
    if (average) {
      attrs.set(ir::attr::min, random_.between(-32768, 0));
      attrs.set(ir::attr::max, random_.between(1, 32767));
    }
    keep(average ? OpKind::qadaptive_avg_pool2d : OpKind::adaptive_max_pool2d, {x},
         std::move(attrs));
  }

  void resize(ValueId x) {
    std::vector<ValueId> operands = {x};
    for (const size_t side : {size_t{2}, size_t{3}}) {
      const int64_t count = random_.between(1, 8);
      std::vector<int32_t> low, weight;
      for (int64_t i = 0; i < count; ++i) {
        low.push_back(static_cast<int32_t>(random_.between(0, type(x).shape[side] - 1)));
        weight.push_back(static_cast<int32_t>(random_.between(0, 2048)));
      }
      operands.push_back(constant(ir::make_i32({count}, low)));
      operands.push_back(constant(ir::make_i32({count}, weight)));
    }
    keep(OpKind::qresize_bilinear, std::move(operands), {});
  }

  void transposed(ValueId x) {
    const int64_t channels = type(x).shape[1];
    const int64_t groups = random_.chance(35) ? channels : 1;
    const int64_t out = random_.between(1, 5);
    const std::vector<int64_t> kernel = pair(1, 3);
    const auto [mult, shift] = multipliers(random_.chance(80) ? out * groups : 1, 1e-4);
    Attrs attrs = {
        {ir::attr::stride, pair(1, 3)},
        {ir::attr::padding, std::vector<int64_t>{random_.between(0, 1), random_.between(0, 1),
                                                 random_.between(0, 1), random_.between(0, 1)}},
        {ir::attr::output_padding, pair(0, 1)},
        {ir::attr::dilation, pair(1, 2)},
        {ir::attr::groups, groups}};
    set_clamp(&attrs);
    const ValueId w = random_constant(DType::kI8, {channels, out, kernel[0], kernel[1]});
    keep(OpKind::qconv_transpose2d16, {x, w, bias(out * groups), mult, shift}, std::move(attrs));
  }

  void norm(ValueId x) {
    constexpr OpKind kKinds[] = {OpKind::qgroup_norm16, OpKind::qlayer_norm16, OpKind::qrms_norm16};
    const OpKind kind = kKinds[random_.between(0, 2)];
    const Shape& shape = type(x).shape;
    if (shape.size() < 2) return;
    Attrs attrs = {{ir::attr::int_eps, random_.between(0, 100000)},
                   {ir::attr::eps_shift, random_.between(0, 8)}};
    Shape entries = {shape[1]};
    if (kind == OpKind::qgroup_norm16) {
      attrs.set(ir::attr::groups, random_.chance(50) ? entries[0] : 1);
    } else {
      const int64_t dims = random_.between(1, static_cast<int64_t>(shape.size()));
      attrs.set(ir::attr::last_dims, dims);
      entries.assign(shape.end() - dims, shape.end());
    }
    std::vector<ValueId> operands = {x, ir::kNoValue};
    if (random_.chance(70)) operands[1] = random_constant(DType::kI16, entries);
    if (kind != OpKind::qrms_norm16) {
      ir::Tensor shifts = ir::zeros(DType::kI32, entries);
      for (int32_t& b : shifts.data<int32_t>()) {
        b = static_cast<int32_t>(random_.between(-100000, 100000));
      }
      operands.push_back(random_.chance(70) ? constant(std::move(shifts)) : ir::kNoValue);
    }
    set_multiplier(&attrs, ir::attr::multiplier, 0.15);
    set_clamp(&attrs);
    keep(kind, std::move(operands), std::move(attrs));
  }

  /// Multiplies x by itself or by any value of fitting shape, else by a constant.
  void product(ValueId x) {
    if (rank(x) < 2) return;
    const int64_t transpose_b = random_.between(0, 1);
    const int64_t depth = type(x).shape.back();
    ValueId other = random_.chance(50) ? x : pick();
    if (random_.chance(50) || !is_wide(other)) {
      const int64_t columns = random_.between(1, 6);
      other = random_constant(DType::kI16,
                              transpose_b != 0 ? Shape{columns, depth} : Shape{depth, columns});
    }
    Attrs attrs = {{ir::attr::transpose_b, transpose_b}};
    set_multiplier(&attrs, ir::attr::multiplier, 3e-5);
    set_clamp(&attrs);
    keep(OpKind::qmatmul16, {x, other}, std::move(attrs));
  }

  void prelu(ValueId x) {
    Shape slopes = type(x).shape;
    for (int64_t& size : slopes) size = random_.chance(50) ? 1 : size;
    if (!slopes.empty() && random_.chance(30)) slopes.erase(slopes.begin());
    ValueId other = pick();
    if (!is_wide(other) || type(other).shape != type(x).shape || random_.chance(50)) {
      other = random_constant(DType::kI16, slopes);
    }
    Attrs attrs;
    set_multiplier(&attrs, ir::attr::multiplier, 1.0);
    set_multiplier(&attrs, ir::attr::w_multiplier, 3e-5);
    set_clamp(&attrs);
    keep(OpKind::qprelu16, {x, other}, std::move(attrs));
  }

  void mean(ValueId x) {
    std::vector<int64_t> dims;
    for (size_t d = 0; d < rank(x); ++d) {
      if (random_.chance(50)) dims.push_back(static_cast<int64_t>(d));
    }
    Attrs attrs = {{ir::attr::dims, dims}, {ir::attr::keepdim, random_.between(0, 1)}};
    set_multiplier(&attrs, ir::attr::multiplier, 0.2);
    set_clamp(&attrs);
    keep(OpKind::qmean16, {x}, std::move(attrs));
  }

  ir::Tensor small_i32(int64_t count) {
    ir::Tensor tensor = ir::zeros(DType::kI32, {count});
    for (int32_t& value : tensor.data<int32_t>()) {
      value = static_cast<int32_t>(random_.between(-5000, 5000));
    }
    return tensor;
  }

  /// Returns a constant, or an existing value that is not a constant.
  ValueId state_of(const Shape& shape) {
    for (const ValueId value : values_) {
      if (is_wide(value) && type(value).shape == shape && random_.chance(50)) return value;
    }
    return random_constant(DType::kI16, shape);
  }

  /// Returns multipliers per gate or per row, entry 0 for x and entry 1 for h.
  std::pair<ValueId, ValueId> row_multipliers(int64_t gates, int64_t rows) {
    const int64_t entries = random_.chance(50) ? rows : gates;
    const auto [mult, shift] = multipliers(2 * entries, 2e-3);
    const auto paired = [&](ValueId id) {
      ir::Tensor tensor = *graph_.value(id).constant;
      tensor.shape = {2, entries};
      return constant(std::move(tensor));
    };
    return {paired(mult), paired(shift)};
  }

  /// Reads an image, plane after plane, as a sequence of rows.
  void recurrent(ValueId x) {
    if (rank(x) == 4 && type(x).shape[0] == 1) {
      const Shape& s = type(x).shape;
      keep(OpKind::reshape, {x}, {{ir::attr::shape, Shape{s[1], s[2], s[3]}}});
      x = values_.back();
    }
    if (rank(x) != 3 || !is_wide(x)) return;
    constexpr OpKind kKinds[] = {OpKind::qgru, OpKind::qlstm, OpKind::qrnn};
    const OpKind kind = kKinds[random_.between(0, 2)];
    const int64_t gates = kind == OpKind::qgru ? 3 : kind == OpKind::qlstm ? 4 : 1;
    const int64_t hidden = random_.between(1, 6), rows = gates * hidden;
    const Shape state = {1, type(x).shape[1], hidden};
    const int64_t inputs = type(x).shape[2];
    std::vector<ValueId> operands = {x, state_of(state)};
    Attrs attrs = {{ir::attr::reverse, random_.between(0, 1)},
                   {ir::attr::x_zp, int64_t{0}},
                   {ir::attr::h_zp, int64_t{0}}};
    const auto bits = static_cast<int>(random_.between(8, 15));
    const bool relu = random_.chance(50);
    if (kind == OpKind::qrnn) attrs.set(ir::attr::relu, int64_t{relu});
    set_multiplier(&attrs, ir::attr::h_multiplier,
                   kind == OpKind::qlstm  ? 0x1p-15
                   : kind == OpKind::qgru ? std::ldexp(1, 15 - bits)
                                          : 1.0);
    if (kind == OpKind::qgru) {
      attrs.set(ir::attr::h_bits, int64_t{bits});
      set_multiplier(&attrs, ir::attr::h0_multiplier, std::ldexp(1, bits - 15));
    }
    if (kind == OpKind::qlstm) {
      attrs.set(ir::attr::cell, random_.between(0, 2));
      attrs.set(ir::attr::c_bits, int64_t{bits});
      const bool narrow = random_.chance(30);
      operands.push_back(narrow ? random_constant(DType::kI8, state) : state_of(state));
      set_multiplier(&attrs, ir::attr::c0_multiplier, narrow ? std::ldexp(0.02, bits) : 1.0);
      set_multiplier(&attrs, ir::attr::y_multiplier, std::ldexp(20000.0, -bits));
    }
    operands.push_back(random_constant(DType::kI8, {rows, inputs}));
    operands.push_back(random_constant(DType::kI8, {rows, hidden}));
    for (int i = 0; i < (kind == OpKind::qgru ? 2 : 1); ++i) {
      operands.push_back(constant(small_i32(rows)));
    }
    const auto [mult, shift] = row_multipliers(gates, rows);
    operands.push_back(mult);
    operands.push_back(shift);
    ir::Tensor table = ir::zeros(DType::kI16, {513});
    for (int i = 0; i < 513; ++i) {
      table.data<int16_t>()[static_cast<size_t>(i)] =
          static_cast<int16_t>(std::lround(std::tanh((i - 256) / 32.0) * 32767));
    }
    operands.push_back(constant(std::move(table)));
    keep(kind, std::move(operands), std::move(attrs));
  }

  void movement(ValueId x) {
    const Shape& shape = type(x).shape;
    if (shape.empty()) return;
    const auto last = static_cast<int64_t>(shape.size()) - 1;
    const int64_t dim = random_.between(0, last);
    const int64_t size = shape[static_cast<size_t>(dim)];
    switch (random_.between(0, 4)) {
      case 0:
        return keep(OpKind::reshape, {x}, {{ir::attr::shape, Shape{type(x).elements()}}});
      case 1: {
        std::vector<int64_t> dims;
        for (int64_t d = last; d >= 0; --d) dims.push_back(d);
        return keep(OpKind::permute, {x}, {{ir::attr::dims, dims}});
      }
      case 2:
        return keep(OpKind::slice, {x},
                    {{ir::attr::dim, dim},
                     {ir::attr::start, random_.between(0, size - 1)},
                     {ir::attr::end, size}});
      case 3:
        return keep(OpKind::concat, {x, x}, {{ir::attr::dim, dim}});
      default: {
        std::vector<int64_t> before(shape.size(), 0), after(shape.size(), 0);
        before[static_cast<size_t>(dim)] = random_.between(0, 2);
        after[static_cast<size_t>(dim)] = random_.between(0, 2);
        return keep(OpKind::pad, {x},
                    {{ir::attr::before, before},
                     {ir::attr::after, after},
                     {ir::attr::value, static_cast<double>(random_.between(-1000, 1000))}});
      }
    }
  }

  Random random_;
  ir::Graph graph_;
  std::vector<ValueId> values_;
  int made_ = 0;
};

}  // namespace

ir::Graph random_wide_graph(uint64_t seed, int ops) {
  return Generator(seed).run(ops);
}

}  // namespace thimble::test
