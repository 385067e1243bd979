// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/memory_orders.h"

#include <algorithm>
#include <optional>

#include "engines/neutron/compiler/location.h"
#include "engines/neutron/compiler/op_rows.h"
#include "engines/neutron/compiler/tables.h"
#include "ir/op_traits.h"

namespace thimble::engine::neutron {
namespace {

using ir::DimOrder;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

bool runs_in_any_order(const Op& op) {
  return has_trait(op.kind, kAnyOrder) ||
         (has_trait(op.kind, kAnyOrderIfKeepdim) && op.get(ir::attr::keepdim) != 0);
}

class Inference {
 public:
  explicit Inference(const ir::Graph& graph) : graph_(graph), required_(graph.value_count()) {}

  std::vector<DimOrder> run() {
    set_required();
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Op& op : graph_.ops()) changed |= propagate(op);
    }
    std::vector<DimOrder> result(graph_.value_count());
    for (const ValueId id : graph_.inputs()) at(result, id) = graph_.type(id).dim_order;
    for (const Op& op : graph_.ops()) inherit_from_operand(op, result);
    for (size_t i = 0; i < required_.size(); ++i) {
      if (required_[i]) result[i] = *required_[i];
    }
    return result;
  }

 private:
  template <typename T>
  static T& at(std::vector<T>& list, ValueId id) {
    return list[static_cast<size_t>(id)];
  }
  size_t rank(ValueId id) const { return graph_.type(id).shape.size(); }

  /// Returns true for a 1x1 convolution that maps each element alone; it needs no image order.
  bool is_pointwise_table(const Op& op) const {
    return op.kind == OpKind::qconv2d && int8_function(graph_, op).has_value();
  }

  bool set(ValueId id, const DimOrder& order) {
    auto& known = at(required_, id);
    if (known || order.size() != rank(id) || rank(id) < 3) return false;
    known = order;
    return true;
  }

  void set_required() {
    const auto image = [&](ValueId id) {
      if (rank(id) == 4) set(id, ir::channels_last_order());
    };
    for (const Op& op : graph_.ops()) {
      const bool slopes = op.kind == OpKind::qprelu && graph_.type(op.inputs[1]).elements() > 1;
      if (!slopes && (!ir::is_window(op.kind) || is_pointwise_table(op))) continue;
      image(op.inputs[0]);
      image(op.output);
    }
    const auto edge_order = [&](ValueId id) {
      const DimOrder& order = graph_.type(id).dim_order;
      if (!ir::is_contiguous(order)) set(id, order);
    };
    for (const ValueId id : graph_.inputs()) edge_order(id);
    for (const ValueId id : graph_.outputs()) edge_order(id);
  }

  bool propagate(const Op& op) {
    if (op.kind == OpKind::permute) return through_permute(op);
    if (op.kind == OpKind::reshape) return through_reshape(op);
    if (!runs_in_any_order(op) && !is_pointwise_table(op)) return false;
    const DimOrder* known = nullptr;
    const auto look = [&](ValueId id) {
      if (id == ir::kNoValue || rank(id) != rank(op.output)) return;
      if (at(required_, id) && known == nullptr) known = &*at(required_, id);
    };
    look(op.output);
    for (const ValueId id : op.inputs) look(id);
    if (known == nullptr) return false;
    const DimOrder order = *known;
    bool changed = set(op.output, order);
    for (const ValueId id : op.inputs) {
      if (id != ir::kNoValue) changed |= set(id, order);
    }
    return changed;
  }

  bool through_permute(const Op& op) {
    const auto& dims = op.get(ir::attr::dims);
    if (const auto& from = at(required_, op.inputs[0]))
      return set(op.output, permuted_order(*from, dims));
    const auto& to = at(required_, op.output);
    if (!to) return false;
    DimOrder order;
    for (const uint8_t dim : *to) order.push_back(static_cast<uint8_t>(dims[dim]));
    return set(op.inputs[0], order);
  }

  bool through_reshape(const Op& op) {
    const auto propagate_to = [&](ValueId from, ValueId to) {
      const auto& order = at(required_, from);
      if (!order || at(required_, to)) return false;
      const auto through = reshaped_order(graph_.type(from).shape, *order, graph_.type(to).shape);
      return through && set(to, *through);
    };
    return propagate_to(op.inputs[0], op.output) || propagate_to(op.output, op.inputs[0]);
  }

  /// Returns the memory order of the same bytes in shape `to`; nothing if none exists.
  static std::optional<DimOrder> reshaped_order(const ir::Shape& shape, const DimOrder& order,
                                                const ir::Shape& to) {
    const auto location = reshaped(dense(0, shape, order), to);
    if (!location) return std::nullopt;
    std::vector<std::pair<int64_t, uint8_t>> dims;  // stride, dimension
    for (size_t i = 0; i < to.size(); ++i) {
      const auto axis = location->single(i);
      if (!axis) return std::nullopt;
      // A dimension of size 1 has no stride; it is sorted as the outermost.
      dims.emplace_back(axis->size == 1 ? INT64_MAX : axis->stride, static_cast<uint8_t>(i));
    }
    std::ranges::stable_sort(dims, [](const auto& a, const auto& b) { return a.first > b.first; });
    DimOrder result;
    for (const auto& [stride, dim] : dims) result.push_back(dim);
    return result;
  }

  /// Returns the memory order of the same bytes after a permute.
  static DimOrder permuted_order(const DimOrder& from, const std::vector<int64_t>& dims) {
    DimOrder order;
    for (const uint8_t dim : from) {
      order.push_back(static_cast<uint8_t>(std::ranges::find(dims, int64_t{dim}) - dims.begin()));
    }
    return order;
  }

  void inherit_from_operand(const Op& op, std::vector<DimOrder>& result) const {
    const auto order_of = [&](ValueId id) {
      const auto& required = required_[static_cast<size_t>(id)];
      return required ? *required : result[static_cast<size_t>(id)];
    };
    DimOrder& order = at(result, op.output);
    if (op.kind == OpKind::permute && rank(op.output) > 1) {
      DimOrder from = order_of(op.inputs[0]);
      if (from.empty()) {
        for (size_t i = 0; i < rank(op.output); ++i) from.push_back(static_cast<uint8_t>(i));
      }
      order = permuted_order(from, op.get(ir::attr::dims));
      return;
    }
    if (!runs_in_any_order(op) && !is_pointwise_table(op)) return;
    for (const ValueId id : op.inputs) {
      if (id == ir::kNoValue || rank(id) != rank(op.output)) continue;
      if (graph_.value(id).constant) continue;
      order = order_of(id);
      return;
    }
  }

  const ir::Graph& graph_;
  std::vector<std::optional<DimOrder>> required_;
};

}  // namespace

std::vector<ir::DimOrder> memory_orders(const ir::Graph& subgraph) {
  return Inference(subgraph).run();
}

}  // namespace thimble::engine::neutron
