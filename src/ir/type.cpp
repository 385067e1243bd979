// SPDX-License-Identifier: Apache-2.0
#include "ir/type.h"

#include <array>
#include <cassert>
#include <numeric>

#include <fmt/format.h>

namespace thimble::ir {
namespace {

struct DTypeRow {
  std::string_view name;
  size_t bytes;
};
// Indexed by the value of DType.
constexpr std::array<DTypeRow, 7> kDTypes = {
    {{"f32", 4}, {"i8", 1}, {"u8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}, {"bool", 1}}};

DimOrder filled(const DimOrder& order, size_t rank) {
  if (!order.empty()) return order;
  DimOrder result(rank);
  std::iota(result.begin(), result.end(), uint8_t{0});
  return result;
}

}  // namespace

std::string_view dtype_name(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

size_t dtype_bytes(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].bytes;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

std::optional<int64_t> checked_element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 1 || size > kMaxElements / count) return std::nullopt;
    count *= size;
  }
  return count;
}

DimOrder channels_last_order() {
  return {0, 2, 3, 1};
}

bool is_contiguous(const DimOrder& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

bool same_memory(const Shape& shape, const DimOrder& a, const DimOrder& b) {
  const auto without_ones = [&](const DimOrder& order) {
    DimOrder kept;
    for (const uint8_t dim : filled(order, shape.size())) {
      if (shape[dim] != 1) kept.push_back(dim);
    }
    return kept;
  };
  return without_ones(a) == without_ones(b);
}

std::vector<int64_t> strides(const Shape& shape, const DimOrder& order) {
  std::vector<int64_t> result(shape.size());
  const DimOrder outer_to_inner = filled(order, shape.size());
  assert(outer_to_inner.size() == shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    result[outer_to_inner[i]] = stride;
    stride *= shape[outer_to_inner[i]];
  }
  return result;
}

Quant per_tensor(double scale, int32_t zero_point) {
  return {{scale}, {zero_point}, -1};
}

std::string list_text(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ","));
}

std::string type_text(DType dtype, const Shape& shape) {
  return fmt::format("{}{}", dtype_name(dtype), list_text(shape));
}

}  // namespace thimble::ir
