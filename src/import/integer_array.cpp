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

std::optional<Shape> joint_shape(const Shape& a, const Shape& b) {
  auto shape = ir::broadcast_shape(a, b);
  if (!shape) return std::nullopt;
  const auto count = ir::checked_element_count(*shape);
  if (!shape->empty() && (!count || *count > kElementsMax)) return std::nullopt;
  return shape;
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

Array Reader::array_of(const ir::Tensor& tensor) {
  Array array{tensor.shape, {}};
  const auto count = static_cast<size_t>(ir::element_count(tensor.shape));
  array.values.resize(count);
  for (size_t i = 0; i < count; ++i) {
    // A double does not represent all 64-bit integers.
    array.values[i] = tensor.dtype == DType::kI64 ? tensor.data<int64_t>()[i]
                                                  : static_cast<int64_t>(element(tensor, i));
  }
  return array;
}

std::optional<Array> Reader::row_of(ir::ValueId id) const {
  const auto table = row_ ? call_.position_table(id) : std::nullopt;
  if (!table) return std::nullopt;
  Array all = array_of(table->values);
  const auto width = static_cast<std::ptrdiff_t>(all.values.size()) / table->rows;
  const auto first = all.values.begin() + *row_ * width;
  return Array{Shape(all.shape.begin() + 1, all.shape.end()),
               std::vector<int64_t>(first, first + width)};
}

Result<size_t> dimension(const Reader& in, const Array& x) {
  THIMBLE_TRY(const int64_t dim, in.call().dimension("dim", x.shape.size()));
  return static_cast<size_t>(dim);
}

}  // namespace thimble::import_pt2::integers
