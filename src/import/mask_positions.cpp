// SPDX-License-Identifier: Apache-2.0
#include "import/mask_positions.h"

#include <algorithm>

#include "import/constants.h"

namespace thimble::import_pt2 {

using ir::ValueId;

std::optional<KnownMask> known_mask(Call& call, ValueId id) {
  const ir::Tensor* held = call.builder().constant_of(id);
  if (held == nullptr || held->dtype != ir::DType::kBool) return std::nullopt;
  KnownMask mask{held->shape, {}};
  const int64_t count = ir::element_count(held->shape);
  for (int64_t i = 0; i < count; ++i) {
    if (element(*held, static_cast<size_t>(i)) != 0) mask.selected.push_back(i);
  }
  return mask;
}

namespace {

/// Returns the only mask among the indices of `x[mask]`, at any dimension; nothing for other
/// indices.
std::optional<KnownMask> only_mask(Call& call) {
  const auto indices = call.optional_tensors("indices");
  if (!indices.ok()) return std::nullopt;
  std::optional<KnownMask> found;
  for (const ValueId id : *indices) {
    if (id == ir::kNoValue) continue;
    if (found) return std::nullopt;
    found = known_mask(call, id);
    if (!found) return std::nullopt;
  }
  return found;
}

}  // namespace

void learn_selected_count(Context& context, const formats::pt2::Node& node,
                          const ir::Source& source) {
  if (source.target != "aten.index.Tensor") return;
  Call call(context, node, source);
  const formats::pt2::TensorMeta* meta = call.result_meta();
  const std::optional<KnownMask> mask = only_mask(call);
  if (meta == nullptr || !mask) return;
  for (const formats::pt2::SymInt& size : meta->sizes) {
    if (!context.symbols.value(size).ok()) {
      context.symbols.learn(size, static_cast<int64_t>(mask->selected.size()));
    }
  }
}

Result<ValueId> merge_masked_dims(Call& call, ValueId x, size_t dim, const KnownMask& mask) {
  ir::Shape shape = call.shape(x);
  const size_t rank = mask.shape.size();
  const auto first = shape.begin() + static_cast<std::ptrdiff_t>(dim);
  if (rank == 0 || dim + rank > shape.size() ||
      !std::equal(mask.shape.begin(), mask.shape.end(), first)) {
    return unsupported("a mask of shape {} on dimension {} of {}", ir::list_text(mask.shape), dim,
                       ir::list_text(shape));
  }
  *first = ir::element_count(mask.shape);
  shape.erase(first + 1, first + static_cast<std::ptrdiff_t>(rank));
  return call.reshape(x, shape);
}

Error mask_at_run_time() {
  return unsupported(
      "the mask is computed at run time, so the size of the result is unknown: torch.where(mask, "
      "x, 0) keeps the shape");
}

}  // namespace thimble::import_pt2
