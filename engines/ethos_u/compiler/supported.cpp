// SPDX-License-Identifier: Apache-2.0
// Converts the rows of ops.def and the sizes of limits.h to text for a list.

#include "engines/ethos_u/compiler/engine.h"
#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/isa/config.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;
using thimble::ethos_u::Config;
using namespace thimble::ethos_u;  // sets of generations in the rows

namespace {

struct Row {
  OpKind op;
  uint8_t generations;
};
constexpr Row kRows[] = {
#define ETHOS_U_LOWER(op, generations, function) {OpKind::op, generations},
#include "engines/ethos_u/compiler/ops.def"
};

struct ListedLimit {
  OpKind op;
  uint8_t generations;
  std::string_view quantity;
  int64_t lowest, highest;
};
constexpr ListedLimit kListedLimits[] = {
#define ETHOS_U_LIMIT(op, generations, quantity, lowest, highest) \
  {OpKind::op, generations, #quantity, lowest, highest},
#include "engines/ethos_u/compiler/ops.def"
};

/// Returns the window limits that the lowering checks.
std::string window_limits(OpKind op) {
  switch (ir::category_of(op)) {
    case ir::OpCategory::kConv:
      return fmt::format("dilated kernel height 1 to {}, kernel area 1 to {}, padding 0 to {}",
                         kKernelHeightMax, kKernelAreaMax, kPadMax);
    case ir::OpCategory::kPool:
      if (ir::has_attr(op, ir::attr::min)) return "";  // an average
      return fmt::format("kernel height 1 to {}, kernel area 1 to {}, padding 0 to {}",
                         kPoolHeightMax, kPoolAreaMax, kPadMax);
    case ir::OpCategory::kTable:
      return "any function of one value: abs, clamp, exp, gelu, hardswish, log, relu, sigmoid, "
             "silu, sqrt, tanh and so on";
    default:
      return "";
  }
}

}  // namespace

std::vector<OpSupport> supported(const PartNpu& use) {
  const Config& config = *find_config(use.name.c_str());
  std::vector<OpSupport> list;
  for (const Row& row : kRows) {
    if (!has(row.generations, config.generation)) continue;
    std::string limits = window_limits(row.op);
    for (const ListedLimit& limit : kListedLimits) {
      if (limit.op != row.op || !has(limit.generations, config.generation)) continue;
      limits += fmt::format("{}{} {} to {}", limits.empty() ? "" : ", ", limit.quantity,
                            limit.lowest, limit.highest);
    }
    list.push_back({std::string(ir::op_name(row.op)), std::move(limits)});
  }
  return list;
}

}  // namespace thimble::engine::ethos_u
