// SPDX-License-Identifier: Apache-2.0
// Operators with sizes that the small random graphs do not contain.

#include <algorithm>
#include <cmath>
#include <iterator>

#include "../unit/ir_random_graph.h"
#include "ethos_u_cases.h"
#include "numerics/multiplier.h"

namespace thimble::test {

using ir::Attrs;
using ir::DType;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

namespace {

class Shaper {
 public:
  explicit Shaper(uint64_t seed) : random_(seed * 7919 + 1) {}

  ir::Graph run() {
    using Maker = void (Shaper::*)();
    static constexpr Maker kMakers[] = {&Shaper::conv,
                                        &Shaper::conv,
                                        &Shaper::grouped,
                                        &Shaper::transposed,
                                        &Shaper::linear,
                                        &Shaper::sum,
                                        &Shaper::sum,
                                        &Shaper::wide_sum,
                                        &Shaper::product,
                                        &Shaper::pool,
                                        &Shaper::pool,
                                        &Shaper::adaptive,
                                        &Shaper::mean,
                                        &Shaper::softmax,
                                        &Shaper::resize,
                                        &Shaper::matmul,
                                        &Shaper::table16,
                                        &Shaper::reduction,
                                        &Shaper::movement,
                                        &Shaper::cumsum,
                                        &Shaper::upsample,
                                        &Shaper::shuffle,
                                        &Shaper::split_and_concat};
    (this->*kMakers[between(0, static_cast<int64_t>(std::size(kMakers)) - 1)])();
    return std::move(graph_);
  }

 private:
  int64_t between(int64_t low, int64_t high) { return random_.between(low, high); }
  int64_t code() { return between(-128, 127); }
  ValueId input(const Shape& shape, DType dtype = DType::kI8) {
    ir::Type type = {dtype, shape, {}, {}};
    return graph_.add_input("x", type);
  }
  ValueId constant(ir::Tensor tensor) {
    return graph_.add_constant("c", std::make_shared<const ir::Tensor>(std::move(tensor)));
  }
  ValueId codes(const Shape& shape) { return constant(random_tensor(random_, DType::kI8, shape)); }
  void keep(OpKind kind, std::vector<ValueId> inputs, Attrs attrs) {
    auto y = graph_.add(kind, std::move(inputs), std::move(attrs));
    if (y.ok()) graph_.add_output(*y);
  }
  std::pair<ValueId, ValueId> multipliers(int64_t count, double magnitude) {
    std::vector<int32_t> mult, shift;
    for (int64_t i = 0; i < count; ++i) {
      const auto m = numerics::quantize_multiplier(magnitude * random_.real(0.2, 1.5));
      mult.push_back(m.mult);
      shift.push_back(m.shift);
    }
    return {constant(ir::make_i32({count}, mult)), constant(ir::make_i32({count}, shift))};
  }
  ValueId bias(int64_t count) {
    std::vector<int32_t> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<int32_t>(between(-9000, 9000)));
    return constant(ir::make_i32({count}, values));
  }
  void scale(Attrs* attrs, const ir::MultiplierKeys& keys, double real) {
    const auto m = numerics::quantize_multiplier(real);
    attrs->set(keys.mult, int64_t{m.mult});
    attrs->set(keys.shift, int64_t{m.shift});
  }
  void clamps(Attrs* attrs) {
    attrs->set(ir::attr::min, random_.chance(50) ? int64_t{-128} : between(-128, 0));
    attrs->set(ir::attr::max, random_.chance(50) ? int64_t{127} : between(1, 127));
  }
  std::vector<int64_t> pair(int64_t low, int64_t high) {
    return {between(low, high), between(low, high)};
  }

  void weighted(OpKind kind, ValueId x, const Shape& weights, int64_t channels, Attrs attrs) {
    const auto terms = static_cast<double>(ir::element_count(weights) / channels);
    const auto [mult, shift] =
        multipliers(random_.chance(60) ? channels : 1, 0.02 / std::sqrt(terms));
    attrs.set(ir::attr::x_zp, code());
    attrs.set(ir::attr::y_zp, code());
    attrs.set(ir::attr::rounding, between(0, 1));
    clamps(&attrs);
    const ValueId b = random_.chance(70) ? bias(channels) : ir::kNoValue;
    keep(kind, {x, codes(weights), b, mult, shift}, attrs);
  }
  Attrs window(int64_t stride, int64_t dilation, int64_t pad) {
    Attrs attrs;
    attrs.set(ir::attr::stride, pair(1, stride));
    attrs.set(ir::attr::padding, std::vector<int64_t>{between(0, pad), between(0, pad),
                                                      between(0, pad), between(0, pad)});
    attrs.set(ir::attr::dilation, pair(1, dilation));
    return attrs;
  }
  void conv() {
    const int64_t in = between(1, 40), out = between(1, 40);
    const ValueId x = input({between(1, 2), in, between(5, 20), between(5, 20)});
    weighted(OpKind::qconv2d, x, {out, in, between(1, 7), between(1, 7)}, out,
             window(random_.chance(20) ? 6 : 3, random_.chance(25) ? 4 : 2, 3));
  }
  void grouped() {
    const bool depthwise = random_.chance(60);
    const int64_t groups = between(2, 36), in = depthwise ? 1 : between(1, 5),
                  out = depthwise && random_.chance(70) ? 1 : between(1, 4);
    const ValueId x = input({1, in * groups, between(5, 14), between(5, 14)});
    Attrs attrs = window(3, 2, 2);
    attrs.set(ir::attr::groups, groups);
    weighted(OpKind::qconv2d, x, {out * groups, in, between(1, 5), between(1, 5)}, out * groups,
             attrs);
  }
  void transposed() {
    const int64_t groups = random_.chance(30) ? between(2, 6) : 1;
    const int64_t in = between(1, 20), out = between(1, 12);
    const ValueId x = input({1, in * groups, between(1, 9), between(1, 9)});
    Attrs attrs = window(4, 2, 2);
    attrs.set(ir::attr::groups, groups);
    attrs.set(ir::attr::output_padding, pair(0, 1));
    const Shape weights = {in * groups, out, between(1, 5), between(1, 5)};
    weighted(OpKind::qconv_transpose2d, x, weights, out * groups, attrs);
  }
  void linear() {
    const int64_t in = between(1, 300), out = between(1, 70);
    const ValueId x = input(random_.chance(50) ? Shape{between(1, 20), in}
                                               : Shape{between(1, 3), between(1, 9), in});
    weighted(OpKind::qlinear, x, {out, in}, out, {});
  }
  std::pair<Shape, Shape> broadcast() {
    Shape a = {1, between(1, 40), between(1, 9), between(1, 9)}, b = a;
    if (random_.chance(50)) return {a, b};
    for (size_t i = 0; i < 4; ++i) {
      if (random_.chance(30)) (random_.chance(50) ? a : b)[i] = 1;
    }
    return {a, b};
  }
  /// Scales of a sum as in LiteRT: one operand is scaled by exactly 1/2.
  Attrs sum_scales(int spare) {
    const double a = random_.real(0.001, 0.2),
                 b = random_.chance(20) ? a : random_.real(0.001, 0.2);
    const double both = 2 * std::max(a, b);
    Attrs attrs;
    scale(&attrs, ir::attr::a_multiplier, a / both);
    scale(&attrs, ir::attr::b_multiplier, b / both);
    scale(&attrs, ir::attr::y_multiplier, both / (std::exp2(spare) * random_.real(0.1, 0.3)));
    return attrs;
  }
  void sum() {
    const auto [a, b] = broadcast();
    Attrs attrs = sum_scales(20);
    for (const auto key : {ir::attr::a_zp, ir::attr::b_zp, ir::attr::y_zp}) attrs.set(key, code());
    attrs.set(ir::attr::rounding, between(0, 1));
    clamps(&attrs);
    const ValueId second = random_.chance(30) ? codes(b) : input(b);
    keep(random_.chance(50) ? OpKind::qadd : OpKind::qsub, {input(a), second}, attrs);
  }
  void wide_sum() {
    const auto [a, b] = broadcast();
    keep(random_.chance(50) ? OpKind::qadd16 : OpKind::qsub16,
         {input(a, DType::kI16), input(b, DType::kI16)}, sum_scales(15));
  }
  void product() {
    const auto [a, b] = broadcast();
    Attrs attrs;
    scale(&attrs, ir::attr::multiplier, random_.real(0.001, 0.02));
    attrs.set(ir::attr::a_zp, random_.chance(20) ? between(-3000, 3000) : code());
    attrs.set(ir::attr::b_zp, code());
    attrs.set(ir::attr::y_zp, code());
    attrs.set(ir::attr::rounding, between(0, 1));
    clamps(&attrs);
    keep(OpKind::qmul, {input(a), random_.chance(30) ? codes(b) : input(b)}, attrs);
  }
  void pool() {
    const bool wide = random_.chance(30), largest = random_.chance(50);
    const int64_t size = random_.chance(30) ? 13 : 4;
    const auto kernel = pair(1, size);
    Attrs attrs;
    attrs.set(ir::attr::kernel, kernel);
    attrs.set(ir::attr::stride, pair(1, random_.chance(20) ? 7 : 3));
    const auto pad = [&](size_t i) { return between(0, std::min<int64_t>(kernel[i] / 2, 2)); };
    attrs.set(ir::attr::padding, std::vector<int64_t>{pad(0), pad(1), pad(0), pad(1)});
    if (largest) attrs.set(ir::attr::dilation, pair(1, random_.chance(25) ? 3 : 1));
    const ValueId x = input({between(1, 2), between(1, 40), between(13, 18), between(13, 18)},
                            wide ? DType::kI16 : DType::kI8);
    keep(largest ? (wide ? OpKind::max_pool2d16 : OpKind::max_pool2d)
                 : (wide ? OpKind::qavg_pool2d16 : OpKind::qavg_pool2d),
         {x}, attrs);
  }
  void adaptive() {
    const ValueId x = input({1, between(1, 24), between(4, 15), between(4, 15)});
    Attrs attrs;
    attrs.set(ir::attr::size, pair(1, 5));
    keep(random_.chance(50) ? OpKind::qadaptive_avg_pool2d : OpKind::adaptive_max_pool2d, {x},
         attrs);
  }
  std::vector<int64_t> some_dims(size_t rank) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < rank; ++i) {
      if (random_.chance(50)) dims.push_back(static_cast<int64_t>(i));
    }
    if (dims.empty()) dims.push_back(between(0, static_cast<int64_t>(rank) - 1));
    return dims;
  }
  Shape some_shape() {
    if (random_.chance(40)) return {1, between(1, 40), between(1, 12), between(1, 12)};
    if (random_.chance(50)) return {between(1, 20), between(1, 70)};
    return {between(1, 4), between(1, 20), between(1, 40)};
  }
  void mean() {
    Attrs attrs;
    const bool is_tall = random_.chance(20);  // more rows than a kernel has
    const Shape shape =
        is_tall ? Shape{1, between(1, 8), between(65, 120), between(1, 16)} : some_shape();
    attrs.set(ir::attr::dims, is_tall ? std::vector<int64_t>{2, 3} : some_dims(shape.size()));
    attrs.set(ir::attr::keepdim, between(0, 1));
    attrs.set(ir::attr::x_zp, code());
    attrs.set(ir::attr::y_zp, code());
    attrs.set(ir::attr::rounding, between(0, 1));
    scale(&attrs, ir::attr::multiplier, random_.real(0.001, 0.1));
    keep(OpKind::qmean, {input(shape)}, attrs);
  }
  void reduction() {
    const Shape shape = some_shape();
    Attrs attrs;
    attrs.set(ir::attr::dims, some_dims(shape.size()));
    attrs.set(ir::attr::keepdim, between(0, 1));
    keep(random_.chance(50) ? OpKind::amax : OpKind::amin, {input(shape)}, attrs);
  }
  void softmax() {
    Shape shape = some_shape();
    const int64_t dim = between(0, static_cast<int64_t>(shape.size()) - 1);
    if (random_.chance(30)) shape[static_cast<size_t>(dim)] = between(500, 1100);
    if (ir::element_count(shape) > 60000) return;
    const auto m = numerics::quantize_multiplier(
        std::min(random_.real(0.005, 0.3) * std::exp2(26), std::exp2(31) - 1));
    Attrs attrs;
    attrs.set(ir::attr::dim, dim);
    attrs.set(ir::attr::mult, int64_t{m.mult});
    attrs.set(ir::attr::shift, int64_t{m.shift});
    attrs.set(ir::attr::diff_min, -(int64_t{31} << 26 >> m.shift));
    constexpr OpKind kKinds[] = {OpKind::qsoftmax, OpKind::qsoftmax16, OpKind::qmasked_softmax};
    keep(kKinds[between(0, 2)], {input(shape)}, attrs);
  }
  /// Resizes by 1/2, 1, 2, 4 or 8, with centres aligned as in PyTorch.
  void resize() {
    const double factor = std::exp2(static_cast<double>(between(-1, 3)));
    const auto axis = [&](int64_t in) {
      const auto out = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(in) * factor));
      std::vector<int32_t> low, weight;
      for (int64_t i = 0; i < out; ++i) {
        const double at = std::max(0.0, (static_cast<double>(i) + 0.5) / factor - 0.5);
        const auto below = std::min(static_cast<int32_t>(at), static_cast<int32_t>(in) - 1);
        low.push_back(below);
        weight.push_back(static_cast<int32_t>(std::min(at - below, 1.0) * 2048 + 0.5));
      }
      return std::pair(constant(ir::make_i32({out}, low)), constant(ir::make_i32({out}, weight)));
    };
    const Shape shape = {1, between(1, 20), between(2, 6), between(2, 6)};
    const ValueId x = input(shape, random_.chance(30) ? DType::kI16 : DType::kI8);
    const auto [h_low, h_weight] = axis(shape[2]);
    const auto [w_low, w_weight] = axis(shape[3]);
    keep(OpKind::qresize_bilinear, {x, h_low, h_weight, w_low, w_weight}, {});
  }
  void matmul() {
    Shape a = {between(1, 2), between(1, 3), between(1, 20), between(1, 40)}, b = a;
    if (random_.chance(40)) b[0] = 1;
    const bool transposed = random_.chance(50);
    b[transposed ? 2 : 3] = between(1, 20);
    if (!transposed) b[2] = a[3];
    if (random_.chance(30)) b = {b[2], b[3]};
    Attrs attrs;
    attrs.set(ir::attr::transpose_b, int64_t{transposed});
    for (const auto key : {ir::attr::a_zp, ir::attr::b_zp, ir::attr::y_zp}) attrs.set(key, code());
    attrs.set(ir::attr::rounding, between(0, 1));
    scale(&attrs, ir::attr::multiplier, random_.real(0.0005, 0.005));
    keep(OpKind::qmatmul, {input(a), input(b)}, attrs);
  }
  void table16() {
    ir::Tensor table = ir::zeros(DType::kI16, {513});
    const double steep = random_.real(0.5, 40);
    for (size_t i = 0; i < 513; ++i) {
      const double x = (static_cast<double>(i) - 256) / 256;
      table.data<int16_t>()[i] = static_cast<int16_t>(32000 * std::tanh(steep * x));
    }
    keep(OpKind::lut16, {input(some_shape(), DType::kI16), constant(std::move(table))}, {});
  }
  void cumsum() {
    const Shape shape = some_shape();
    Attrs attrs;
    attrs.set(ir::attr::dim, between(0, static_cast<int64_t>(shape.size()) - 1));
    attrs.set(ir::attr::x_zp, code());
    attrs.set(ir::attr::y_zp, code());
    scale(&attrs, ir::attr::multiplier, random_.real(0.001, 0.1));
    keep(OpKind::qcumsum, {input(shape)}, attrs);
  }
  /// Nearest-neighbour upsampling as imported: rows and columns are gathered several times.
  void upsample() {
    const Shape shape = {between(1, 2), between(1, 40), between(1, 9), between(1, 9)};
    ValueId x = input(shape, random_.chance(30) ? DType::kI16 : DType::kI8);
    const int64_t times = random_.chance(60) ? 2 : 3;
    const int64_t first = between(2, 3);
    for (const int64_t dim : {first, 5 - first}) {
      std::vector<int32_t> index;
      for (int64_t i = 0; i < shape[static_cast<size_t>(dim)] * times; ++i) {
        index.push_back(static_cast<int32_t>(i / times));
      }
      const auto size = static_cast<int64_t>(index.size());
      auto y = graph_.add(OpKind::gather, {x, constant(ir::make_i32({size}, index))},
                          {{ir::attr::dim, dim}});
      if (!y.ok()) return;
      x = *y;
    }
    graph_.add_output(x);
  }
  /// Interleaves the channels of the groups (channel shuffle).
  void shuffle() {
    const int64_t groups = between(2, 5), each = between(2, 12), h = between(2, 9);
    const int64_t w = between(8, 12);
    const ValueId x =
        input({1, groups * each, h, w}, random_.chance(30) ? DType::kI16 : DType::kI8);
    auto split = graph_.add(OpKind::reshape, {x},
                            {{ir::attr::shape, std::vector<int64_t>{1, groups, each, h, w}}});
    auto turned = graph_.add(OpKind::permute, {*split},
                             {{ir::attr::dims, std::vector<int64_t>{0, 2, 1, 3, 4}}});
    keep(OpKind::reshape, {*turned},
         {{ir::attr::shape, std::vector<int64_t>{1, groups * each, h, w}}});
  }
  /// Splits a value into parts and concatenates the parts and one more value.
  void split_and_concat() {
    const Shape shape = {1, between(2, 40), between(1, 9), between(1, 9)};
    const ValueId x = input(shape), y = input(shape);
    Attrs sum = sum_scales(20);
    for (const auto key : {ir::attr::a_zp, ir::attr::b_zp, ir::attr::y_zp}) sum.set(key, code());
    clamps(&sum);
    const ValueId whole = *graph_.add(OpKind::qadd, {x, y}, sum);
    const int64_t cut = between(1, shape[1] - 1);
    const ValueId low = *graph_.add(
        OpKind::slice, {whole},
        {{ir::attr::dim, int64_t{1}}, {ir::attr::start, int64_t{0}}, {ir::attr::end, cut}});
    const ValueId high = *graph_.add(
        OpKind::slice, {whole},
        {{ir::attr::dim, int64_t{1}}, {ir::attr::start, cut}, {ir::attr::end, shape[1]}});
    const ValueId more = *graph_.add(OpKind::maximum, {high, high}, {});
    keep(OpKind::concat, {low, high, more}, {{ir::attr::dim, int64_t{1}}});
  }
  void movement() {
    const Shape shape = {1, between(1, 40), between(1, 12), between(1, 12)};
    constexpr DType kTypes[] = {DType::kI8, DType::kI16, DType::kI32};
    const ValueId x = input(shape, kTypes[between(0, 2)]);
    Attrs attrs;
    if (random_.chance(50)) {
      std::vector<int64_t> dims = {0, 1, 2, 3};
      for (size_t i = 4; i > 1; --i) {
        std::swap(dims[i - 1], dims[static_cast<size_t>(between(0, static_cast<int64_t>(i) - 1))]);
      }
      attrs.set(ir::attr::dims, dims);
      return keep(OpKind::permute, {x}, attrs);
    }
    attrs.set(ir::attr::shape, std::vector<int64_t>{shape[0] * shape[1], shape[2] * shape[3]});
    keep(OpKind::reshape, {x}, attrs);
  }

  Random random_;
  ir::Graph graph_;
};

}  // namespace

ir::Graph operator_near_limits(uint64_t seed) {
  return Shaper(seed).run();
}

}  // namespace thimble::test
