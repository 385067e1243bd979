// SPDX-License-Identifier: Apache-2.0
#include "random_spectrum_graph.h"

#include <cmath>
#include <memory>
#include <numbers>

#include "../unit/ir_random_graph.h"

namespace thimble::test {
namespace {

using ir::DType;

/// sine[k] is that of k quarter turns / (n / 4), in 31 fractional bits.
ir::Tensor sine_table(int64_t n) {
  ir::Tensor table = ir::zeros(DType::kI32, {n / 4});
  auto values = table.data<int32_t>();
  for (size_t k = 0; k < values.size(); ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    values[k] = static_cast<int32_t>(std::lround(std::sin(angle) * INT32_MAX));
  }
  return table;
}

}  // namespace

ir::Graph random_spectrum_graph(uint64_t seed) {
  Random random(seed);
  const int64_t n = int64_t{64} << random.between(0, 2), bins = n / 2 + 1;
  const int64_t bands = random.between(1, 5), frames = random.between(1, 3);
  const int64_t hop = random.between(1, n), rows = random.between(1, 2);
  ir::Tensor window = ir::zeros(DType::kI32, {n});
  for (int32_t& w : window.data<int32_t>()) {
    w = static_cast<int32_t>(random.between(0, 65536));
  }
  ir::Tensor places = ir::zeros(DType::kI32, {bands, 2});
  int64_t total = 0;
  for (size_t m = 0; m < static_cast<size_t>(bands); ++m) {
    const int64_t first = random.between(0, bins), count = random.between(0, bins - first);
    places.data<int32_t>()[2 * m] = static_cast<int32_t>(first);
    places.data<int32_t>()[2 * m + 1] = static_cast<int32_t>(count);
    total += count;
  }
  ir::Tensor weights = ir::zeros(DType::kI16, {total});
  for (int16_t& w : weights.data<int16_t>()) w = static_cast<int16_t>(random.between(0, INT16_MAX));

  ir::Graph graph;
  const auto constant = [&](ir::Tensor tensor) {
    return graph.add_constant("c", std::make_shared<const ir::Tensor>(std::move(tensor)));
  };
  const ir::Shape shape = {rows, n + hop * (frames - 1)};
  const ir::ValueId x = graph.add_input("x", {DType::kI16, shape, {}, {}});
  const bool wide = random.chance(50);
  const std::vector<ir::ValueId> operands = {x, constant(std::move(window)),
                                             constant(sine_table(n)), constant(std::move(places)),
                                             constant(std::move(weights))};
  const auto y = graph.add(ir::OpKind::qlog_mel, operands,
                           {{ir::attr::hop, hop},
                            {ir::attr::int_floor, random.between(0, 1000)},
                            {ir::attr::floor_shift, random.between(0, 8)},
                            {ir::attr::int_eps, random.between(1, 1000)},
                            {ir::attr::eps_shift, random.between(0, 8)},
                            {ir::attr::offset, random.between(-100000, 100000)},
                            {ir::attr::y_zp, wide ? int64_t{0} : random.between(-128, 127)},
                            {ir::attr::mult, random.between(1 << 30, INT32_MAX)},
                            {ir::attr::shift, random.between(wide ? -10 : -18, 0)},
                            {ir::attr::min, int64_t{wide ? -32768 : -128}},
                            {ir::attr::max, int64_t{wide ? 32767 : 127}},
                            {ir::attr::wide, int64_t{wide ? 1 : 0}}},
                           {}, {});
  graph.add_output(*y);
  return graph;
}

}  // namespace thimble::test
