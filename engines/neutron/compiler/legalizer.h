// SPDX-License-Identifier: Apache-2.0
#pragma once
// Implementation of legalize(): one member function per operator.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/neutron/compiler/positions.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

class Legalizer {
 public:
  explicit Legalizer(const ir::Graph& from) : from_(from), rewriter_(from) {}
  Result<ir::Graph> run();

 private:
  Status add(const ir::Op& op);
  [[nodiscard]] bool is_within_limits(const ir::Op& op) const;
  // legalize_weighted.cpp
  Status linear(const ir::Op& op);
  Status convolution(const ir::Op& op);
  Status transposed_convolution(const ir::Op& op);
  Status matmul(const ir::Op& op);
  Status clamped_linear_as_convolution(const ir::Op& op);
  Status negated(const ir::Op& op);
  // legalize_phases.cpp
  Status phases(const ir::Op& op);
  struct Phases;
  Result<std::vector<ir::ValueId>> phase_operands(const ir::Op& op, const Phases& phases);
  // legalize.cpp
  Status table(const ir::Op& op);
  Status adaptive_pool(const ir::Op& op);
  Status expand(const ir::Op& op);
  Status slice(const ir::Op& op);
  Status gather(const ir::Op& op);
  Status segments(const ir::Op& op, std::span<const Positions::Segment> segments);
  [[nodiscard]] bool has_flat_index(const ir::Op& gather) const;

  /// Adds convolutions of `merged` groups each.
  struct Groups;
  Status add_groups(const ir::Op& op, const Groups& groups, ir::Attrs attrs);
  Result<ir::ValueId> add_group(const ir::Op& op, const Groups& groups, const ir::Attrs& attrs,
                                int64_t index);

  [[nodiscard]] const ir::Type& type(const ir::Op& op, size_t i) const {
    return from_.type(op.inputs[i]);
  }
  [[nodiscard]] const ir::Tensor* tensor(const ir::Op& op, size_t i) const;
  [[nodiscard]] ir::Graph::ResultHint hint_of(const ir::Op& op) const;
  /// Hint for an intermediate value of `op`, with the quantization parameters of `like`.
  [[nodiscard]] ir::Graph::ResultHint inner_hint(const ir::Op& op, std::string_view ending,
                                                 const ir::Type& like) const;
  Result<ir::ValueId> add_inner(const ir::Op& op, ir::OpKind kind, std::vector<ir::ValueId> inputs,
                                ir::Attrs attrs, std::string_view ending, const ir::Type& like);
  /// Adds the operator that computes the result of `op`.
  Status finish(const ir::Op& op, ir::OpKind kind, std::vector<ir::ValueId> inputs,
                ir::Attrs attrs);
  Result<ir::ValueId> reshaped(const ir::Op& op, ir::ValueId x, const ir::Shape& shape,
                               std::string_view ending, const ir::Type& like);
  ir::ValueId constant(const ir::Op& op, std::string_view ending, ir::Tensor tensor,
                       std::optional<ir::Quant> quant = {});
  [[nodiscard]] const ir::Shape& shape_of(ir::ValueId made) {
    return rewriter_.to().type(made).shape;
  }

  const ir::Graph& from_;
  ir::Rewriter rewriter_;
};

}  // namespace thimble::engine::neutron
