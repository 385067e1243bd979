// SPDX-License-Identifier: Apache-2.0
#include "import/integer_array.h"

#include "import/constants.h"
#include "ir/infer.h"

namespace thimble::import_pt2::integers {

std::vector<int64_t> broadcast(const Array& from, const Shape& shape) {
  std::vector<int64_t> values;
  values.reserve(static_cast<size_t>(ir::element_count(shape)));
  for_each_broadcast(from.shape, shape,
                     [&](size_t offset) { values.push_back(from.values[offset]); });
  return values;
}

bool Reader::fits(const Shape& shape) const {
  const auto count = shape.empty() ? 1 : ir::checked_element_count(shape);
  return count && *count <= call_.builder().known_elements_max();
}

std::optional<Shape> Reader::joint_shape(const Shape& a, const Shape& b) const {
  auto shape = ir::broadcast_shape(a, b);
  return shape && fits(*shape) ? shape : std::nullopt;
}

std::optional<Array> Reader::operand(std::string_view name) const {
  if (call_.is_tensor(name)) {
    const auto id = call_.any_tensor(name);
    if (!id.ok()) return std::nullopt;
    const ir::Tensor* held = call_.builder().constant_of(*id);
    if (held == nullptr) return row_of(*id);
    if (!is_whole(held->dtype)) return std::nullopt;
    return array_of(*held);
  }
  if (const auto truth = call_.boolean(name); truth.ok()) return Array{{}, {*truth ? 1 : 0}};
  const auto number = call_.any_integer(name);
  if (!number.ok()) return std::nullopt;
  return Array{{}, {*number}};
}

namespace {

std::vector<int64_t> values_of(const ir::Tensor& tensor, size_t first, size_t count) {
  std::vector<int64_t> values(count);
  for (size_t i = 0; i < count; ++i) {
    // A double does not represent all 64-bit integers.
    values[i] = tensor.dtype == DType::kI64 ? tensor.data<int64_t>()[first + i]
                                            : static_cast<int64_t>(element(tensor, first + i));
  }
  return values;
}

}  // namespace

Array Reader::array_of(const ir::Tensor& tensor) {
  return {tensor.shape, values_of(tensor, 0, static_cast<size_t>(ir::element_count(tensor.shape)))};
}

std::optional<Array> Reader::row_of(ir::ValueId id) const {
  if (tables_ == nullptr) return std::nullopt;
  const auto found = tables_->find(id);
  if (found == tables_->end()) return std::nullopt;
  const ir::Tensor& table = found->second.values;
  Shape shape(table.shape.begin() + 1, table.shape.end());
  const int64_t width = ir::element_count(shape);
  return Array{std::move(shape),
               values_of(table, static_cast<size_t>(row_ * width), static_cast<size_t>(width))};
}

Result<size_t> dimension(const Reader& in, const Array& x) {
  THIMBLE_TRY(const int64_t dim, in.call().dimension("dim", x.shape.size()));
  return static_cast<size_t>(dim);
}

}  // namespace thimble::import_pt2::integers
