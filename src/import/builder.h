#pragma once
// The graph under construction: adds operators, but folds movement of constants and leaves out
// movement that moves nothing. Quantized constants stay `dequantize` of their codes, so that
// nothing is lost: movement goes to the codes.

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::import_pt2 {

class Builder {
 public:
  ir::Graph graph;

  Result<ir::ValueId> add(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs,
                          const ir::Source& source, const std::string& name);
  ir::ValueId constant(const std::string& name, ir::Tensor tensor);

  /// Null if the value is no constant.
  [[nodiscard]] const ir::Tensor* constant_of(ir::ValueId id) const;
  /// The same, and the real numbers of a quantized constant. Valid as long as the builder.
  const ir::Tensor* known(ir::ValueId id);
  /// The operator that makes a value; null for inputs and constants. Valid until the next `add`.
  [[nodiscard]] const ir::Op* producer(ir::ValueId id) const;
  [[nodiscard]] const ir::Shape& shape(ir::ValueId id) const { return graph.type(id).shape; }

 private:
  /// Is the value dequantize of constant codes?
  [[nodiscard]] bool is_quantized_constant(ir::ValueId id) const;
  /// A movement of a quantized constant: of its codes, and of its axis. kNoValue if it cannot be.
  Result<ir::ValueId> move_codes(ir::OpKind kind, ir::ValueId input, const ir::Attrs& attrs,
                                 const std::string& name);
  bool moves_nothing(ir::OpKind kind, ir::ValueId input, const ir::Attrs& attrs) const;

  std::map<ir::ValueId, ir::TensorPtr> known_;  // of quantized constants
};

}  // namespace thimble::import_pt2
