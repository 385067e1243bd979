// SPDX-License-Identifier: Apache-2.0
#include "axon_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/aligned_bytes.h"
#include "engines/axon/compiler/engine.h"
#include "engines/axon/compiler/transpose_hw.h"
#include "engines/axon/model/model.h"
#include "eval/evaluate.h"
#include "numerics/multiplier.h"

namespace thimble::test {
namespace {

using ir::OpKind;
using ir::ValueId;

/// Memory filled with a nonzero byte.
class Memory : public AlignedBytes {
 public:
  explicit Memory(size_t bytes, uint8_t fill = 0xA5) : AlignedBytes(bytes) {
    memset(data(), fill, bytes);
  }
};

const engine::PartNpu& axon_use() {
  static const engine::PartNpu kUse = {&engine::axon::kEngine, "axon", "", "", {}};
  return kUse;
}

std::vector<ir::Tensor> run_model(const std::vector<std::byte>& payload, const ir::Graph& graph,
                                  const std::vector<ir::Tensor>& inputs) {
  Memory file(payload.size());
  memcpy(file.data(), payload.data(), payload.size());
  axon::Job job;
  job.container = axon::Container(file.data());
  const axon::Header header = job.container.header();
  Memory interlayer(header.interlayer_bytes), persistent(header.persistent_bytes, 0x5A);
  std::vector<const uint8_t*> from;
  std::vector<Memory> held;
  for (const ir::Tensor& input : inputs) {
    held.emplace_back(input.bytes.size());
    memcpy(held.back().data(), input.bytes.data(), input.bytes.size());
  }
  for (Memory& memory : held) from.push_back(memory.data());
  std::vector<Memory> made;
  for (const ValueId id : graph.outputs()) made.emplace_back(graph.type(id).bytes());
  std::vector<uint8_t*> to;
  for (Memory& memory : made) to.push_back(memory.data());
  job.inputs = from.data();
  job.outputs = to.data();
  job.interlayer = interlayer.data();
  job.persistent = persistent.data();
  axon::run(job);
  std::vector<ir::Tensor> results;
  for (size_t i = 0; i < made.size(); ++i) {
    const ir::Type& type = graph.type(graph.outputs()[i]);
    results.push_back(ir::zeros(type.dtype, type.shape));
    memcpy(results.back().bytes.data(), made[i].data(), results.back().bytes.size());
  }
  return results;
}

std::string difference(const std::vector<ir::Tensor>& expected,
                       const std::vector<ir::Tensor>& got) {
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t k = 0; k < expected[i].bytes.size(); ++k) {
      if (expected[i].bytes[k] == got[i].bytes[k]) continue;
      return fmt::format("output {} byte {}: evaluator {}, model {}", i, k,
                         static_cast<int>(static_cast<int8_t>(expected[i].bytes[k])),
                         static_cast<int>(static_cast<int8_t>(got[i].bytes[k])));
    }
  }
  return "";
}

std::vector<ir::Tensor> transpose_inputs(std::vector<ir::Tensor> tensors) {
  constexpr int64_t kSwappedHw[] = {0, 1, 3, 2};
  for (ir::Tensor& tensor : tensors) {
    if (tensor.shape.size() == 4) tensor = ir::permuted(tensor, kSwappedHw);
  }
  return tensors;
}

/// Compares the graph with H and W transposed, given transposed inputs, with the transposed
/// expected outputs. Returns the difference; empty if equal or if the graph cannot be transposed.
std::string transposed_difference(const ir::Graph& adapted, const std::vector<ir::Tensor>& inputs,
                                  const std::vector<ir::Tensor>& expected) {
  const auto other = engine::axon::transposed_hw(adapted);
  if (!other) return "";
  const auto got = eval::evaluate(*other, transpose_inputs(inputs));
  if (!got.ok()) return got.error().message;
  const std::string text = difference(transpose_inputs(expected), *got);
  return text.empty() ? "" : "turned: " + text;
}

}  // namespace

AxonOutcome run_axon(const ir::Graph& region, uint64_t seed,
                     const std::vector<std::pair<size_t, size_t>>& states) {
  const engine::Npu& engine = engine::axon::kEngine;
  const auto adapted = engine.adapt(region, axon_use());
  if (!adapted.ok()) return {true, adapted.error().message, 0, {}, false};
  for (size_t i = 0; i < region.outputs().size(); ++i) {
    const ir::Type& before = region.type(region.outputs()[i]);
    const ir::Type& after = adapted->type(adapted->outputs()[i]);
    if (before.dtype != after.dtype || before.shape != after.shape || before.quant != after.quant) {
      return {false, "an output has another type", 0, {}, false};
    }
  }
  engine::NpuOptions options;
  options.states = states;
  const auto delegate = engine.compile(*adapted, axon_use(), options);
  if (!delegate.ok()) return {true, delegate.error().message, 0, {}, false};
  AxonOutcome outcome;
  outcome.cycles = delegate->cycles.value_or(0);
  for (const engine::DelegateRow& row : delegate->rows) outcome.layers.push_back(row.what);
  const std::vector<ir::Tensor> inputs = random_inputs(*adapted, seed);
  const auto expected = eval::evaluate(*adapted, inputs);
  if (!expected.ok()) {
    outcome.message = expected.error().message;
    return outcome;
  }
  outcome.message = difference(*expected, run_model(delegate->payload, *adapted, inputs));
  outcome.transposed_hw = engine::axon::transposed_hw(*adapted).has_value();
  if (outcome.message.empty()) outcome.message = transposed_difference(*adapted, inputs, *expected);
  return outcome;
}

// --- one step ----------------------------------------------------------------------------------

ValueId AxonNet::add_op(OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs,
                        const ir::Quant& quant) {
  auto made = graph.add(kind, std::move(inputs), std::move(attrs), {}, {"", {}, quant});
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? *made : ir::kNoValue;
}

ir::Quant AxonNet::result(double scale) {
  constexpr int64_t kZeroPoints[] = {-128, 0, 127, 3, -17};
  const bool edge = random.chance(50);
  const int64_t zero = edge ? kZeroPoints[random.between(0, 4)] : random.between(-128, 127);
  return ir::per_tensor(scale, static_cast<int32_t>(zero));
}

void AxonNet::bounds(ir::Attrs* attrs, const ir::Quant& quant) const {
  attrs->set(ir::attr::min, relu ? int64_t{quant.zero_point[0]} : int64_t{-128});
  attrs->set(ir::attr::max, max);
}

ValueId AxonNet::input(const ir::Shape& shape) {
  return graph.add_input(fmt::format("x{}", graph.inputs().size()),
                         {ir::DType::kI8, shape, {}, result(random.real(0.001, 0.1))});
}

ValueId AxonNet::constant(const ir::Shape& shape) {
  return graph.add_constant(
      "c", std::make_shared<ir::Tensor>(random_tensor(random, ir::DType::kI8, shape)),
      result(random.real(0.001, 0.1)));
}

ValueId AxonNet::weighted(OpKind kind, ValueId x, const ir::Shape& weights, ir::Attrs attrs,
                          bool per_channel) {
  const int64_t channels = weights[0];
  const double terms = static_cast<double>(ir::element_count(weights) / channels);
  ir::Tensor w = random_tensor(random, ir::DType::kI8, weights);
  for (int8_t& code : w.data<int8_t>()) code = std::max<int8_t>(code, -127);
  std::vector<int32_t> bias(static_cast<size_t>(channels)), mult, shift;
  for (int32_t& b : bias) b = static_cast<int32_t>(random.between(-5000, 5000));
  const double unit = random.real(0.5, 2) / (100 * std::sqrt(terms));
  for (int64_t c = 0; c < (per_channel ? channels : 1); ++c) {
    const auto m = numerics::quantize_multiplier(unit * random.real(0.5, 2));
    mult.push_back(m.mult);
    shift.push_back(m.shift);
  }
  const auto constant = [&](const char* name, ir::Tensor tensor) {
    return graph.add_constant(name, std::make_shared<ir::Tensor>(std::move(tensor)));
  };
  const auto entries = static_cast<int64_t>(mult.size());
  const ir::Quant quant = result(scale(x) * 0.01 / unit);
  attrs.set(ir::attr::x_zp, zero_point(x));
  attrs.set(ir::attr::y_zp, int64_t{quant.zero_point[0]});
  bounds(&attrs, quant);
  const bool has_bias = random.chance(80);
  const ValueId b = has_bias ? constant("b", ir::make_i32({channels}, bias)) : ir::kNoValue;
  return add_op(kind,
                {x, constant("w", std::move(w)), b, constant("mult", ir::make_i32({entries}, mult)),
                 constant("shift", ir::make_i32({entries}, shift))},
                std::move(attrs), quant);
}

ValueId AxonNet::conv(ValueId x, int64_t channels, std::vector<int64_t> kernel,
                      std::vector<int64_t> stride, std::vector<int64_t> padding,
                      std::vector<int64_t> dilation, bool per_channel) {
  return weighted(
      OpKind::qconv2d, x, {channels, shape(x)[1], kernel[0], kernel[1]},
      {{ir::attr::stride, stride}, {ir::attr::padding, padding}, {ir::attr::dilation, dilation}},
      per_channel);
}

ValueId AxonNet::depthwise(ValueId x, std::vector<int64_t> kernel, std::vector<int64_t> stride,
                           std::vector<int64_t> padding, int64_t multiplier) {
  const int64_t channels = shape(x)[1];
  return weighted(OpKind::qconv2d, x, {channels * multiplier, 1, kernel[0], kernel[1]},
                  {{ir::attr::stride, stride},
                   {ir::attr::padding, padding},
                   {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                   {ir::attr::groups, channels}},
                  true);
}

ValueId AxonNet::grouped(ValueId x, int64_t channels, int64_t groups, std::vector<int64_t> kernel,
                         bool per_channel) {
  const std::vector<int64_t> ones = {1, 1};
  return weighted(OpKind::qconv2d, x, {channels, shape(x)[1] / groups, kernel[0], kernel[1]},
                  {{ir::attr::stride, ones},
                   {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}},
                   {ir::attr::dilation, ones},
                   {ir::attr::groups, groups}},
                  per_channel);
}

ValueId AxonNet::linear(ValueId x, int64_t outputs, bool per_channel) {
  return weighted(OpKind::qlinear, x, {outputs, shape(x).back()}, {}, per_channel);
}

ValueId AxonNet::add(ValueId a, ValueId b) {
  return sum(OpKind::qadd, a, b);
}
ValueId AxonNet::subtract(ValueId a, ValueId b) {
  return sum(OpKind::qsub, a, b);
}
ValueId AxonNet::extreme(OpKind kind, ValueId a, ValueId b) {
  return add_op(kind, {a, b}, {}, *graph.type(a).quant);
}

ValueId AxonNet::sum(OpKind kind, ValueId a, ValueId b) {
  const ir::Quant quant = result((scale(a) + scale(b)) * random.real(0.4, 1.2));
  const double joint = 2 * std::max(scale(a), scale(b));
  ir::Attrs attrs = {{ir::attr::a_zp, zero_point(a)},
                     {ir::attr::b_zp, zero_point(b)},
                     {ir::attr::y_zp, int64_t{quant.zero_point[0]}}};
  const auto set = [&](const ir::MultiplierKeys& keys, double real) {
    const auto m = numerics::quantize_multiplier(real);
    attrs.set(keys.mult, int64_t{m.mult});
    attrs.set(keys.shift, int64_t{m.shift});
  };
  set(ir::attr::a_multiplier, scale(a) / joint);
  set(ir::attr::b_multiplier, scale(b) / joint);
  set(ir::attr::y_multiplier, joint / (0x1p20 * quant.scale[0]));
  bounds(&attrs, quant);
  return add_op(kind, {a, b}, attrs, quant);
}

ValueId AxonNet::mul(ValueId a, ValueId b) {
  const ir::Quant quant = result(scale(a) * scale(b) * random.real(30, 120));
  const auto m = numerics::quantize_multiplier(scale(a) * scale(b) / quant.scale[0]);
  ir::Attrs attrs = {{ir::attr::a_zp, zero_point(a)},
                     {ir::attr::b_zp, zero_point(b)},
                     {ir::attr::y_zp, int64_t{quant.zero_point[0]}},
                     {ir::attr::mult, int64_t{m.mult}},
                     {ir::attr::shift, int64_t{m.shift}}};
  bounds(&attrs, quant);
  return add_op(OpKind::qmul, {a, b}, attrs, quant);
}

ValueId AxonNet::mean(ValueId x, std::vector<int64_t> dims, bool keep) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= shape(x)[static_cast<size_t>(dim)];
  const ir::Quant quant = result(scale(x) * random.real(0.3, 1.2));
  const auto m =
      numerics::quantize_multiplier(scale(x) / quant.scale[0] / static_cast<double>(count));
  ir::Attrs attrs = {{ir::attr::dims, dims},
                     {ir::attr::keepdim, int64_t{keep ? 1 : 0}},
                     {ir::attr::x_zp, zero_point(x)},
                     {ir::attr::y_zp, int64_t{quant.zero_point[0]}},
                     {ir::attr::mult, int64_t{m.mult}},
                     {ir::attr::shift, int64_t{m.shift}}};
  bounds(&attrs, quant);
  return add_op(OpKind::qmean, {x}, attrs, quant);
}

ValueId AxonNet::average_pool(ValueId x, std::vector<int64_t> kernel, std::vector<int64_t> stride,
                              std::vector<int64_t> padding) {
  return add_op(
      OpKind::qavg_pool2d, {x},
      {{ir::attr::kernel, kernel}, {ir::attr::stride, stride}, {ir::attr::padding, padding}},
      *graph.type(x).quant);
}

ValueId AxonNet::max_pool(ValueId x, std::vector<int64_t> kernel, std::vector<int64_t> stride,
                          std::vector<int64_t> padding) {
  return add_op(OpKind::max_pool2d, {x},
                {{ir::attr::kernel, kernel},
                 {ir::attr::stride, stride},
                 {ir::attr::padding, padding},
                 {ir::attr::dilation, std::vector<int64_t>{1, 1}}},
                *graph.type(x).quant);
}

ValueId AxonNet::amax(ValueId x, std::vector<int64_t> dims, bool keepdim) {
  return add_op(OpKind::amax, {x}, {{ir::attr::dims, dims}, {ir::attr::keepdim, int64_t{keepdim}}},
                *graph.type(x).quant);
}

ValueId AxonNet::softmax(ValueId x, int64_t dim) {
  const auto m = numerics::quantize_multiplier(std::min(scale(x) * 0x1p26, 2147483647.0));
  const auto least = static_cast<int64_t>(std::floor(31 * 0x1p26 / std::ldexp(1, m.shift)));
  return add_op(OpKind::qsoftmax, {x},
                {{ir::attr::dim, dim},
                 {ir::attr::mult, int64_t{m.mult}},
                 {ir::attr::shift, int64_t{m.shift}},
                 {ir::attr::diff_min, -std::max<int64_t>(least, 0)}},
                ir::per_tensor(1.0 / 256, -128));
}

template <typename F>
ValueId AxonNet::table(ValueId x, const ir::Quant& quant, F f) {
  ir::Tensor codes = ir::zeros(ir::DType::kI8, {256});
  for (int code = -128; code < 128; ++code) {
    const double real = f(scale(x) * static_cast<double>(code - zero_point(x)));
    const double exact = std::nearbyint(real / quant.scale[0]) + quant.zero_point[0];
    codes.data<int8_t>()[static_cast<size_t>(code + 128)] =
        static_cast<int8_t>(std::clamp(exact, -128.0, 127.0));
  }
  const ValueId id = graph.add_constant("table", std::make_shared<ir::Tensor>(std::move(codes)));
  return add_op(OpKind::lut, {x, id}, {}, quant);
}

ValueId AxonNet::sigmoid(ValueId x) {
  return table(x, ir::per_tensor(1.0 / 256, -128), [](double r) { return 1 / (1 + std::exp(-r)); });
}
ValueId AxonNet::tanh(ValueId x) {
  return table(x, ir::per_tensor(1.0 / 128, 0), [](double r) { return std::tanh(r); });
}
ValueId AxonNet::leaky(ValueId x, double slope) {
  return table(x, result(scale(x) * random.real(0.7, 1.1)),
               [=](double r) { return r < 0 ? slope * r : r; });
}

ValueId AxonNet::prelu(ValueId x) {
  const int64_t channels = shape(x)[1];
  std::vector<int8_t> slopes(static_cast<size_t>(channels));
  for (int8_t& slope : slopes) slope = static_cast<int8_t>(random.between(0, 60));
  ir::Shape shape_of_w(shape(x).size(), 1);
  shape_of_w[1] = channels;
  const ValueId w =
      graph.add_constant("slopes", std::make_shared<ir::Tensor>(ir::make_i8(shape_of_w, slopes)),
                         ir::per_tensor(0.01, 0));
  const ir::Quant quant = result(scale(x) * 0.9);
  const auto above = numerics::quantize_multiplier(scale(x) / quant.scale[0]);
  const auto below = numerics::quantize_multiplier(scale(x) * 0.01 / quant.scale[0]);
  return add_op(OpKind::qprelu, {x, w},
                {{ir::attr::x_zp, zero_point(x)},
                 {ir::attr::w_zp, int64_t{0}},
                 {ir::attr::y_zp, int64_t{quant.zero_point[0]}},
                 {ir::attr::mult, int64_t{above.mult}},
                 {ir::attr::shift, int64_t{above.shift}},
                 {ir::attr::w_mult, int64_t{below.mult}},
                 {ir::attr::w_shift, int64_t{below.shift}}},
                quant);
}

ValueId AxonNet::concat(const std::vector<ValueId>& xs, int64_t dim) {
  return add_op(OpKind::concat, xs, {{ir::attr::dim, dim}}, *graph.type(xs[0]).quant);
}
ValueId AxonNet::slice(ValueId x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  return add_op(OpKind::slice, {x},
                {{ir::attr::dim, dim},
                 {ir::attr::start, start},
                 {ir::attr::end, end},
                 {ir::attr::step, step}},
                *graph.type(x).quant);
}
ValueId AxonNet::pad(ValueId x, std::vector<int64_t> before, std::vector<int64_t> after,
                     double value) {
  return add_op(OpKind::pad, {x},
                {{ir::attr::before, before}, {ir::attr::after, after}, {ir::attr::value, value}},
                *graph.type(x).quant);
}
ValueId AxonNet::reshape(ValueId x, ir::Shape shape) {
  return add_op(OpKind::reshape, {x}, {{ir::attr::shape, std::move(shape)}}, *graph.type(x).quant);
}

// --- networks ----------------------------------------------------------------------------------

namespace {

class NetworkMaker {
 public:
  NetworkMaker(uint64_t seed, int steps) : net_(seed), steps_(steps) {}

  ir::Graph run() {
    Random& r = net_.random;
    at_ = net_.input({1, r.between(1, 9), r.between(1, 11), r.between(1, 13)});
    for (int i = 0; i < steps_; ++i) step();
    net_.graph.add_output(at_);
    for (const ValueId id : earlier_) {
      const bool known = std::ranges::find(net_.graph.outputs(), id) != net_.graph.outputs().end();
      if (r.chance(10) && !known) net_.graph.add_output(id);
    }
    return std::move(net_.graph);
  }

 private:
  bool image() const { return net_.shape(at_).size() == 4; }

  void step() {
    Random& r = net_.random;
    net_.relu = r.chance(30);
    const ValueId before = at_;
    const int64_t choice = r.between(0, 17);
    if (choice < 8 && image()) {
      window(choice);
    } else if (choice < 11) {
      element(choice);
    } else if (choice < 15) {
      function(choice);
    } else {
      move(choice);
    }
    net_.relu = false;
    if (at_ != before) earlier_.push_back(at_);
  }

  void window(int64_t choice) {
    Random& r = net_.random;
    const ir::Shape& x = net_.shape(at_);
    const std::vector<int64_t> kernel = {r.between(1, std::min<int64_t>(x[2], 4)),
                                         r.between(1, std::min<int64_t>(x[3], 4))};
    const std::vector<int64_t> stride = {r.between(1, 2), r.between(1, 2)};
    const std::vector<int64_t> padding = {r.between(0, kernel[0] - 1), r.between(0, kernel[1] - 1),
                                          r.between(0, kernel[0] - 1), r.between(0, kernel[1] - 1)};
    if (choice < 3) {
      at_ = net_.conv(at_, r.between(1, 9), kernel, stride, padding, {1, 1}, r.chance(60));
    } else if (choice == 3) {
      at_ = net_.conv(at_, r.between(1, 9), {1, 1});
    } else if (choice == 4) {
      at_ = net_.depthwise(at_, kernel, stride, padding);
    } else if (choice == 5) {
      at_ = net_.max_pool(at_, kernel, stride);
    } else if (choice == 6) {
      at_ = net_.average_pool(at_, kernel, stride);
    } else {
      const bool both = r.chance(50);
      at_ =
          net_.mean(at_, both ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{r.between(2, 3)},
                    r.chance(60));
      if (net_.shape(at_).size() == 3)
        at_ = net_.reshape(at_, {1, net_.shape(at_)[1], 1, net_.shape(at_)[2]});
    }
  }

  void element(int64_t choice) {
    Random& r = net_.random;
    ValueId other = at_;
    for (const ValueId id : earlier_) {
      if (net_.shape(id) == net_.shape(at_) && r.chance(70)) other = id;
    }
    if (r.chance(25)) {
      ir::Shape shape = net_.shape(at_);
      for (size_t i = shape.size() == 4 ? 2 : 1; i < shape.size(); ++i) {
        if (r.chance(50)) shape[i] = 1;
      }
      other = net_.constant(shape);
    }
    const bool swapped = r.chance(30);
    const ValueId a = swapped ? other : at_, b = swapped ? at_ : other;
    at_ = choice == 8 ? net_.mul(a, b) : r.chance(25) ? net_.subtract(a, b) : net_.add(a, b);
  }

  void function(int64_t choice) {
    Random& r = net_.random;
    if (choice == 11) {
      at_ = r.chance(50) ? net_.sigmoid(at_) : net_.tanh(at_);
    } else if (choice == 12) {
      at_ = net_.leaky(at_, r.chance(30) ? 1 : r.chance(30) ? 0 : r.real(0.01, 0.5));
    } else if (choice == 13) {
      at_ = net_.softmax(at_, r.between(1, static_cast<int64_t>(net_.shape(at_).size()) - 1));
    } else {
      at_ = net_.prelu(at_);
    }
  }

  void move(int64_t choice) {
    Random& r = net_.random;
    const ir::Shape x = net_.shape(at_);
    const int64_t dim = r.between(1, static_cast<int64_t>(x.size()) - 1);
    const int64_t size = x[static_cast<size_t>(dim)];
    if (choice == 15) {
      const int64_t start = r.between(0, size - 1);
      at_ = net_.slice(at_, dim, start, r.between(start + 1, size), r.between(1, 2));
    } else if (choice == 16) {
      std::vector<ValueId> xs = {at_, at_};
      if (size > 1) xs[1] = net_.slice(at_, dim, size / 2, size);
      if (r.chance(40)) xs.push_back(at_);
      if (size * 3 < 40) at_ = net_.concat(xs, dim);
    } else {
      const int64_t elements = ir::element_count(x);
      at_ = net_.reshape(
          at_, r.chance(40) ? ir::Shape{elements / x.back(), x.back()} : ir::Shape{1, elements});
      at_ = net_.linear(at_, r.between(1, 20), r.chance(30));
      const ir::Shape rows = net_.shape(at_);
      if (r.chance(50) || rows[0] != 1) at_ = net_.reshape(at_, {1, rows[0], 1, rows[1]});
    }
  }

  AxonNet net_;
  int steps_;
  ValueId at_ = ir::kNoValue;
  std::vector<ValueId> earlier_;
};

}  // namespace

ir::Graph random_axon_network(uint64_t seed, int steps) {
  return NetworkMaker(seed, steps).run();
}

}  // namespace thimble::test
