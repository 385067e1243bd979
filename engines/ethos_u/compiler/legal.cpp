// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/legal.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "engine/single_op.h"
#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;
using thimble::ethos_u::Config;
using namespace thimble::ethos_u;  // sets of generations in the rows

namespace {

struct Call {
  const ir::Graph& graph;
  const ir::Op& op;
  [[nodiscard]] const ir::Shape& shape(size_t i) const { return graph.type(op.inputs[i]).shape; }
};

int64_t last_dimension(const Call& call) {
  return call.shape(0).back();
}

int64_t row_elements(const Call& call) {
  return call.shape(0)[static_cast<size_t>(call.op.get(ir::attr::dim))];
}

int64_t products(const Call& call) {
  return call.graph.type(call.op.output).elements() * call.shape(0).back();
}

struct LimitRow {
  OpKind op;
  uint8_t generations;
  const char* name;
  int64_t (*quantity)(const Call&);
  int64_t lowest, highest;
};
constexpr LimitRow kLimits[] = {
#define ETHOS_U_LIMIT(op, generations, quantity, lowest, highest) \
  {OpKind::op, generations, #quantity, quantity, lowest, highest},
#include "engines/ethos_u/compiler/ops.def"
};

struct RefusalRow {
  OpKind op;
  uint8_t generations;
  const char* reason;
};
constexpr RefusalRow kRefusals[] = {
#define ETHOS_U_REFUSE(op, generations, reason) {OpKind::op, generations, reason},
#include "engines/ethos_u/compiler/ops.def"
};

struct LowerRow {
  OpKind op;
  uint8_t generations;
};
constexpr LowerRow kLowered[] = {
#define ETHOS_U_LOWER(op, generations, function) {OpKind::op, generations},
#include "engines/ethos_u/compiler/ops.def"
};

}  // namespace

Lowering::Handler Lowering::handler_of(OpKind kind) {
  switch (kind) {
#define ETHOS_U_LOWER(op, generations, function) \
  case OpKind::op:                               \
    return &Lowering::function;
#include "engines/ethos_u/compiler/ops.def"
    default:
      return nullptr;
  }
}

Legality legal(const ir::Graph& graph, const ir::Op& op, const Config& config) {
  const auto refuse = [&](const std::string& reason) {
    return Legality{false, fmt::format("{} on {}: {}", ir::op_name(op.kind), config.name, reason)};
  };
  for (const RefusalRow& row : kRefusals) {
    if (row.op == op.kind && has(row.generations, config.generation)) return refuse(row.reason);
  }
  const bool known = std::any_of(std::begin(kLowered), std::end(kLowered), [&](const LowerRow& r) {
    return r.op == op.kind && has(r.generations, config.generation);
  });
  if (!known) return refuse("it is not an integer operator");
  const bool rounds = ir::has_attr(op.kind, ir::attr::rounding);
  if (rounds && op.get(ir::attr::rounding) == 2) return refuse("it rounds halves to even");
  for (const LimitRow& row : kLimits) {
    if (row.op != op.kind || !has(row.generations, config.generation)) continue;
    const int64_t value = row.quantity({graph, op});
    if (value < row.lowest || value > row.highest) {
      return refuse(
          fmt::format("{} is {}, expected {} to {}", row.name, value, row.lowest, row.highest));
    }
  }
  auto one = single_op_graph(graph, op);
  if (!one.ok()) return refuse(one.error().message);
  const auto program = lower(*one, config);
  return program.ok() ? Legality{true, ""} : Legality{false, program.error().message};
}

}  // namespace thimble::engine::ethos_u
