#include "import/builder.h"

#include <algorithm>
#include <variant>

#include "import/constants.h"

namespace thimble::import_pt2 {
namespace {

const std::vector<int64_t>* list(const ir::Attrs& attrs, std::string_view name) {
  const ir::AttrValue* value = attrs.find(name);
  return value == nullptr ? nullptr : std::get_if<std::vector<int64_t>>(value);
}

int64_t whole(const ir::Attrs& attrs, std::string_view name, int64_t fallback) {
  const ir::AttrValue* value = attrs.find(name);
  const int64_t* held = value == nullptr ? nullptr : std::get_if<int64_t>(value);
  return held == nullptr ? fallback : *held;
}

bool all_zero(const std::vector<int64_t>* values) {
  return values != nullptr &&
         std::all_of(values->begin(), values->end(), [](int64_t v) { return v == 0; });
}

}  // namespace

bool Builder::moves_nothing(ir::OpKind kind, ir::ValueId input, const ir::Attrs& attrs) const {
  const ir::Shape& from = shape(input);
  switch (kind) {
    case ir::OpKind::reshape:
    case ir::OpKind::expand: {
      const auto* to = list(attrs, "shape");
      return to != nullptr && *to == from;
    }
    case ir::OpKind::permute: {
      const auto* dims = list(attrs, "dims");
      if (dims == nullptr || dims->size() != from.size()) return false;
      for (size_t i = 0; i < dims->size(); ++i) {
        if ((*dims)[i] != static_cast<int64_t>(i)) return false;
      }
      return true;
    }
    case ir::OpKind::slice: {
      const int64_t dim = whole(attrs, "dim", -1);
      return dim >= 0 && static_cast<size_t>(dim) < from.size() && whole(attrs, "step", 1) == 1 &&
             whole(attrs, "start", 0) == 0 &&
             whole(attrs, "end", -1) == from[static_cast<size_t>(dim)];
    }
    case ir::OpKind::pad:
      return all_zero(list(attrs, "before")) && all_zero(list(attrs, "after"));
    default:
      return false;
  }
}

Result<ir::ValueId> Builder::add(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs,
                                 const ir::Source& source, const std::string& name) {
  if (!inputs.empty() && inputs[0] != ir::kNoValue && moves_nothing(kind, inputs[0], attrs)) {
    return inputs[0];
  }
  std::vector<ir::TensorPtr> constants;
  for (const ir::ValueId id : inputs) {
    if (id != ir::kNoValue) constants.push_back(graph.value(id).constant);
  }
  const bool folds =
      std::all_of(constants.begin(), constants.end(), [](const auto& c) { return c != nullptr; });

  // The factory checks the operator and finds its shape; a folded one is dropped as unused later.
  THIMBLE_TRY(const ir::ValueId id, graph.add(kind, std::move(inputs), std::move(attrs), source,
                                              {folds ? "folded" : name, {}, {}}));
  if (!folds) return id;
  auto tensor = fold(*producer(id), shape(id), constants);
  return tensor ? constant(name, *std::move(tensor)) : id;
}

ir::ValueId Builder::constant(const std::string& name, ir::Tensor tensor) {
  return graph.add_constant(name, std::make_shared<const ir::Tensor>(std::move(tensor)));
}

const ir::Tensor* Builder::constant_of(ir::ValueId id) const {
  return graph.value(id).constant.get();
}

const ir::Op* Builder::producer(ir::ValueId id) const {
  const auto& ops = graph.ops();
  const auto found =
      std::lower_bound(ops.begin(), ops.end(), id,
                       [](const ir::Op& op, ir::ValueId wanted) { return op.output < wanted; });
  return found != ops.end() && found->output == id ? &*found : nullptr;
}

}  // namespace thimble::import_pt2
