// SPDX-License-Identifier: Apache-2.0
#include "import/builder.h"

#include <algorithm>
#include <variant>

#include "import/constants.h"

namespace thimble::import_pt2 {
namespace {

int64_t whole(const ir::Attrs& attrs, ir::AttrKey<int64_t> key, int64_t fallback) {
  const int64_t* held = attrs.find(key);
  return held == nullptr ? fallback : *held;
}

bool all_zero(const std::vector<int64_t>* values) {
  return values != nullptr &&
         std::all_of(values->begin(), values->end(), [](int64_t v) { return v == 0; });
}

/// Returns the position of dimension `axis` of `from` after the movement, or nullopt if it is split
/// or merged.
std::optional<int64_t> moved_axis(ir::OpKind kind, const ir::Attrs& attrs, const ir::Shape& from,
                                  int64_t axis) {
  if (kind == ir::OpKind::slice) return axis;
  if (kind == ir::OpKind::permute) {
    const auto* dims = attrs.find(ir::attr::dims);
    const auto found = std::find(dims->begin(), dims->end(), axis);
    return found - dims->begin();
  }
  const auto* to = attrs.find(ir::attr::shape);
  int64_t before = 1;
  for (int64_t dim = 0; dim < axis; ++dim) before *= from[static_cast<size_t>(dim)];
  int64_t seen = 1;
  for (size_t dim = 0; dim < to->size(); ++dim) {
    if (seen == before && (*to)[dim] == from[static_cast<size_t>(axis)]) {
      return static_cast<int64_t>(dim);
    }
    seen *= (*to)[dim];
  }
  return std::nullopt;
}

bool is_dequantize(ir::OpKind kind) {
  return kind == ir::OpKind::dequantize || kind == ir::OpKind::dequantize_channels;
}

}  // namespace

bool Builder::is_quantized_constant(ir::ValueId id) const {
  const ir::Op* op = producer(id);
  return op != nullptr && is_dequantize(op->kind) && constant_of(op->inputs[0]) != nullptr;
}

Result<ir::ValueId> Builder::move_codes(ir::OpKind kind, ir::ValueId input, const ir::Attrs& attrs,
                                        const std::string& name) {
  const ir::Op before = *producer(input);
  ir::Op after = before;
  if (before.kind == ir::OpKind::dequantize_channels) {
    const int64_t axis = before.get(ir::attr::axis);
    const auto moved = moved_axis(kind, attrs, shape(input), axis);
    if (!moved) return ir::kNoValue;
    after.attrs.set(ir::attr::axis, *moved);
    if (kind == ir::OpKind::slice && whole(attrs, ir::attr::dim, -1) == axis) {
      ir::Attrs along = attrs;
      along.set(ir::attr::dim, int64_t{0});
      for (size_t i = 1; i < after.inputs.size(); ++i) {
        if (after.inputs[i] == ir::kNoValue) continue;
        THIMBLE_TRY(after.inputs[i],
                    add(kind, {after.inputs[i]}, along, before.source, name + "_parameters"));
      }
    }
  }
  THIMBLE_TRY(after.inputs[0],
              add(kind, {before.inputs[0]}, attrs, before.source, name + "_codes"));
  return graph.add(after.kind, after.inputs, after.attrs, before.source, {name, {}, {}});
}

const ir::Tensor* Builder::known(ir::ValueId id) {
  if (const ir::Tensor* held = constant_of(id)) return held;
  if (const auto found = known_.find(id); found != known_.end()) return found->second.get();
  if (!is_quantized_constant(id)) return nullptr;
  const ir::Op& op = *producer(id);
  std::vector<const ir::Tensor*> operands;
  for (const ir::ValueId operand : op.inputs) {
    operands.push_back(operand == ir::kNoValue ? nullptr : constant_of(operand));
  }
  return (known_[id] = std::make_shared<const ir::Tensor>(dequantized(op, operands))).get();
}

bool Builder::moves_nothing(ir::OpKind kind, ir::ValueId input, const ir::Attrs& attrs) const {
  const ir::Shape& from = shape(input);
  switch (kind) {
    case ir::OpKind::reshape:
    case ir::OpKind::expand: {
      const auto* to = attrs.find(ir::attr::shape);
      return to != nullptr && *to == from;
    }
    case ir::OpKind::permute: {
      const auto* dims = attrs.find(ir::attr::dims);
      if (dims == nullptr || dims->size() != from.size()) return false;
      for (size_t i = 0; i < dims->size(); ++i) {
        if ((*dims)[i] != static_cast<int64_t>(i)) return false;
      }
      return true;
    }
    case ir::OpKind::slice: {
      const int64_t dim = whole(attrs, ir::attr::dim, -1);
      return dim >= 0 && static_cast<size_t>(dim) < from.size() &&
             whole(attrs, ir::attr::step, 1) == 1 && whole(attrs, ir::attr::start, 0) == 0 &&
             whole(attrs, ir::attr::end, -1) == from[static_cast<size_t>(dim)];
    }
    case ir::OpKind::pad:
      return all_zero(attrs.find(ir::attr::before)) && all_zero(attrs.find(ir::attr::after));
    default:
      return false;
  }
}

Result<ir::ValueId> Builder::add(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs,
                                 const ir::Source& source, const std::string& name) {
  if (!inputs.empty() && inputs[0] != ir::kNoValue && moves_nothing(kind, inputs[0], attrs)) {
    return inputs[0];
  }
  const bool moves =
      kind == ir::OpKind::permute || kind == ir::OpKind::reshape || kind == ir::OpKind::slice;
  if (moves && is_quantized_constant(inputs[0])) {
    THIMBLE_TRY(const ir::ValueId id, move_codes(kind, inputs[0], attrs, name));
    if (id != ir::kNoValue) return id;
  }
  std::vector<ir::TensorPtr> constants;
  for (const ir::ValueId id : inputs) {
    if (id != ir::kNoValue) constants.push_back(graph.value(id).constant);
  }
  const bool folds =
      !is_dequantize(kind) &&
      std::all_of(constants.begin(), constants.end(), [](const auto& c) { return c != nullptr; });

  // graph.add checks the operator and infers its shape. A folded operator is unused and is removed
  // later.
  THIMBLE_TRY(const ir::ValueId id, graph.add(kind, std::move(inputs), std::move(attrs), source,
                                              {folds ? "folded" : name, {}, {}}));
  if (!folds || !can_fold(*producer(id), shape(id), constants)) return id;
  const auto element = static_cast<int64_t>(ir::dtype_bytes(graph.type(id).dtype));
  if (ir::element_count(shape(id)) > constant_bytes_left() / element) {
    return unsupported("{}", limit_of_constants());
  }
  return constant(name, fold(*producer(id), shape(id), constants));
}

ir::ValueId Builder::constant(const std::string& name, ir::Tensor tensor) {
  constant_bytes_ += static_cast<int64_t>(tensor.bytes.size());
  return graph.add_constant(name, std::make_shared<const ir::Tensor>(std::move(tensor)));
}

std::string Builder::limit_of_constants() const {
  return fmt::format(
      "the constants of this model have more than {} B: {} MiB and {} times the archive",
      constant_bytes_max_, kConstantBytesBase >> 20, kConstantBytesPerByte);
}

Status Builder::count_computed(int64_t numbers) {
  if (numbers > computed_left_) {
    return unsupported(
        "{} numbers that are computed at import, {} of {} are left: compute them before the export",
        numbers, computed_left_, computed_max_);
  }
  computed_left_ -= numbers;
  return ok();
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
