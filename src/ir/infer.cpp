// SPDX-License-Identifier: Apache-2.0
#include "ir/infer.h"

#include <algorithm>
#include <cmath>

#include "ir/infer_rules.h"

namespace thimble::ir {
namespace {

Status check_dim_order(const DimOrder& order, size_t rank) {
  if (order.empty()) return ok();
  std::vector<bool> seen(rank, false);
  bool good = order.size() == rank;
  for (const uint8_t dim : order) {
    good = good && dim < rank && !seen[dim];
    if (good) seen[dim] = true;
  }
  if (good) return ok();
  return bad_input("order({}) is not a permutation of {} dimensions", fmt::join(order, ","), rank);
}

/// Returns the range of zero points for an element type.
std::pair<int64_t, int64_t> zero_point_range(DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return {-128, 127};
    case DType::kU8:
      return {0, 255};
    case DType::kI16:
      return {-32768, 32767};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

Status check_quant(const Type& type) {
  const Quant& quant = *type.quant;
  if (type.dtype == DType::kF32 || type.dtype == DType::kBool) {
    return bad_input("{} cannot have a quantization", dtype_name(type.dtype));
  }
  size_t entries = 1;
  if (quant.axis != -1) {
    if (quant.axis < 0 || static_cast<size_t>(quant.axis) >= type.shape.size()) {
      return bad_input("quantization axis {} is outside {}", quant.axis, list_text(type.shape));
    }
    entries = static_cast<size_t>(type.shape[static_cast<size_t>(quant.axis)]);
  }
  if (quant.scale.size() != entries || quant.zero_point.size() != entries) {
    return bad_input("quantization has {} scales and {} zero points, expected {}",
                     quant.scale.size(), quant.zero_point.size(), entries);
  }
  const auto [low, high] = zero_point_range(type.dtype);
  for (size_t i = 0; i < entries; ++i) {
    if (!(quant.scale[i] > 0) || !std::isfinite(quant.scale[i])) {
      return bad_input("scale {} is not a positive number", quant.scale[i]);
    }
    if (quant.zero_point[i] < low || quant.zero_point[i] > high) {
      return bad_input("zero point {} is outside {}", quant.zero_point[i], dtype_name(type.dtype));
    }
  }
  return ok();
}

using Rule = Result<Type> (*)(const InferContext&);
constexpr Rule kRules[] = {
#define THIMBLE_OP(name, category, operands, attributes) infer_##name,
#include "ir/ops.def"
#undef THIMBLE_OP
};

}  // namespace

Status check_type(const Type& type) {
  if (type.shape.size() > kMaxRank) {
    return unsupported("rank {} is above the limit of {}", type.shape.size(), kMaxRank);
  }
  for (const int64_t size : type.shape) {
    if (size < 1) {
      return bad_input("{} has a size below 1", type_text(type.dtype, type.shape));
    }
  }
  if (!checked_element_count(type.shape)) {
    return unsupported("{} has more than {} elements", type_text(type.dtype, type.shape),
                       kMaxElements);
  }
  THIMBLE_CHECK(check_dim_order(type.dim_order, type.shape.size()));
  return type.quant ? check_quant(type) : ok();
}

Result<Type> infer_type(OpKind kind, std::span<const Value* const> operands, const Op& op) {
  THIMBLE_TRY(Type type, kRules[static_cast<size_t>(kind)](InferContext(operands, op)));
  THIMBLE_CHECK(check_type(type));
  return type;
}

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {  // counted from the last dimension
    const int64_t size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (size_a != size_b && size_a != 1 && size_b != 1) return std::nullopt;
    result[result.size() - 1 - i] = size_a == 1 ? size_b : size_a;
  }
  return result;
}

int64_t window_extent(int64_t input, int64_t pad_before, int64_t pad_after, int64_t kernel,
                      int64_t stride, int64_t dilation) {
  const int64_t room = input + pad_before + pad_after - ((kernel - 1) * dilation + 1);
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace thimble::ir
