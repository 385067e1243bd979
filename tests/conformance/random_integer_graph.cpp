#include "random_integer_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../unit/ir_random_graph.h"
#include "ir/dce.h"
#include "ir/infer.h"
#include "numerics/multiplier.h"

namespace thimble::test {
namespace {

using ir::Attrs;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

class Generator {
 public:
  Generator(uint64_t seed, const IntegerGraphOptions& options) : random_(seed), options_(options) {}

  ir::Graph run() {
    const int inputs = random_.chance(25) ? 2 : 1;
    for (int i = 0; i < inputs; ++i) add_input(i);
    const int64_t states = random_.chance(35) ? random_.between(1, 3) : 0;
    for (int64_t i = 0; i < states; ++i) add_state();
    for (int tries = 0; made_ < options_.ops && tries < options_.ops * 20; ++tries) add_op();
    update_states();
    add_outputs();
    return ir::remove_unused(graph_);
  }

 private:
  ir::Quant quant() {
    const double scale = static_cast<float>(std::exp2(random_.real(-6, 0)));
    return ir::per_tensor(scale, static_cast<int32_t>(random_.between(-128, 127)));
  }
  ir::DimOrder maybe_channels_last(const Shape& shape) {
    return shape.size() == 4 && random_.chance(30) ? ir::channels_last_order() : ir::DimOrder{};
  }

  void add_input(int i) {
    Shape shape = {1, random_.between(1, 6), random_.between(1, 7), random_.between(1, 7)};
    if (random_.chance(15)) shape = {random_.between(1, 3), random_.between(1, 12)};
    if (random_.chance(10))
      shape = {random_.between(1, 2), random_.between(1, 5), random_.between(1, 6)};
    if (random_.chance(10)) shape[0] = 2;
    ir::Type type = {ir::DType::kI8, shape, maybe_channels_last(shape), quant()};
    const bool is_float = random_.chance(60);
    if (is_float) {
      type.dtype = ir::DType::kF32;
      type.quant.reset();
    }
    ValueId value = graph_.add_input("x" + std::to_string(i), type);
    if (is_float) {
      const ir::Quant q = quant();
      value = *graph_.add(OpKind::quantize, {value},
                          {{"scale", q.scale[0]}, {"zero_point", int64_t{q.zero_point[0]}}});
    }
    values_.push_back(value);
  }

  /// Often of the shape of one that exists, so that they can be exchanged.
  void add_state() {
    const Shape like = shape(pick());
    ir::Tensor content = ir::zeros(ir::DType::kI8, like);
    if (random_.chance(60)) content = random_tensor(random_, ir::DType::kI8, like);
    values_.push_back(graph_.add_state("s", std::make_shared<const ir::Tensor>(std::move(content)),
                                       ir::per_tensor(0.5, 3)));
  }

  /// What each state becomes: any value of its shape, through a table if the scale is another.
  void update_states() {
    for (size_t i = 0; i < graph_.states().size(); ++i) {
      const ValueId state = graph_.states()[i].value;
      std::vector<ValueId> fitting;
      for (const ValueId value : values_) {
        if (shape(value) == shape(state)) fitting.push_back(value);
      }
      ValueId next = fitting[static_cast<size_t>(
          random_.between(0, static_cast<int64_t>(fitting.size()) - 1))];
      if (graph_.type(next).quant != graph_.type(state).quant) {
        ir::Graph::ResultHint hint;
        hint.quant = graph_.type(state).quant;
        next = *graph_.add(OpKind::lut, {next, codes({256})}, {}, {}, hint);
      }
      graph_.set_next(i, next);
    }
  }

  void add_outputs() {
    const int count = random_.chance(30) ? 2 : 1;
    for (int i = 0; i < count; ++i) {
      ValueId value = i == 0 ? values_.back() : pick();
      if (random_.chance(60)) {
        const ir::Quant q = quant();
        value = *graph_.add(OpKind::dequantize, {value},
                            {{"scale", q.scale[0]}, {"zero_point", int64_t{q.zero_point[0]}}});
      }
      if (!graph_.is_input(value) && !graph_.is_state(value)) {
        graph_.value(value).type.dim_order = maybe_channels_last(graph_.type(value).shape);
      }
      graph_.add_output(value);
    }
    if (!masks_.empty() && random_.chance(30)) graph_.add_output(masks_.back());
  }

  ValueId pick() {
    return values_[static_cast<size_t>(
        random_.between(0, static_cast<int64_t>(values_.size()) - 1))];
  }
  /// Later values more often, so that graphs are deep.
  ValueId pick_recent() { return random_.chance(60) ? values_.back() : pick(); }
  const Shape& shape(ValueId value) { return graph_.type(value).shape; }
  int64_t code() { return random_.between(-128, 127); }

  ValueId constant(ir::Tensor tensor) {
    return graph_.add_constant("c", std::make_shared<const ir::Tensor>(std::move(tensor)));
  }
  ValueId codes(const Shape& shape) {
    return constant(random_tensor(random_, ir::DType::kI8, shape));
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
  void set_clamp(Attrs* attrs) {
    int64_t low = -128, high = 127;
    if (random_.chance(40)) low = random_.between(-128, 0);
    if (random_.chance(30)) high = random_.between(1, 127);
    attrs->set("min", low);
    attrs->set("max", high);
  }

  bool keep(OpKind kind, std::vector<ValueId> inputs, Attrs attrs, bool fresh_quant) {
    ir::Graph::ResultHint hint;
    if (fresh_quant) hint.quant = quant();
    Result<ValueId> result = graph_.add(kind, std::move(inputs), std::move(attrs), {}, hint);
    if (!result.ok()) return false;
    if (graph_.type(*result).elements() > 4000 || graph_.type(*result).elements() == 0)
      return false;
    values_.push_back(*result);
    ++made_;
    return true;
  }

  void add_op() {
    static constexpr OpKind kKinds[] = {OpKind::qconv2d,
                                        OpKind::qconv2d,
                                        OpKind::qconv2d,
                                        OpKind::qlinear,
                                        OpKind::qadd,
                                        OpKind::qsub,
                                        OpKind::qmul,
                                        OpKind::lut,
                                        OpKind::reshape,
                                        OpKind::permute,
                                        OpKind::slice,
                                        OpKind::concat,
                                        OpKind::pad,
                                        OpKind::expand,
                                        OpKind::copy,
                                        OpKind::qavg_pool2d,
                                        OpKind::max_pool2d,
                                        OpKind::qmean,
                                        OpKind::qsoftmax,
                                        OpKind::qlog_softmax,
                                        OpKind::qgru,
                                        OpKind::qlstm,
                                        OpKind::qrnn,
                                        OpKind::qmatmul,
                                        OpKind::gather,
                                        OpKind::gather_elements,
                                        OpKind::qmasked_softmax,
                                        OpKind::amax,
                                        OpKind::amin,
                                        OpKind::argmax,
                                        OpKind::qcumsum,
                                        OpKind::qvariance,
                                        OpKind::qlayer_norm,
                                        OpKind::qgroup_norm,
                                        OpKind::qrms_norm};
    static constexpr OpKind kChoices[] = {OpKind::compare, OpKind::logical_not, OpKind::maximum,
                                          OpKind::minimum, OpKind::qdiv,        OpKind::qprelu,
                                          OpKind::where};
    if (options_.stock_only && random_.chance(15)) return stock_choice(pick_recent());
    if (!options_.stock_only && random_.chance(15)) {
      return choice(kChoices[random_.between(0, static_cast<int64_t>(std::size(kChoices)) - 1)],
                    pick_recent());
    }
    const OpKind kind = kKinds[random_.between(0, static_cast<int64_t>(std::size(kKinds)) - 1)];
    const ValueId x = pick_recent();
    if (shape(x).empty() && kind != OpKind::lut) return;
    if (!options_.stock_only && random_.chance(25)) return image(x);
    make(kind, x);
  }

  void make(OpKind kind, ValueId x) {
    switch (kind) {
      case OpKind::qconv2d:
        conv(x);
        break;
      case OpKind::qlinear:
        linear(x);
        break;
      case OpKind::qadd:
      case OpKind::qsub:
      case OpKind::qmul:
        binary(kind, x);
        break;
      case OpKind::lut:
        keep(kind, {x, codes({256})}, {}, true);
        break;
      case OpKind::qavg_pool2d:
      case OpKind::max_pool2d:
        pool(kind, x);
        break;
      case OpKind::amax:
      case OpKind::amin:
      case OpKind::qmean:
      case OpKind::qvariance:
        reduction(kind, x);
        break;
      case OpKind::argmax:
      case OpKind::qcumsum:
        along_dim(kind, x);
        break;
      case OpKind::qlayer_norm:
      case OpKind::qgroup_norm:
      case OpKind::qrms_norm:
        norm(kind, x);
        break;
      case OpKind::qmasked_softmax:
      case OpKind::qsoftmax:
      case OpKind::qlog_softmax:
        softmax(kind, x);
        break;
      case OpKind::qgru:
      case OpKind::qlstm:
      case OpKind::qrnn:
        recurrent(kind, x);
        break;
      case OpKind::qmatmul:
        product(x);
        break;
      case OpKind::gather:
      case OpKind::gather_elements:
        gathered(kind, x);
        break;
      default:
        movement(kind, x);
    }
  }

  std::vector<int64_t> pair(int64_t low, int64_t high) {
    return {random_.between(low, high), random_.between(low, high)};
  }
  std::vector<int64_t> padding() {
    const std::vector<int64_t> p = pair(0, 2);
    if (random_.chance(60)) return {p[0], p[1], p[0], p[1]};
    return {p[0], p[1], random_.between(0, 2), random_.between(0, 2)};
  }

  void conv(ValueId x) {
    if (shape(x).size() != 4) return;
    const int64_t channels = shape(x)[1];
    int64_t groups = 1, out = random_.between(1, 8);
    if (random_.chance(35)) {
      groups = channels;
      out = channels * random_.between(1, 2);
    } else if (channels % 2 == 0 && random_.chance(20)) {
      groups = 2;
      out = 2 * random_.between(1, 3);
    }
    const std::vector<int64_t> kernel = pair(1, 3);
    const Shape weights = {out, channels / groups, kernel[0], kernel[1]};
    const auto [mult, shift] = multipliers(random_.chance(80) ? out : 1, 0.02);
    const ValueId bias = random_.chance(70) ? constant(small_i32(out)) : ir::kNoValue;
    Attrs attrs = {{"stride", pair(1, 2)},
                   {"padding", padding()},
                   {"dilation", pair(1, random_.chance(20) ? 2 : 1)},
                   {"groups", groups},
                   {"x_zp", code()},
                   {"y_zp", code()}};
    set_clamp(&attrs);
    keep(OpKind::qconv2d, {x, codes(weights), bias, mult, shift}, std::move(attrs), true);
  }

  void image(ValueId x) {
    if (shape(x).size() != 4) return;
    switch (random_.between(0, 4)) {
      case 0:
        return conv_transpose(x);
      case 1: {
        Attrs attrs = {{"size", pair(1, 6)}};
        set_clamp(&attrs);
        keep(OpKind::qadaptive_avg_pool2d, {x}, std::move(attrs), false);
        return;
      }
      case 2:
        keep(OpKind::adaptive_max_pool2d, {x}, {{"size", pair(1, 6)}}, false);
        return;
      case 3:
        return resize(x);
      default:
        return rearrange(x);
    }
  }

  void conv_transpose(ValueId x) {
    const int64_t channels = shape(x)[1];
    const int64_t groups = random_.chance(40) ? channels : 1;
    const int64_t out = random_.between(1, 5);
    const std::vector<int64_t> kernel = pair(1, 3);
    const auto [mult, shift] = multipliers(random_.chance(80) ? out * groups : 1, 0.02);
    const ValueId bias = random_.chance(70) ? constant(small_i32(out * groups)) : ir::kNoValue;
    Attrs attrs = {{"stride", pair(1, 3)},
                   {"padding", padding()},
                   {"output_padding", pair(0, random_.chance(30) ? 1 : 0)},
                   {"dilation", pair(1, random_.chance(20) ? 3 : 1)},
                   {"groups", groups},
                   {"x_zp", code()},
                   {"y_zp", code()}};
    set_clamp(&attrs);
    const ValueId weights = codes({channels, out, kernel[0], kernel[1]});
    keep(OpKind::qconv_transpose2d, {x, weights, bias, mult, shift}, std::move(attrs), true);
  }

  void resize(ValueId x) {
    std::vector<ValueId> operands = {x};
    for (const size_t side : {size_t{2}, size_t{3}}) {
      const int64_t count = random_.between(1, 8);
      std::vector<int32_t> low, weight;
      for (int64_t i = 0; i < count; ++i) {
        low.push_back(static_cast<int32_t>(random_.between(0, shape(x)[side] - 1)));
        weight.push_back(static_cast<int32_t>(random_.between(0, 2048)));
      }
      operands.push_back(constant(ir::make_i32({count}, low)));
      operands.push_back(constant(ir::make_i32({count}, weight)));
    }
    keep(OpKind::qresize_bilinear, std::move(operands), {}, false);
  }

  /// Elements of one dimension in another order, or more than four dimensions exchanged.
  void rearrange(ValueId x) {
    const Shape from = shape(x);
    if (random_.chance(50)) {
      const int64_t dim = random_.between(0, 3);
      const int64_t size = from[static_cast<size_t>(dim)];
      std::vector<int32_t> index;
      for (int64_t i = random_.between(1, 6); i > 0; --i) {
        index.push_back(static_cast<int32_t>(random_.between(0, size - 1)));
      }
      const auto count = static_cast<int64_t>(index.size());
      keep(OpKind::gather, {x, constant(ir::make_i32({count}, index))}, {{"dim", dim}}, false);
      return;
    }
    const int64_t r = from[1] % 4 == 0 ? 2 : 1;  // a pixel shuffle
    if (!keep(OpKind::reshape, {x},
              {{"shape", Shape{from[0], from[1] / (r * r), r, r, from[2], from[3]}}}, false))
      return;
    if (!keep(OpKind::permute, {values_.back()}, {{"dims", Shape{0, 1, 4, 2, 5, 3}}}, false))
      return;
    keep(OpKind::reshape, {values_.back()},
         {{"shape", Shape{from[0], from[1] / (r * r), from[2] * r, from[3] * r}}}, false);
  }

  ir::Tensor small_i32(int64_t count) {
    std::vector<int32_t> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<int32_t>(random_.between(-5000, 5000)));
    return ir::make_i32({count}, values);
  }

  void linear(ValueId x) {
    const int64_t in = shape(x).back();
    const int64_t out = random_.between(1, 10);
    const auto [mult, shift] = multipliers(random_.chance(50) ? out : 1, 0.02);
    const ValueId bias = random_.chance(70) ? constant(small_i32(out)) : ir::kNoValue;
    Attrs attrs = {{"x_zp", code()}, {"y_zp", code()}};
    set_clamp(&attrs);
    keep(OpKind::qlinear, {x, codes({out, in}), bias, mult, shift}, std::move(attrs), true);
  }

  ValueId second_operand(ValueId x) {
    if (random_.chance(25)) {
      Shape small = shape(x);
      for (int64_t& size : small) {
        if (random_.chance(50)) size = 1;
      }
      if (!small.empty() && random_.chance(30)) small.erase(small.begin());
      return codes(small);
    }
    std::vector<ValueId> fitting;
    for (const ValueId value : values_) {
      if (shape(value) == shape(x)) fitting.push_back(value);
    }
    if (random_.chance(30)) return pick();
    return fitting[static_cast<size_t>(
        random_.between(0, static_cast<int64_t>(fitting.size()) - 1))];
  }

  void binary(OpKind kind, ValueId x) {
    const ValueId other = second_operand(x);
    Attrs attrs = {{"a_zp", code()}, {"b_zp", code()}, {"y_zp", code()}};
    const auto put = [&](const std::string& prefix, double real) {
      const auto m = numerics::quantize_multiplier(real);
      attrs.set(prefix + "mult", int64_t{m.mult});
      attrs.set(prefix + "shift", int64_t{m.shift});
    };
    if (kind == OpKind::qmul) {
      put("", random_.real(0.001, 0.1));
    } else {
      put("a_", random_.real(0.05, 0.5));
      put("b_", random_.real(0.05, 0.5));
      put("y_", random_.real(0.5, 3) / (1 << 20));
    }
    set_clamp(&attrs);
    const bool swap = random_.chance(30);
    keep(kind, swap ? std::vector<ValueId>{other, x} : std::vector<ValueId>{x, other},
         std::move(attrs), true);
  }

  /// Another value with x's meaning of codes, so that they may be mixed.
  ValueId comparable(ValueId x) {
    const ValueId other = second_operand(x);
    if (graph_.value(other).constant) return other;
    ir::Graph::ResultHint hint;
    hint.quant = graph_.type(x).quant;
    return *graph_.add(OpKind::lut, {other, codes({256})}, {}, {}, hint);
  }

  /// A bool that broadcasts with x, new or one of before.
  ValueId mask(ValueId x) {
    if (!masks_.empty() && random_.chance(40)) {
      const ValueId known =
          masks_[static_cast<size_t>(random_.between(0, static_cast<int64_t>(masks_.size()) - 1))];
      if (ir::broadcast_shape(shape(known), shape(x))) return known;
    }
    if (random_.chance(20)) {
      return constant(random_tensor(random_, ir::DType::kBool, shape(x)));
    }
    const auto compared =
        graph_.add(OpKind::compare, {x, comparable(x)}, {{"relation", random_.between(0, 5)}});
    const bool fits = compared.ok() && graph_.type(*compared).elements() <= 4000;
    if (fits) masks_.push_back(*compared);
    return fits ? *compared : constant(random_tensor(random_, ir::DType::kBool, {}));
  }

  void choice(OpKind kind, ValueId x) {
    switch (kind) {
      case OpKind::compare:
      case OpKind::logical_not: {
        const ValueId a = mask(x);
        const ValueId b = mask(x);
        const OpKind both = random_.chance(50) ? OpKind::logical_and : OpKind::logical_or;
        const bool one = kind == OpKind::logical_not;
        const auto made = one ? graph_.add(kind, {a}, {}) : graph_.add(both, {a, b}, {});
        if (made.ok() && graph_.type(*made).elements() <= 4000) masks_.push_back(*made);
        return;
      }
      case OpKind::qdiv:
      case OpKind::qprelu:
        return scaled_pair(kind, x);
      case OpKind::where:
        keep(kind, {mask(x), x, comparable(x)}, {}, false);
        return;
      default:
        keep(kind, {x, comparable(x)}, {}, false);
    }
  }

  /// What ExecuTorch's kernels can choose.
  void stock_choice(ValueId x) {
    const ValueId other = comparable(x);
    if (random_.chance(60)) {
      const OpKind kind = random_.chance(50) ? OpKind::maximum : OpKind::minimum;
      keep(kind, {x, other}, {}, false);
      return;
    }
    Shape small = shape(x);
    if (random_.chance(50) && !small.empty()) small.erase(small.begin());
    const ValueId condition = constant(random_tensor(random_, ir::DType::kBool, small));
    keep(OpKind::where, {condition, x, other}, {}, false);
  }

  void scaled_pair(OpKind kind, ValueId x) {
    const bool divides = kind == OpKind::qdiv;
    const auto m = numerics::quantize_multiplier(divides ? random_.real(1, 60) / (1 << 20)
                                                         : random_.real(0.2, 2));
    const auto w = numerics::quantize_multiplier(random_.real(0.002, 0.02));
    Attrs attrs = {{divides ? "a_zp" : "x_zp", code()},
                   {divides ? "b_zp" : "w_zp", code()},
                   {"y_zp", code()},
                   {"mult", int64_t{m.mult}},
                   {"shift", int64_t{m.shift}}};
    if (!divides) {
      attrs.set("w_mult", int64_t{w.mult});
      attrs.set("w_shift", int64_t{w.shift});
    }
    set_clamp(&attrs);
    keep(kind, {x, second_operand(x)}, std::move(attrs), true);
  }

  void pool(OpKind kind, ValueId x) {
    if (shape(x).size() != 4) return;
    Attrs attrs = {{"kernel", pair(1, 3)}, {"stride", pair(1, 3)}};
    std::vector<int64_t> pad = {0, 0, 0, 0};
    if (random_.chance(50)) {
      pad = {random_.between(0, 1), random_.between(0, 1), 0, 0};
      pad[2] = pad[0];
      pad[3] = pad[1];
    }
    if (!options_.stock_only && random_.chance(20)) pad[3] += 1;
    attrs.set("padding", pad);
    if (kind == OpKind::max_pool2d) {
      attrs.set("dilation", options_.stock_only ? std::vector<int64_t>{1, 1} : pair(1, 2));
    } else {
      set_clamp(&attrs);
    }
    keep(kind, {x}, std::move(attrs), false);
  }

  void set_multiplier(Attrs* attrs, double real) {
    const auto m = numerics::quantize_multiplier(real);
    attrs->set("y_zp", code());
    attrs->set("mult", int64_t{m.mult});
    attrs->set("shift", int64_t{m.shift});
    set_clamp(attrs);
  }

  void reduction(OpKind kind, ValueId x) {
    const auto rank = static_cast<int64_t>(shape(x).size());
    std::vector<int64_t> dims;
    const int64_t first = random_.between(0, rank - 1);
    for (int64_t d = first; d <= random_.between(first, rank - 1); ++d) dims.push_back(d);
    if (rank > 2 && random_.chance(20)) dims = {0, rank - 1};
    Attrs attrs = {{"dims", dims}, {"keepdim", random_.between(0, 1)}};
    if (kind == OpKind::qmean) {
      attrs.set("x_zp", code());
      set_multiplier(&attrs, random_.real(0.02, 0.8));
    } else if (options_.stock_only) {
      return;
    } else if (kind == OpKind::qvariance) {
      set_multiplier(&attrs, random_.real(0.0001, 0.01));
    }
    const bool moves = kind == OpKind::amax || kind == OpKind::amin;
    keep(kind, {x}, std::move(attrs), !moves);
  }

  void along_dim(OpKind kind, ValueId x) {
    if (options_.stock_only) return;
    Attrs attrs = {{"dim", random_.between(0, static_cast<int64_t>(shape(x).size()) - 1)}};
    if (kind == OpKind::argmax) {
      attrs.set("keepdim", random_.between(0, 1));
      attrs.set("smallest", random_.between(0, 1));
    } else {
      attrs.set("x_zp", code());
      set_multiplier(&attrs, random_.real(0.05, 0.8));
    }
    if (!keep(kind, {x}, std::move(attrs), kind == OpKind::qcumsum)) return;
    if (kind != OpKind::argmax) return;
    graph_.add_output(values_.back());  // positions: no operator here reads them
    values_.pop_back();
  }

  void norm(OpKind kind, ValueId x) {
    if (options_.stock_only || shape(x).size() < 2) return;
    const int64_t rank = static_cast<int64_t>(shape(x).size());
    Attrs attrs = {{"eps", random_.between(0, 1000)}, {"eps_shift", random_.between(0, 3)}};
    Shape entries = {shape(x)[1]};
    if (kind == OpKind::qgroup_norm) {
      attrs.set("groups", random_.chance(50) ? entries[0] : 1);
    } else {
      const int64_t dims = random_.between(1, rank);
      attrs.set("dims", dims);
      entries.assign(shape(x).end() - dims, shape(x).end());
    }
    std::vector<ValueId> operands = {x, ir::kNoValue};
    if (random_.chance(70)) {
      operands[1] = constant(random_tensor(random_, ir::DType::kI16, entries));
    }
    if (kind == OpKind::qrms_norm) {
      attrs.set("x_zp", code());
    } else {
      ir::Tensor bias = small_i32(ir::element_count(entries));
      bias.shape = entries;
      operands.push_back(random_.chance(70) ? constant(std::move(bias)) : ir::kNoValue);
    }
    set_multiplier(&attrs, random_.real(0.0002, 0.002));
    keep(kind, std::move(operands), std::move(attrs), true);
  }

  /// By itself or by what happens to fit; a graph without another fit gets a constant.
  void product(ValueId x) {
    if (options_.stock_only || shape(x).size() < 2) return;
    const int64_t transpose_b = random_.between(0, 1);
    ValueId other = random_.chance(50) ? x : pick();
    const int64_t depth = shape(x).back();
    if (random_.chance(50)) {
      const int64_t columns = random_.between(1, 6);
      other = codes(transpose_b != 0 ? Shape{columns, depth} : Shape{depth, columns});
    }
    const auto m = numerics::quantize_multiplier(random_.real(0.2, 1.5) /
                                                 (40.0 * std::sqrt(static_cast<double>(depth))));
    Attrs attrs{{"transpose_b", transpose_b},
                {"a_zp", code()},
                {"b_zp", code()},
                {"y_zp", code()},
                {"mult", int64_t{m.mult}},
                {"shift", int64_t{m.shift}}};
    set_clamp(&attrs);
    keep(OpKind::qmatmul, {x, other}, attrs, true);
  }

  /// Positions around and beyond the ends.
  void gathered(OpKind kind, ValueId x) {
    if (options_.stock_only) return;
    const int64_t dim = random_.between(0, static_cast<int64_t>(shape(x).size()) - 1);
    Shape chosen = shape(x);
    chosen[static_cast<size_t>(dim)] = random_.between(1, 5);
    if (kind == OpKind::gather) chosen = {random_.between(1, 5)};
    ir::Tensor index = ir::zeros(ir::DType::kI64, chosen);
    for (int64_t& at : index.data<int64_t>()) at = random_.between(-9, 9);
    keep(kind, {x, constant(std::move(index))}, {{"dim", dim}}, false);
  }

  void softmax(OpKind kind, ValueId x) {
    int64_t dim = random_.between(0, static_cast<int64_t>(shape(x).size()) - 1);
    if (kind == OpKind::qmasked_softmax) {
      if (options_.stock_only) return;
      dim = static_cast<int64_t>(shape(x).size()) - 1;  // the rule of its making
    }
    if (kind != OpKind::qlog_softmax) {
      const auto m = numerics::quantize_multiplier(random_.real(0.005, 0.5) * (1 << 26));
      const auto diff_min =
          static_cast<int64_t>(-std::floor(31.0 * (1 << 26) / std::exp2(m.shift)));
      keep(kind, {x},
           {{"dim", dim},
            {"mult", int64_t{m.mult}},
            {"shift", int64_t{m.shift}},
            {"diff_min", diff_min}},
           true);
      return;
    }
    if (options_.stock_only) return;
    const double scale = random_.real(0.01, 0.5);
    std::vector<int32_t> table;
    for (int k = 0; k < 256; ++k)
      table.push_back(static_cast<int32_t>(std::lround(std::exp(-k * scale) * (1 << 20))));
    const auto s = numerics::quantize_multiplier(scale * 16);
    const auto l = numerics::quantize_multiplier(std::log(2.0) / 65536.0 * 16);
    keep(kind, {x, constant(ir::make_i32({256}, table))},
         {{"dim", dim},
          {"scale_mult", int64_t{s.mult}},
          {"scale_shift", int64_t{s.shift}},
          {"log_mult", int64_t{l.mult}},
          {"log_shift", int64_t{l.shift}},
          {"y_zp", int64_t{127}}},
         true);
  }

  void recurrent(OpKind kind, ValueId x) {
    if (options_.stock_only || shape(x).size() != 3) return;
    const int64_t gates = kind == OpKind::qgru ? 3 : kind == OpKind::qlstm ? 4 : 1;
    const int64_t hidden = random_.between(1, 6), rows = gates * hidden, inputs = shape(x)[2];
    const Shape state = {1, shape(x)[1], hidden};
    std::vector<ValueId> operands = {x, codes(state)};
    Attrs attrs = {{"reverse", random_.between(0, 1)}, {"x_zp", code()}, {"h_zp", code()}};
    const auto put = [&](const std::string& prefix, double real) {
      const auto m = numerics::quantize_multiplier(real);
      attrs.set(prefix + "mult", int64_t{m.mult});
      attrs.set(prefix + "shift", int64_t{m.shift});
    };
    const bool relu = kind == OpKind::qrnn && random_.chance(50);
    const int64_t bits = random_.between(8, 15);
    put("h_", kind == OpKind::qlstm  ? 0x1p-23
              : kind == OpKind::qgru ? std::ldexp(128, static_cast<int>(-bits))
              : relu                 ? 0x1p-7
                                     : 0x1p-8);
    if (kind == OpKind::qrnn) attrs.set("relu", int64_t{relu});
    if (kind == OpKind::qgru) {
      attrs.set("h_bits", bits);
      put("h0_", std::ldexp(1.0 / 128, static_cast<int>(bits)));
    }
    const bool cell = kind == OpKind::qlstm && random_.chance(50);
    if (kind == OpKind::qlstm) {
      attrs.set("cell", int64_t{cell});
      attrs.set("c_bits", bits);
      const bool wide = random_.chance(50);
      operands.push_back(wide ? constant(random_tensor(random_, ir::DType::kI16, state))
                              : codes(state));
      if (!wide) attrs.set("c0_zp", code());
      if (!wide) put("c0_", std::ldexp(0.02, static_cast<int>(bits)));
      if (cell) attrs.set("y_zp", code());
      if (cell) put("y_", std::ldexp(50.0, static_cast<int>(-bits)));
    }
    operands.push_back(codes({rows, inputs}));
    operands.push_back(codes({rows, hidden}));
    for (int i = 0; i < (kind == OpKind::qgru ? 2 : 1); ++i) {
      operands.push_back(constant(small_i32(rows)));
    }
    const int64_t entries = random_.chance(50) ? rows : gates;
    const auto [mult, shift] = multipliers(2 * entries, 0.3);
    for (const ValueId id : {mult, shift}) {
      ir::Tensor pairs = *graph_.value(id).constant;
      pairs.shape = {2, entries};
      operands.push_back(constant(std::move(pairs)));
    }
    ir::Tensor table = ir::zeros(ir::DType::kI16, {513});
    for (int i = 0; i < 513; ++i) {
      table.data<int16_t>()[static_cast<size_t>(i)] =
          static_cast<int16_t>(std::lround(std::tanh((i - 256) / 32.0) * 32767));
    }
    operands.push_back(constant(std::move(table)));
    keep(kind, std::move(operands), std::move(attrs), true);
  }

  void movement(OpKind kind, ValueId x) {
    const Shape from = shape(x);
    const auto rank = static_cast<int64_t>(from.size());
    const int64_t dim = random_.between(0, rank - 1);
    const auto at = static_cast<size_t>(dim);
    if (kind == OpKind::reshape) return reshape(x);
    if (kind == OpKind::permute) {
      std::vector<int64_t> dims(static_cast<size_t>(rank));
      std::iota(dims.begin(), dims.end(), 0);
      for (size_t i = dims.size(); i > 1; --i) {
        std::swap(dims[i - 1],
                  dims[static_cast<size_t>(random_.between(0, static_cast<int64_t>(i) - 1))]);
      }
      keep(kind, {x}, {{"dims", dims}}, false);
    } else if (kind == OpKind::slice) {
      const int64_t start = random_.between(0, from[at] - 1);
      keep(kind, {x},
           {{"dim", dim},
            {"start", start},
            {"end", random_.between(start + 1, from[at])},
            {"step", random_.between(1, 2)}},
           false);
    } else if (kind == OpKind::concat) {
      std::vector<ValueId> parts = {x};
      for (const ValueId value : values_) {
        Shape other = shape(value);
        if (other.size() != from.size() || parts.size() > 3) continue;
        other[at] = from[at];
        if (other == from && random_.chance(70)) parts.push_back(value);
      }
      if (random_.chance(20)) parts.push_back(codes(from));
      keep(kind, std::move(parts), {{"dim", dim}}, true);
    } else if (kind == OpKind::pad) {
      if (rank > 4) return;
      std::vector<int64_t> before(from.size(), 0), after(from.size(), 0);
      before[at] = random_.between(0, 2);
      after[at] = random_.between(0, 2);
      if (rank == 4 && random_.chance(50)) after[3] = 1;
      keep(kind, {x},
           {{"before", before}, {"after", after}, {"value", static_cast<double>(code())}}, false);
    } else if (kind == OpKind::expand) {
      Shape wide = from;
      for (int64_t& size : wide) {
        if (size == 1 && random_.chance(50)) size = random_.between(1, 4);
      }
      if (rank < 5 && random_.chance(10)) wide.insert(wide.begin(), 2);
      keep(kind, {x}, {{"shape", wide}}, false);
    } else {
      keep(OpKind::copy, {x}, {}, false);
    }
  }

  void reshape(ValueId x) {
    const Shape from = shape(x);
    Shape to;
    if (from.size() == 4 && random_.chance(50)) {
      to = {from[0], from[1] * from[2] * from[3]};
    } else {
      int64_t rest = graph_.type(x).elements();
      for (int64_t i = random_.between(0, 3); i > 0; --i) {
        int64_t factor = random_.between(1, 4);
        if (rest % factor != 0) factor = 1;
        to.push_back(factor);
        rest /= factor;
      }
      to.push_back(rest);
    }
    keep(OpKind::reshape, {x}, {{"shape", to}}, false);
  }

  Random random_;
  IntegerGraphOptions options_;
  ir::Graph graph_;
  std::vector<ValueId> values_;
  std::vector<ValueId> masks_;  // bool
  int made_ = 0;
};

}  // namespace

ir::Graph random_integer_graph(uint64_t seed, const IntegerGraphOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace thimble::test
