// SPDX-License-Identifier: Apache-2.0
// Operators that select elements by index: embedding, gather, index_select, and indexing by
// tensors. Negative indices count from the end.

#include <algorithm>
#include <cmath>

#include "import/constants.h"
#include "import/handlers.h"
#include "import/mask_positions.h"
#include "ir/infer.h"

namespace thimble::import_pt2 {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

/// Returns true if all elements are integers up to 2^24. Arithmetic on integer constants uses
/// float32, which represents these integers exactly.
bool all_whole(const ir::Tensor& tensor) {
  constexpr float kExactMax = 1 << 24;
  const auto values = tensor.data<float>();
  return std::all_of(values.begin(), values.end(), [](float value) {
    return std::fabs(value) <= kExactMax && std::floor(value) == value;
  });
}

/// Returns an int32 or int64 index tensor. Constants of other types are converted to int64.
Result<ValueId> as_positions(Call& call, ValueId id) {
  const ir::Type& type = call.builder().graph.type(id);
  if (type.dtype == DType::kI32 || type.dtype == DType::kI64) return id;
  const ir::Tensor* constant = call.builder().constant_of(id);
  if (constant == nullptr || type.dtype == DType::kBool ||
      (type.dtype == DType::kF32 && !all_whole(*constant))) {
    return unsupported(
        "an index of {}, expected int32 or int64: a computed float is not an index; argmax, topk "
        "and comparisons give integers",
        ir::type_text(type.dtype, type.shape));
  }
  return call.converted_constant("index", *constant, DType::kI64);
}

Result<ValueId> positions(Call& call, std::string_view name) {
  THIMBLE_TRY(const ValueId id, call.any_tensor(name));
  return as_positions(call, id);
}

/// Returns the positions of the true elements of a mask.
Result<ValueId> mask_positions(Call& call, const KnownMask& mask) {
  if (mask.selected.empty()) return unsupported("the result is empty");
  ir::Tensor index = ir::zeros(DType::kI64, {static_cast<int64_t>(mask.selected.size())});
  std::copy(mask.selected.begin(), mask.selected.end(), index.data<int64_t>().begin());
  return call.constant_value("index", std::move(index));
}

/// Converts a constant 1-D bool mask to the indices of its true elements.
Result<ValueId> mask_to_indices(Call& call, ValueId id) {
  if (call.builder().graph.type(id).dtype != DType::kBool) return as_positions(call, id);
  const std::optional<KnownMask> mask = known_mask(call, id);
  if (!mask) return mask_at_run_time();
  if (mask->shape.size() != 1) {
    return unsupported("a mask of rank {} and another index: give the positions, as mask.nonzero()",
                       mask->shape.size());
  }
  return mask_positions(call, *mask);
}

/// Merges adjacent dimensions that are indexed by constants into one dimension with one index.
class JoinedIndex {
 public:
  JoinedIndex(Call& call, ValueId x, size_t first) : call_(call), x_(x), first_(first) {}

  Status add(ValueId id) {
    THIMBLE_TRY(const ValueId part, mask_to_indices(call_, id));
    const ir::Tensor* constant = call_.builder().constant_of(part);
    if (constant == nullptr)
      return unsupported(
          "several indices that are not all constant: merge the dimensions with reshape, and index "
          "with a * size + b");
    const int64_t size = call_.shape(x_)[first_ + count_];
    const auto shape =
        count_ == 0 ? constant->shape : ir::broadcast_shape(joined_.shape, constant->shape);
    if (!shape) return bad_input("the indices do not broadcast");
    THIMBLE_CHECK(call_.check_list(3 * ir::element_count(*shape)));
    const ir::Tensor before = broadcast_to(count_ == 0 ? *constant : joined_, *shape);
    const ir::Tensor here = broadcast_to(*constant, *shape);
    joined_ = ir::zeros(DType::kI64, *shape);
    for (size_t i = 0; i < joined_.data<int64_t>().size(); ++i) {
      const auto given = static_cast<int64_t>(element(here, i));
      const int64_t at = given < 0 ? given + size : given;
      if (at < 0 || at >= size) return bad_input("index {} of {} elements", given, size);
      const auto outer = count_ == 0 ? 0 : static_cast<int64_t>(element(before, i));
      joined_.data<int64_t>()[i] = outer * size + at;
    }
    ++count_;
    return ok();
  }

  Result<ValueId> gathered() {
    ir::Shape shape = call_.shape(x_);
    const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(first_);
    for (size_t i = 1; i < count_; ++i) begin[0] *= begin[static_cast<std::ptrdiff_t>(i)];
    shape.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(count_));
    THIMBLE_TRY(const ValueId x, call_.reshape(x_, shape));
    const ValueId index = call_.constant_value("index", joined_);
    return call_.add(OpKind::gather, {x, index}, {{ir::attr::dim, static_cast<int64_t>(first_)}});
  }

 private:
  /// Broadcasts `from` to `shape`.
  static ir::Tensor broadcast_to(const ir::Tensor& from, const ir::Shape& shape) {
    ir::Tensor to = ir::zeros(DType::kI64, shape);
    const auto steps = ir::strides(from.shape, {});
    const auto to_steps = ir::strides(shape, {});
    for (int64_t i = 0; i < ir::element_count(shape); ++i) {
      int64_t offset = 0;
      for (size_t d = 0; d < from.shape.size(); ++d) {
        const size_t to_dim = shape.size() - from.shape.size() + d;
        const int64_t at = i / to_steps[to_dim] % shape[to_dim];
        if (from.shape[d] != 1) offset += at * steps[d];
      }
      set_element(to, static_cast<size_t>(i), element(from, static_cast<size_t>(offset)));
    }
    return to;
  }

  Call& call_;
  const ValueId x_;
  const size_t first_;
  size_t count_ = 0;
  ir::Tensor joined_;
};

Status gather_along(Call& call, std::string_view x_name, std::string_view index_name, int64_t dim) {
  THIMBLE_TRY(const ValueId x, call.any_tensor(x_name));
  THIMBLE_TRY(const ValueId index, positions(call, index_name));
  call.note_position(index, call.shape(x)[static_cast<size_t>(dim)]);
  return call.result(call.add(OpKind::gather, {x, index}, {{ir::attr::dim, dim}}));
}

/// Returns the number of rows in each bag. The offsets must be constant and equidistant.
Result<int64_t> bag_size(Call& call, int64_t count) {
  THIMBLE_TRY(const ir::Tensor* offsets, call.constant("offsets"));
  THIMBLE_TRY(const bool ends_given, call.boolean("include_last_offset", false));
  const auto starts = offsets->data<float>();
  const auto bags = static_cast<int64_t>(starts.size()) - (ends_given ? 1 : 0);
  if (bags < 1 || count % bags != 0)
    return unsupported("bags of different sizes: pad them, with a row of zeros for mode sum");
  const int64_t size = count / bags;
  for (int64_t bag = 0; bag < bags; ++bag) {
    const float start = starts[static_cast<size_t>(bag)];
    if (start != static_cast<float>(bag * size))
      return unsupported("bags of different sizes: pad them, with a row of zeros for mode sum");
  }
  return size;
}

}  // namespace

namespace handlers {

/// padding_idx is ignored: it has an effect only in training.
Status embedding(Call& call) {
  return gather_along(call, "weight", "indices", 0);
}

/// Sums, means or maxima of table rows; each bag has the same number of rows.
Status embedding_bag(Call& call) {
  THIMBLE_TRY(const ValueId weight, call.tensor("weight"));
  THIMBLE_TRY(const ValueId index, positions(call, "indices"));
  THIMBLE_TRY(const int64_t skipped, call.integer("padding_idx", -1));
  if (skipped >= 0)
    return unsupported(
        "padding_idx: rows would be skipped at run time; a row of zeros and mode sum do the same");
  THIMBLE_TRY(const int64_t size, bag_size(call, ir::element_count(call.shape(index))));
  THIMBLE_TRY(ValueId y, call.add(OpKind::gather, {weight, index}, {{ir::attr::dim, int64_t{0}}}));
  const int64_t width = call.shape(y).back();
  const int64_t count = call.shape(y)[0];
  if (call.has("per_sample_weights")) {
    THIMBLE_TRY(ValueId factors, call.tensor("per_sample_weights"));
    THIMBLE_TRY(factors, call.reshape(factors, {count, 1}));
    THIMBLE_TRY(y, call.add(OpKind::mul, {y, factors}));
  }
  THIMBLE_TRY(y, call.reshape(y, {count / size, size, width}));
  THIMBLE_TRY(const int64_t mode, call.integer("mode", 0));
  const OpKind kind = mode == 0 ? OpKind::sum : mode == 1 ? OpKind::mean : OpKind::amax;
  return call.result(
      call.add(kind, {y}, {{ir::attr::dims, Ints{1}}, {ir::attr::keepdim, int64_t{0}}}));
}

Status index_select(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size()));
  return gather_along(call, "self", "index", dim);
}

Status gather(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size()));
  THIMBLE_TRY(const ValueId index, positions(call, "index"));
  return call.result(call.add(OpKind::gather_elements, {x, index}, {{ir::attr::dim, dim}}));
}

Status index(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const auto indices, call.optional_tensors("indices"));
  if (indices.size() > call.shape(x).size()) return bad_input("{} indices", indices.size());
  std::vector<size_t> given;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != ir::kNoValue) given.push_back(i);
  }
  if (given.empty()) return call.result(x);
  if (given.size() == 1) {
    const size_t dim = given[0];
    if (const auto mask = known_mask(call, indices[dim])) {
      THIMBLE_TRY(const ValueId merged, merge_masked_dims(call, x, dim, *mask));
      THIMBLE_TRY(const ValueId at, mask_positions(call, *mask));
      return call.result(
          call.add(OpKind::gather, {merged, at}, {{ir::attr::dim, static_cast<int64_t>(dim)}}));
    }
    THIMBLE_TRY(const ValueId at, mask_to_indices(call, indices[dim]));
    return call.result(
        call.add(OpKind::gather, {x, at}, {{ir::attr::dim, static_cast<int64_t>(dim)}}));
  }
  if (given.back() - given.front() + 1 != given.size()) {
    return unsupported("indices of dimensions that are not adjacent: permute the tensor first");
  }
  JoinedIndex joined(call, x, given.front());
  for (const size_t dim : given) THIMBLE_CHECK(joined.add(indices[dim]));
  return call.result(joined.gathered());
}

}  // namespace handlers
}  // namespace thimble::import_pt2
