#include "interchange/op_lowering.h"

namespace thimble::interchange {

ir::DimOrder OpLowering::common_order() const {
  const size_t rank = result_shape().size();
  ir::DimOrder found;
  for (const ir::ValueId input : op_->inputs) {
    if (input == ir::kNoValue || graph_.value(input).constant) continue;
    if (graph_.type(input).shape.size() != rank) continue;
    const ir::DimOrder order = layouts_.existing(input);
    if (found.empty() || order == Layouts::image()) found = order;
  }
  return found.empty() ? Layouts::logical(rank) : found;
}

}  // namespace thimble::interchange
