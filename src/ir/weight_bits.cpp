#include "ir/weight_bits.h"

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

}  // namespace thimble::ir
