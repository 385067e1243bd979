// SPDX-License-Identifier: Apache-2.0
#include "ir/weight_bits.h"

#include <algorithm>

namespace thimble::ir {

std::vector<size_t> weight_operands(OpKind kind) {
  std::vector<size_t> found;
  const auto& operands = op_info(kind).operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string_view name = operands[i].name;
    if (name == "w" || name == "w_ih" || name == "w_hh") found.push_back(i);
  }
  return found;
}

bool has_int4_weights(const Op& op) {
  return op_info(op.kind).find(attr::weight_bits.id) != nullptr && op.get(attr::weight_bits) == 4;
}

bool has_grouped_weights(const Op& op) {
  return op_info(op.kind).find(attr::weight_group.id) != nullptr && op.get(attr::weight_group) != 0;
}

int32_t group_factor(std::span<const int8_t> weights) {
  for (int32_t factor = 1; factor <= kGroupFactorMax; ++factor) {
    const bool fits = std::ranges::all_of(weights, [&](int8_t weight) {
      return weight % factor == 0 && weight / factor >= -8 && weight / factor <= 7;
    });
    if (fits) return factor;
  }
  return 0;
}

}  // namespace thimble::ir
