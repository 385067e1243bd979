// SPDX-License-Identifier: Apache-2.0
#include "quant_random_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/print.h"

namespace thimble::test {
namespace {

using ir::OpKind;
using ir::ValueId;

class NetworkMaker {
 public:
  explicit NetworkMaker(uint64_t seed) : random_(seed) {}

  ir::Graph make(int op_count) {
    images_ = {graph_.add_input("x", {ir::DType::kF32, {1, 4, 8, 8}, {}, {}})};
    const ir::DimOrder order = random_.chance(30) ? ir::channels_last_order() : ir::DimOrder{};
    images_.push_back(graph_.add_input("z", {ir::DType::kF32, {1, 4, 8, 8}, order, {}}));
    while (static_cast<int>(graph_.ops().size()) < op_count) step();
    if (random_.chance(50)) return head();
    graph_.add_output(images_.back());
    graph_.add_output(pick());
    return std::move(graph_);
  }

 private:
  ValueId pick() {
    const int64_t last = static_cast<int64_t>(images_.size()) - 1;
    // The last value is more likely, so that networks are deep rather than wide.
    return images_[static_cast<size_t>(random_.chance(60) ? last : random_.between(0, last))];
  }
  ValueId constant(const ir::Shape& shape, double reach) {
    ir::Tensor tensor = ir::zeros(ir::DType::kF32, shape);
    for (float& value : tensor.data<float>()) {
      value = static_cast<float>(random_.real(-reach, reach));
    }
    return graph_.add_constant("c", std::make_shared<ir::Tensor>(std::move(tensor)));
  }
  void push(Result<ValueId> made) {
    if (made.ok()) images_.push_back(*made);
  }
  void add(OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs = {}) {
    push(graph_.add(kind, std::move(inputs), std::move(attrs)));
  }

  void convolution() {
    const ValueId x = pick();
    const int64_t channels = graph_.type(x).shape[1];
    const bool depthwise = random_.chance(40);
    const int64_t kernel = random_.between(1, 3);
    const int64_t in = depthwise ? 1 : channels;
    const int64_t out = depthwise ? channels : random_.between(1, 6);
    const double reach = 1.5 / std::sqrt(static_cast<double>(in * kernel * kernel));
    const ValueId w = constant({out, in, kernel, kernel}, reach);
    const ValueId b = random_.chance(70) ? constant({out}, 0.5) : ir::kNoValue;
    const int64_t stride = random_.chance(20) ? 2 : 1;
    const int64_t pad = random_.between(0, kernel / 2);
    add(OpKind::conv2d, {x, w, b},
        {{ir::attr::stride, std::vector<int64_t>{stride, random_.between(1, stride)}},
         {ir::attr::padding, std::vector<int64_t>{pad, kernel - 1 - pad, kernel - 1, pad}},
         {ir::attr::dilation, std::vector<int64_t>{1, random_.between(1, 2)}},
         {ir::attr::groups, depthwise ? channels : int64_t{1}}});
  }

  void transposed() {
    const ValueId x = pick();
    const int64_t channels = graph_.type(x).shape[1];
    const int64_t groups = random_.chance(30) ? channels : 1;
    const int64_t kernel = random_.between(1, 3);
    const int64_t stride = random_.between(1, 2);
    const int64_t out = random_.between(1, groups == 1 ? 6 : 2);
    const double reach = 1.5 / std::sqrt(static_cast<double>(channels / groups * kernel * kernel));
    const ValueId w = constant({channels, out, kernel, kernel}, reach);
    const ValueId b = random_.chance(70) ? constant({out * groups}, 0.5) : ir::kNoValue;
    const int64_t cut = random_.between(0, kernel - 1);
    const ValueId y = images_.back();
    add(OpKind::conv_transpose2d, {x, w, b},
        {{ir::attr::stride, std::vector<int64_t>{stride, 1}},
         {ir::attr::padding, std::vector<int64_t>{cut, 1, 0, cut}},
         {ir::attr::output_padding, std::vector<int64_t>{stride - 1, 0}},
         {ir::attr::dilation, std::vector<int64_t>{1, random_.between(1, 2)}},
         {ir::attr::groups, groups}});
    if (images_.back() != y) crop();
  }

  /// Keeps images small: crops what has grown.
  void crop() {
    const ir::Shape shape = graph_.type(images_.back()).shape;
    const std::vector<int64_t> size = {std::min<int64_t>(shape[2], 9),
                                       std::min<int64_t>(shape[3], 9)};
    const int64_t kind = random_.between(0, 2);
    if (kind == 0)
      return add(OpKind::adaptive_avg_pool2d, {images_.back()}, {{ir::attr::size, size}});
    if (kind == 1)
      return add(OpKind::adaptive_max_pool2d, {images_.back()}, {{ir::attr::size, size}});
    add(OpKind::resize_bilinear, {images_.back()},
        {{ir::attr::size, size}, {ir::attr::align_corners, random_.between(0, 1)}});
  }

  void pool() {
    const OpKind kind = random_.chance(50) ? OpKind::max_pool2d : OpKind::avg_pool2d;
    ir::Attrs attrs{{ir::attr::kernel, std::vector<int64_t>{2, 3}},
                    {ir::attr::stride, std::vector<int64_t>{1, 1}},
                    {ir::attr::padding, std::vector<int64_t>{1, 1, 0, 1}}};
    if (kind == OpKind::max_pool2d) attrs.set(ir::attr::dilation, std::vector<int64_t>{1, 1});
    add(kind, {pick()}, attrs);
  }

  void movement() {
    const ValueId x = pick();
    const ir::Shape shape = graph_.type(x).shape;
    switch (random_.between(0, 4)) {
      case 0:
        return add(OpKind::permute, {x}, {{ir::attr::dims, std::vector<int64_t>{0, 1, 3, 2}}});
      case 1:
        return add(OpKind::slice, {x},
                   {{ir::attr::dim, int64_t{2}},
                    {ir::attr::start, int64_t{1}},
                    {ir::attr::end, shape[2]}});
      case 2:
        return add(OpKind::pad, {x},
                   {{ir::attr::before, std::vector<int64_t>{0, 0, 1, 0}},
                    {ir::attr::after, std::vector<int64_t>{0, 0, 0, 1}},
                    {ir::attr::value, random_.chance(50) ? 0.0 : 0.75}});
      case 3:
        return add(OpKind::reshape, {x},
                   {{ir::attr::shape, ir::Shape{1, shape[1], shape[3], shape[2]}}});
      default:
        return add(OpKind::concat, {x, pick()}, {{ir::attr::dim, int64_t{1}}});
    }
  }

  void arithmetic() {
    const ValueId x = pick();
    const OpKind kind = random_.chance(33)   ? OpKind::sub
                        : random_.chance(33) ? OpKind::mul
                                             : OpKind::add;
    const int64_t channels = graph_.type(x).shape[1];
    switch (random_.between(0, 3)) {
      case 0:
        return add(kind, {x, constant({1, channels, 1, 1}, 1)});
      case 1:
        return add(kind, {constant({1}, 1), x});
      default:
        return add(kind, {x, pick()});
    }
  }

  void activation() {
    const ValueId x = pick();
    switch (random_.between(0, 4)) {
      case 0:
        return add(OpKind::sigmoid, {x});
      case 1:
        return add(OpKind::tanh, {x});
      case 2:
        return add(OpKind::clamp, {x}, {{ir::attr::float_min, 0.0}, {ir::attr::float_max, 6.0}});
      default:
        return add(OpKind::clamp, {x}, {{ir::attr::float_min, 0.0}});
    }
  }

  void step() {
    const int64_t kind = random_.between(0, 9);
    if (kind < 1) return transposed();
    if (kind < 3) return convolution();
    if (kind < 5) return activation();
    if (kind < 7) return arithmetic();
    if (kind < 8) return pool();
    movement();
  }

  /// Appends mean, linear and softmax.
  ir::Graph head() {
    add(OpKind::mean, {images_.back()}, {{ir::attr::dims, std::vector<int64_t>{2, 3}}});
    const int64_t channels = graph_.type(images_.back()).shape[1];
    add(OpKind::linear, {images_.back(), constant({5, channels}, 2), constant({5}, 0.5)});
    if (random_.chance(70)) {
      add(random_.chance(50) ? OpKind::softmax : OpKind::log_softmax, {images_.back()},
          {{ir::attr::dim, int64_t{1}}});
    }
    graph_.add_output(images_.back());
    return std::move(graph_);
  }

  Random random_;
  ir::Graph graph_;
  std::vector<ValueId> images_;
};

}  // namespace

ir::Graph random_network(uint64_t seed, int op_count) {
  return NetworkMaker(seed).make(op_count);
}

quant::CalibrationData random_calibration(const ir::Graph& graph, uint64_t seed, int64_t samples) {
  Random random(seed);
  quant::CalibrationData data;
  for (const ValueId id : graph.inputs()) {
    ir::Shape shape = graph.type(id).shape;
    shape.insert(shape.begin(), samples);
    ir::Tensor tensor = ir::zeros(ir::DType::kF32, shape);
    for (float& value : tensor.data<float>()) {
      value = static_cast<float>(random.real(-1, 1) + random.real(-1, 1));
    }
    data.inputs.push_back({graph.value(id).name, std::move(tensor)});
  }
  return data;
}

std::string names_of(const ir::Graph& graph) {
  std::string names;
  for (const ir::Op& op : graph.ops()) {
    names += (names.empty() ? "" : " ") + std::string(ir::op_name(op.kind));
  }
  return names;
}

ir::Graph parsed(const std::string& body) {
  const auto graph = ir::parse("graph @forward {\n" + body + "\n}", "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return graph.ok() ? *graph : ir::Graph();
}

}  // namespace thimble::test
