// SPDX-License-Identifier: Apache-2.0
// Makes a failing graph smaller. A step is kept if the graph still fails:
//
//   1. in a graph without states, the result of an operator becomes the only output, and operators
//      that it does not need are removed
//   2. an output is removed, and the operators that only it needs
//   3. a state is removed: it becomes an input
//   4. an operator is removed: its result becomes an input
//   5. an extent of inputs, constants and attributes becomes smaller

#include <algorithm>
#include <map>
#include <set>

#include "ir/dce.h"
#include "ir/verify.h"
#include "tests/fuzz/differential.h"

namespace thimble::fuzz {
namespace {

struct Change {
  int removed_op = -1, removed_state = -1;
  int64_t from = 0, to = 0;  // extents; 0: none
  bool in_attributes = false;
};

/// Keeps the leading elements of each dimension with the changed extent.
ir::Tensor resized(const ir::Tensor& tensor, const ir::Shape& shape) {
  ir::Tensor result = ir::zeros(tensor.dtype, shape);
  const size_t bytes = ir::dtype_bytes(tensor.dtype);
  ir::Shape index(shape.size(), 0);
  for (int64_t i = 0, count = ir::element_count(shape); i < count; ++i) {
    int64_t rest = i, from = 0, stride = 1;
    for (size_t k = shape.size(); k-- > 0;) {
      from += rest % shape[k] * stride;
      rest /= shape[k];
      stride *= tensor.shape[k];
    }
    std::copy_n(tensor.bytes.begin() + from * static_cast<int64_t>(bytes), bytes,
                result.bytes.begin() + i * static_cast<int64_t>(bytes));
  }
  return result;
}

class Rebuild {
 public:
  Rebuild(const ir::Graph& from, const Change& change) : from_(from), change_(change) {}

  Result<ir::Graph> run() {
    const auto consumers = from_.consumers();
    for (const ir::ValueId id : from_.inputs()) {
      const bool is_result = std::ranges::count(from_.outputs(), id) != 0 ||
                             std::ranges::count(from_.states(), id, &ir::State::next) != 0;
      if (!consumers[ir::index_of(id)].empty() || is_result) add_input(id);
    }
    std::vector<ir::ValueId> next;  // of each state that remains
    for (size_t i = 0; i < from_.states().size(); ++i) {
      const ir::State& state = from_.states()[i];
      if (static_cast<int>(i) == change_.removed_state) {
        add_input(state.value);
        continue;
      }
      const ir::Value& value = from_.value(state.value);
      map_[state.value] =
          to_.add_state(value.name, tensor_of(*state.initial), quant_of(value.type));
      next.push_back(state.next);
    }
    for (size_t i = 0; i < from_.ops().size(); ++i) {
      const ir::Op& op = from_.ops()[i];
      if (static_cast<int>(i) == change_.removed_op) {
        add_input(op.output);
        continue;
      }
      THIMBLE_CHECK(add(op));
    }
    for (const ir::ValueId id : from_.outputs()) to_.add_output(mapped(id));
    for (size_t i = 0; i < next.size(); ++i) to_.set_next(i, mapped(next[i]));
    THIMBLE_CHECK(ir::verify(to_));
    return std::move(to_);
  }

 private:
  [[nodiscard]] ir::Shape shape_of(ir::Shape shape) const {
    for (int64_t& extent : shape) {
      if (extent == change_.from) extent = change_.to;
    }
    return shape;
  }
  [[nodiscard]] ir::TensorPtr tensor_of(const ir::Tensor& tensor) const {
    return std::make_shared<ir::Tensor>(resized(tensor, shape_of(tensor.shape)));
  }
  /// The quantization of a value, with an entry for each remaining channel.
  [[nodiscard]] std::optional<ir::Quant> quant_of(const ir::Type& type) const {
    std::optional<ir::Quant> quant = type.quant;
    if (quant && quant->axis >= 0) {
      const auto count =
          static_cast<size_t>(shape_of(type.shape)[static_cast<size_t>(quant->axis)]);
      quant->scale.resize(std::min(quant->scale.size(), count));
      quant->zero_point.resize(std::min(quant->zero_point.size(), count));
    }
    return quant;
  }
  void add_input(ir::ValueId id) {
    ir::Type type = from_.type(id);
    type.quant = quant_of(type);
    type.shape = shape_of(type.shape);
    map_[id] = to_.add_input(from_.value(id).name, type);
  }
  ir::ValueId mapped(ir::ValueId id) {
    if (id == ir::kNoValue) return id;
    const auto found = map_.find(id);
    if (found != map_.end()) return found->second;
    const ir::Value& value = from_.value(id);
    return map_[id] =
               to_.add_constant(value.name, tensor_of(*value.constant), quant_of(value.type));
  }
  Status add(const ir::Op& op) {
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId id : op.inputs) inputs.push_back(mapped(id));
    ir::Attrs attrs = op.attrs;
    for (const ir::AttrInfo& info : ir::op_info(op.kind).attrs) {
      const ir::AttrValue* const old = op.attrs.find_value(info.id);
      if (!change_.in_attributes || old == nullptr) continue;
      ir::AttrValue value = *old;
      if (auto* list = std::get_if<ir::attr_type::Ints>(&value)) *list = shape_of(*list);
      auto* const number = std::get_if<ir::attr_type::Int>(&value);
      if (number != nullptr && *number == change_.from) *number = change_.to;
      attrs.set_value(info.id, std::move(value));
    }
    const ir::Value& result = from_.value(op.output);
    THIMBLE_TRY(map_[op.output],
                to_.add(op.kind, inputs, attrs, op.source,
                        {result.name, result.type.dim_order, quant_of(result.type)}));
    return ok();
  }

  const ir::Graph& from_;
  const Change& change_;
  ir::Graph to_;
  std::map<ir::ValueId, ir::ValueId> map_;
};

class Shrinker {
 public:
  Shrinker(ir::Graph graph, const std::function<bool(const ir::Graph&)>& fails, int calls_max)
      : graph_(std::move(graph)), fails_(fails), calls_left_(calls_max) {}

  ir::Graph run() {
    while (calls_left_ > 0 && (keep_one_output() || remove_output() || remove_state() ||
                               remove_operator() || reduce_extent())) {
    }
    return std::move(graph_);
  }

 private:
  bool accept(Result<ir::Graph> smaller) {
    if (!smaller.ok() || smaller->ops().empty() || calls_left_ == 0) return false;
    --calls_left_;
    if (!fails_(*smaller)) return false;
    graph_ = std::move(*smaller);
    return true;
  }
  bool try_change(const Change& change) { return accept(Rebuild(graph_, change).run()); }

  bool keep_one_output() {
    if (!graph_.states().empty()) return false;
    for (const ir::Op& op : graph_.ops()) {
      ir::Graph one = graph_;
      one.outputs() = {op.output};
      one = ir::remove_unused(one);
      const bool smaller =
          one.ops().size() < graph_.ops().size() || one.outputs().size() < graph_.outputs().size();
      if (smaller && accept(Rebuild(one, {}).run())) return true;
    }
    return false;
  }
  bool remove_output() {
    for (size_t i = 0; i < graph_.outputs().size() && graph_.outputs().size() > 1; ++i) {
      ir::Graph fewer = graph_;
      fewer.outputs().erase(fewer.outputs().begin() + static_cast<std::ptrdiff_t>(i));
      if (accept(Rebuild(ir::remove_unused(fewer), {}).run())) return true;
    }
    return false;
  }
  bool remove_state() {
    for (size_t i = 0; i < graph_.states().size(); ++i) {
      if (try_change({.removed_state = static_cast<int>(i)})) return true;
    }
    return false;
  }
  bool remove_operator() {
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      if (graph_.ops().size() > 1 && try_change({.removed_op = static_cast<int>(i)})) return true;
    }
    return false;
  }
  bool reduce_extent() {
    std::set<int64_t, std::greater<>> extents;
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const ir::Shape& shape = graph_.value(static_cast<ir::ValueId>(i)).type.shape;
      extents.insert(shape.begin(), shape.end());
    }
    for (const int64_t extent : extents) {
      for (const int64_t smaller : {int64_t{1}, extent / 2, extent - 1}) {
        if (smaller < 1 || smaller >= extent) continue;
        for (const bool in_attributes : {false, true}) {
          if (try_change({.from = extent, .to = smaller, .in_attributes = in_attributes}))
            return true;
        }
      }
    }
    return false;
  }

  ir::Graph graph_;
  const std::function<bool(const ir::Graph&)>& fails_;
  int calls_left_;
};

}  // namespace

ir::Graph shrink(ir::Graph graph, const std::function<bool(const ir::Graph&)>& fails,
                 int calls_max) {
  return Shrinker(std::move(graph), fails, calls_max).run();
}

}  // namespace thimble::fuzz
