// SPDX-License-Identifier: Apache-2.0
#include "emit/dtypes.h"

#include <cassert>
#include <numeric>

namespace thimble::emit {
namespace {

using formats::pte::ScalarType;

struct ElementType {
  ir::DType dtype;
  ScalarType scalar_type;
};
constexpr ElementType kElementTypes[] = {
    {ir::DType::kF32, ScalarType::kFloat}, {ir::DType::kI8, ScalarType::kChar},
    {ir::DType::kU8, ScalarType::kByte},   {ir::DType::kI16, ScalarType::kShort},
    {ir::DType::kI32, ScalarType::kInt},   {ir::DType::kI64, ScalarType::kLong},
    {ir::DType::kBool, ScalarType::kBool},
};

}  // namespace

ScalarType scalar_type(ir::DType dtype) {
  for (const ElementType& row : kElementTypes) {
    if (row.dtype == dtype) return row.scalar_type;
  }
  assert(false && "an element type without a row");
  return ScalarType::kByte;
}

std::optional<ir::DType> dtype_of(ScalarType type) {
  for (const ElementType& row : kElementTypes) {
    if (row.scalar_type == type) return row.dtype;
  }
  return {};
}

ir::DimOrder full_order(const ir::DimOrder& order, size_t rank) {
  if (!order.empty()) return order;
  ir::DimOrder identity(rank);
  std::iota(identity.begin(), identity.end(), uint8_t{0});
  return identity;
}

}  // namespace thimble::emit
