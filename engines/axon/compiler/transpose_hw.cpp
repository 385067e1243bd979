// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/transpose_hw.h"

#include <algorithm>
#include <map>

#include "engines/axon/compiler/network.h"

namespace thimble::engine::axon {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr int64_t kSwappedHw[] = {0, 1, 3, 2};

bool is_image(const ir::Shape& shape) {
  return shape.size() == 4;
}
/// Returns true if transposing H and W does not change the order of the elements.
bool is_line(const ir::Shape& shape) {
  return is_image(shape) && (shape[2] == 1 || shape[3] == 1);
}
bool is_row(const ir::Shape& shape) {
  return ir::element_count(shape) == shape.back();
}
ir::Shape swapped_hw(ir::Shape shape) {
  if (is_image(shape)) std::swap(shape[2], shape[3]);
  return shape;
}
int64_t swapped_hw_dim(int64_t dim) {
  return dim == 2 ? 3 : dim == 3 ? 2 : dim;
}

class HwTransposer {
 public:
  explicit HwTransposer(const ir::Graph& from) : from_(from), consumers_(from.consumers()) {}

  std::optional<ir::Graph> run() {
    if (!from_.states().empty()) return std::nullopt;
    to_.name = from_.name;
    for (const ValueId id : from_.inputs()) {
      ir::Type type = from_.type(id);
      type.shape = swapped_hw(type.shape);
      known_[id] = to_.add_input(from_.value(id).name, type);
    }
    for (const Op& op : from_.ops()) {
      if (!add(op)) return std::nullopt;
    }
    for (const ValueId id : from_.outputs()) {
      if (flat_.contains(id)) return std::nullopt;
      to_.add_output(known_[id]);
    }
    return std::move(to_);
  }

 private:
  const ir::Shape& shape(ValueId id) const { return from_.type(id).shape; }

  /// Maps a value to the new graph. 4-D constants are transposed like other images.
  ValueId value(ValueId id) {
    if (id == ir::kNoValue) return id;
    const auto found = known_.find(id);
    if (found != known_.end()) return found->second;
    const ir::Value& constant = from_.value(id);
    ir::TensorPtr tensor = constant.constant;
    if (is_image(tensor->shape)) {
      tensor = std::make_shared<ir::Tensor>(ir::permuted(*tensor, kSwappedHw));
    }
    return known_[id] = to_.add_constant(constant.name, tensor, constant.type.quant);
  }

  bool add(const Op& op) {
    ir::Attrs attrs = op.attrs;
    std::vector<ValueId> inputs;
    if (!allowed(op)) return false;
    for (const ValueId input : op.inputs) inputs.push_back(value(input));
    if (op.kind == OpKind::qlinear && flat_.contains(op.inputs[0])) {
      inputs[1] = reordered(op.inputs[1], flat_[op.inputs[0]]);
    }
    exchange(op, &attrs);
    const ir::Value& result = from_.value(op.output);
    auto made =
        to_.add(op.kind, std::move(inputs), attrs, op.source, {result.name, {}, result.type.quant});
    if (!made.ok() || to_.type(*made).shape != swapped_hw(result.type.shape)) return false;
    known_[op.output] = *made;
    return true;
  }

  bool allowed(const Op& op) {
    if (op.kind == OpKind::reshape) return reshape(op);
    // The rows of a linear layer are the rows of an image.
    if (op.kind == OpKind::qlinear && is_image(shape(op.output)) && !is_row(shape(op.output))) {
      return false;
    }
    for (const ValueId input : op.inputs) {
      const bool flat = input != ir::kNoValue && flat_.contains(input);
      if (flat && op.kind != OpKind::qlinear) return false;
    }
    const bool pair = op.kind == OpKind::qadd || op.kind == OpKind::qmul;
    if (!pair) return true;
    const bool alike = shape(op.inputs[0]).size() == shape(op.inputs[1]).size();
    return alike || ir::element_count(shape(op.inputs[1])) == 1 ||
           ir::element_count(shape(op.inputs[0])) == 1;
  }

  /// Accepts a reshape that flattens an image for linear layers only, or that moves only images of
  /// one row or column and vectors.
  bool reshape(const Op& op) {
    const ir::Shape& x = shape(op.inputs[0]);
    const ir::Shape& y = shape(op.output);
    if (flat_.contains(op.inputs[0])) return false;
    if (!is_image(x)) return !is_image(y) || is_line(y);
    if (is_line(x)) return !is_image(y) || is_line(y);
    const auto& readers = consumers_[static_cast<size_t>(op.output)];
    const bool linear = std::ranges::all_of(readers, [&](int reader) {
      return from_.ops()[static_cast<size_t>(reader)].kind == OpKind::qlinear;
    });
    if (!linear || ir::element_count(y) != y.back()) return false;
    flat_[op.output] = {x[1], x[2], x[3]};
    return true;
  }

  ValueId reordered(ValueId weights, const Dims& picture) {
    const ir::Value& from = from_.value(weights);
    ir::Tensor tensor = *from.constant;
    const auto old_codes = from.constant->data<int8_t>();
    const auto codes = tensor.data<int8_t>();
    size_t to = 0;
    for (int64_t row = 0; row < tensor.shape[0] * picture.c; ++row) {
      for (int64_t x = 0; x < picture.w; ++x) {
        for (int64_t y = 0; y < picture.h; ++y) {
          codes[to++] = old_codes[static_cast<size_t>((row * picture.h + y) * picture.w + x)];
        }
      }
    }
    return to_.add_constant(from.name, std::make_shared<ir::Tensor>(std::move(tensor)),
                            from.type.quant);
  }

  void exchange(const Op& op, ir::Attrs* attrs) const {
    for (const auto key : {ir::attr::kernel, ir::attr::stride, ir::attr::dilation}) {
      if (!ir::has_attr(op.kind, key)) continue;
      const auto& pair = op.get(key);
      attrs->set(key, std::vector<int64_t>{pair[1], pair[0]});
    }
    if (ir::has_attr(op.kind, ir::attr::padding)) {
      const auto& p = op.get(ir::attr::padding);
      attrs->set(ir::attr::padding, std::vector<int64_t>{p[1], p[0], p[3], p[2]});
    }
    const bool picture = is_image(shape(op.inputs[0]));
    if (op.kind == OpKind::reshape)
      attrs->set(ir::attr::shape, swapped_hw(op.get(ir::attr::shape)));
    if (!picture) return;
    for (const auto key : {ir::attr::before, ir::attr::after}) {
      if (ir::has_attr(op.kind, key)) attrs->set(key, swapped_hw(op.get(key)));
    }
    if (ir::has_attr(op.kind, ir::attr::dim))
      attrs->set(ir::attr::dim, swapped_hw_dim(op.get(ir::attr::dim)));
    if (ir::has_attr(op.kind, ir::attr::dims)) {
      auto dims = op.get(ir::attr::dims);
      for (int64_t& dim : dims) dim = swapped_hw_dim(dim);
      std::ranges::sort(dims);
      attrs->set(ir::attr::dims, dims);
    }
  }

  const ir::Graph& from_;
  std::vector<std::vector<int>> consumers_;
  ir::Graph to_;
  std::map<ValueId, ValueId> known_;
  std::map<ValueId, Dims> flat_;  // flattened images, with the image's dimensions
};

}  // namespace

std::optional<ir::Graph> transposed_hw(const ir::Graph& legalized) {
  return HwTransposer(legalized).run();
}

}  // namespace thimble::engine::axon
