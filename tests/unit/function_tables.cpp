// SPDX-License-Identifier: Apache-2.0
#include "function_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace thimble::test {

using interchange::Function;
using Kind = Function::Kind;

Entries table_of(const Codes& codes, const Formula& f, bool single) {
  Entries entries;
  const double from = codes.x.scale[0], to = codes.y.scale[0];
  const int zero = codes.y.zero_point[0];
  for (int code = -128; code < 128; ++code) {
    const int away = code - codes.x.zero_point[0];
    double y = f(from * away) / to;
    if (single) {
      const float x = static_cast<float>(away) * static_cast<float>(from);
      y = static_cast<double>(static_cast<float>(f(static_cast<double>(x))) *
                              (1.0F / static_cast<float>(to)));
    }
    const double rounded = std::isnan(y) ? zero : std::nearbyint(y) + zero;
    entries.push_back(static_cast<int8_t>(std::clamp(rounded, -128.0, 127.0)));
  }
  return entries;
}

Formula formula_of(const Function& f) {
  switch (f.kind) {
    case Kind::kAbs:
      return [](double x) { return std::abs(x); };
    case Kind::kClamp:
      return [f](double x) { return std::clamp(x, f.min, f.max); };
    case Kind::kExp:
      return [](double x) { return std::exp(x); };
    case Kind::kHardSwish:
      return [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); };
    case Kind::kLeakyRelu:
      return [f](double x) { return std::max(x, 0.0) + f.alpha * std::min(x, 0.0); };
    case Kind::kLog:
      return [](double x) { return std::log(x); };
    case Kind::kLogistic:
      return [](double x) { return 0.5 + 0.5 * std::tanh(x / 2); };
    case Kind::kNeg:
      return [](double x) { return -x; };
    case Kind::kRescale:
      return [](double x) { return x; };
    case Kind::kRsqrt:
      return [](double x) { return std::pow(x, -0.5); };
    case Kind::kTanh:
      return [](double x) { return std::tanh(x); };
  }
  return {};
}

ir::Graph graph_of_table(const Codes& codes, const Entries& entries) {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", {ir::DType::kI8, {1, 256}, {}, codes.x});
  ir::Tensor table = ir::zeros(ir::DType::kI8, {256});
  std::ranges::copy(entries, table.data<int8_t>().begin());
  const ir::ValueId list = graph.add_constant("t", std::make_shared<ir::Tensor>(std::move(table)));
  graph.add_output(*graph.add(ir::OpKind::lut, {x, list}, {}, {}, {"y", {}, codes.y}));
  return graph;
}

double float_scale(Random& random, double low, double high) {
  const double real = std::exp(random.real(std::log(low), std::log(high)));
  return static_cast<double>(static_cast<float>(real));
}

}  // namespace thimble::test
