#pragma once
// The graph under construction: adds operators, but folds movement of constants and leaves out
// movement that moves nothing.

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
  /// The operator that makes a value; null for inputs and constants. Valid until the next `add`.
  [[nodiscard]] const ir::Op* producer(ir::ValueId id) const;
  [[nodiscard]] const ir::Shape& shape(ir::ValueId id) const { return graph.type(id).shape; }

 private:
  bool moves_nothing(ir::OpKind kind, ir::ValueId input, const ir::Attrs& attrs) const;
};

}  // namespace thimble::import_pt2
