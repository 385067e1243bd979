// SPDX-License-Identifier: Apache-2.0
// Tied weights (quant/tied.h), joint calibration of methods (quant/joint.h), and constants that are
// part of others (formats/pte/parts.h).

#include <gtest/gtest.h>

#include <numeric>

#include "formats/pte/parts.h"
#include "quant/joint.h"
#include "quant/quantize.h"

namespace thimble::test {
namespace {

using ir::Graph;
using ir::OpKind;
using ir::ValueId;

constexpr int64_t kRows = 6, kWidth = 8;

ir::TensorPtr table() {
  std::vector<float> values(kRows * kWidth);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.01F * static_cast<float>((i * 37) % 101) - 0.3F;  // -0.3 to 0.7
  }
  return std::make_shared<const ir::Tensor>(ir::make_f32({kRows, kWidth}, values));
}

/// y = linear(gather(table, ids), table), for `count` ids.
Graph tied(int64_t count) {
  Graph graph;
  const ValueId ids = graph.add_input("ids", {ir::DType::kI64, {1, count}, {}, {}});
  const ValueId w = graph.add_constant("w", table());
  const auto rows = graph.add(OpKind::gather, {w, ids}, {{ir::attr::dim, int64_t{0}}});
  EXPECT_TRUE(rows.ok());
  const auto y = graph.add(OpKind::linear, {*rows, w, ir::kNoValue}, {});
  EXPECT_TRUE(y.ok()) << (y.ok() ? "" : y.error().message);
  graph.add_output(*y);
  return graph;
}

quant::CalibrationData samples_of(int64_t count, int64_t samples) {
  std::vector<float> ids(static_cast<size_t>(count * samples));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<float>(i % kRows);
  return {{{"ids", ir::make_f32({samples, 1, count}, ids)}}};
}

const ir::Op& op_of(const Graph& graph, OpKind kind) {
  const auto found = std::ranges::find(graph.ops(), kind, &ir::Op::kind);
  EXPECT_NE(found, graph.ops().end());
  return *found;
}

TEST(QuantTied, TableHasTheBytesOfTheWeights) {
  for (const bool wanted : {false, true}) {
    quant::QuantSpec spec;
    spec.linear_weights = quant::LinearWeights::kPerTensor;
    spec.tied_tables = wanted;
    const auto model = quant::quantize(tied(2), samples_of(2, 6), spec, {});
    ASSERT_TRUE(model.ok()) << model.error().message;
    const Graph& graph = model->graph;
    const ir::Value& rows = graph.value(op_of(graph, OpKind::gather).inputs[0]);
    const ir::Value& weights = graph.value(op_of(graph, OpKind::qlinear).inputs[1]);
    EXPECT_EQ(rows.constant->bytes == weights.constant->bytes, wanted);
    EXPECT_EQ(rows.type.quant->zero_point[0] == 0, wanted);
    EXPECT_EQ(op_of(graph, OpKind::qlinear).get(ir::attr::x_zp) == 0, wanted);
    EXPECT_GT(model->report.output_sqnr_db[0], 30);
  }
}

TEST(QuantTied, NotWithOneScalePerChannel) {
  quant::QuantSpec spec;
  spec.tied_tables = true;
  const auto model = quant::quantize(tied(2), samples_of(2, 6), spec, {});
  ASSERT_TRUE(model.ok());
  EXPECT_NE(
      model->graph.value(op_of(model->graph, OpKind::gather).inputs[0]).type.quant->zero_point[0],
      0);
}

/// y = linear(x, w) of `rows` rows, and a state that keeps the sum of the first row.
Graph counter(int64_t rows) {
  Graph graph;
  const ValueId x = graph.add_input("x", {ir::DType::kF32, {rows, kWidth}, {}, {}});
  const ValueId state = graph.add_state(
      "sum", std::make_shared<const ir::Tensor>(ir::zeros(ir::DType::kF32, {1, kRows})));
  const ValueId w = graph.add_constant("w", table());
  const auto y = graph.add(OpKind::linear, {x, w, ir::kNoValue}, {});
  EXPECT_TRUE(y.ok());
  const auto first = graph.add(
      OpKind::slice, {*y},
      {{ir::attr::dim, int64_t{0}}, {ir::attr::start, int64_t{0}}, {ir::attr::end, int64_t{1}}});
  EXPECT_TRUE(first.ok());
  const auto sum = graph.add(OpKind::add, {state, *first}, {});
  EXPECT_TRUE(sum.ok());
  graph.add_output(*y);
  graph.set_next(0, *sum);
  return graph;
}

quant::CalibrationData rows_of(int64_t rows, float scale) {
  std::vector<float> x(static_cast<size_t>(4 * rows * kWidth));
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = scale * (static_cast<float>((i * 29) % 17) / 8 - 1);
  }
  return {{{"x", ir::make_f32({4, rows, kWidth}, x)}}};
}

TEST(QuantJoint, MethodsShareRangesStatesAndWeights) {
  const Graph one = counter(1), many = counter(3);
  const quant::QuantSpec spec;
  quant::JointCalibration joint;
  const quant::QuantizeOptions options;
  const auto small = rows_of(1, 1), large = rows_of(3, 5);
  ASSERT_TRUE(quant::observe_method(one, small, spec, options, &joint).ok());
  ASSERT_TRUE(quant::observe_method(many, large, spec, options, &joint).ok());
  quant::QuantizeOptions shared;
  shared.joint = &joint;
  const auto first = quant::quantize(one, small, spec, shared);
  const auto second = quant::quantize(many, large, spec, shared);
  const auto alone = quant::quantize(one, small, spec, options);
  ASSERT_TRUE(first.ok() && second.ok() && alone.ok());
  const auto quant_of = [](const Graph& graph) {
    std::vector<double> found;
    const ir::Op& linear = op_of(graph, OpKind::qlinear);
    for (const ValueId id : {linear.inputs[0], linear.output, graph.states()[0].value}) {
      found.push_back(graph.type(id).quant->scale[0]);
      found.push_back(graph.type(id).quant->zero_point[0]);
    }
    return found;
  };
  EXPECT_EQ(quant_of(first->graph), quant_of(second->graph));
  EXPECT_GT(quant_of(first->graph)[0], 3 * quant_of(alone->graph)[0]) << "the range is the union";
  const auto constant_of = [](const Graph& graph, size_t i) {
    return graph.value(op_of(graph, OpKind::qlinear).inputs[i]).constant->bytes;
  };
  for (const size_t i : {1, 3, 4}) {
    EXPECT_EQ(constant_of(first->graph, i), constant_of(second->graph, i));
  }
}

Bytes random_bytes(size_t count, unsigned seed) {
  Bytes bytes(count);
  unsigned state = seed;
  for (std::byte& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

Bytes piece(const Bytes& whole, size_t from, size_t count) {
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

TEST(PteParts, FindsAlignedParts) {
  const Bytes whole = random_bytes(1000, 1);
  const std::vector<Bytes> buffers = {
      {},
      piece(whole, 32, 300),     // 1: part of 3
      random_bytes(500, 2),      // 2
      whole,                     // 3
      piece(whole, 48, 128),     // 4: part of 1 and of 3
      piece(whole, 40, 300),     // 5: not aligned
      piece(whole, 64, 127),     // 6: too small
      piece(whole, 800, 200),    // 7: the end of 3
      Bytes(600, std::byte{0}),  // 8: a run is not searched
      Bytes(200, std::byte{0}),  // 9
      whole,                     // 10: equal, not a part
  };
  const auto parts = formats::pte::find_parts(buffers, 16);
  ASSERT_EQ(parts.size(), 3u);
  for (const auto& [index, part] : parts) {
    ASSERT_TRUE(part.whole == 3 || part.whole == 10) << index;
    EXPECT_EQ(piece(whole, part.offset, buffers[index].size()), buffers[index]);
  }
  EXPECT_EQ(parts.at(1).offset, 32u);
  EXPECT_EQ(parts.at(4).offset, 48u);
  EXPECT_EQ(parts.at(7).offset, 800u);
}

}  // namespace
}  // namespace thimble::test
