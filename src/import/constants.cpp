// SPDX-License-Identifier: Apache-2.0
#include "import/constants.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "ir/relation.h"

namespace thimble::import_pt2 {
namespace {

using formats::pt2::ScalarType;
using ir::DType;
using ir::Tensor;

float from_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  const int scaled = exponent == 0 ? fraction : fraction + 1024;
  return sign * std::ldexp(static_cast<float>(scaled), (exponent == 0 ? 1 : exponent) - 25);
}

float wide_float(const formats::pt2::WeightTensor& weight, size_t i) {
  switch (weight.dtype) {
    case ScalarType::kFloat16:
      return from_half(load_le<uint16_t>(weight.bytes, 2 * i));
    case ScalarType::kBfloat16:
      return std::bit_cast<float>(uint32_t{load_le<uint16_t>(weight.bytes, 2 * i)} << 16);
    default:
      return static_cast<float>(std::bit_cast<double>(load_le<uint64_t>(weight.bytes, 8 * i)));
  }
}

template <typename T>
double number_at(const Tensor& tensor, size_t i) {
  return static_cast<double>(tensor.data<T>()[i]);
}

/// A number outside of the range of an integer type becomes its smallest integer, as on x86.
template <typename T>
void put(Tensor& tensor, size_t i, double value) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    const double most = std::ldexp(1.0, Limits::digits);
    const bool fits = value > static_cast<double>(Limits::min()) - 1 && value < most;
    tensor.data<T>()[i] = fits ? static_cast<T>(value) : Limits::min();
  } else {
    tensor.data<T>()[i] = static_cast<T>(value);
  }
}

/// Maps the elements of a result to elements of its source: an affine function of the index.
struct SourceStrides {
  int64_t base = 0;
  std::vector<int64_t> steps;  // strides in the source, by dimension of the result
};

template <typename Visit>
void for_each_element(const ir::Shape& shape, const SourceStrides& source, Visit visit) {
  const int64_t count = ir::element_count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = source.base;
  for (int64_t i = 0; i < count; ++i) {
    visit(static_cast<size_t>(i), static_cast<size_t>(offset));
    for (size_t dim = shape.size(); dim-- > 0;) {
      offset += source.steps[dim];
      if (++index[dim] < shape[dim]) break;
      offset -= source.steps[dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

/// Broadcasts as numpy: dimensions are aligned at the end, and dimensions of size 1 are repeated.
SourceStrides broadcast_strides(const ir::Shape& from, const ir::Shape& to) {
  const auto from_strides = ir::strides(from, {});
  SourceStrides result{0, std::vector<int64_t>(to.size(), 0)};
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) result.steps[to.size() - from.size() + i] = from_strides[i];
  }
  return result;
}

SourceStrides slice_strides(const ir::Op& op, const ir::Shape& from) {
  SourceStrides result{0, ir::strides(from, {})};
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  result.base = result.steps[dim] * op.get(ir::attr::start);
  result.steps[dim] *= op.get(ir::attr::step);
  return result;
}

Tensor gathered(const Tensor& tensor, const ir::Shape& shape, const SourceStrides& source) {
  Tensor result = ir::zeros(tensor.dtype, shape);
  const size_t width = ir::dtype_bytes(tensor.dtype);
  for_each_element(shape, source, [&](size_t to, size_t from) {
    std::memcpy(result.bytes.data() + to * width, tensor.bytes.data() + from * width, width);
  });
  return result;
}

float arithmetic(ir::OpKind kind, float a, float b) {
  switch (kind) {
    case ir::OpKind::add:
      return a + b;
    case ir::OpKind::div:
      return a / b;
    case ir::OpKind::sub:
      return a - b;
    default:
      return a * b;
  }
}

float function(ir::OpKind kind, float x) {
  switch (kind) {
    case ir::OpKind::abs:
      return std::fabs(x);
    case ir::OpKind::floor:
      return std::floor(x);
    case ir::OpKind::log:
      return static_cast<float>(std::log(static_cast<double>(x)));
    case ir::OpKind::rsqrt:
      return static_cast<float>(1 / std::sqrt(static_cast<double>(x)));
    default:
      return std::sqrt(x);
  }
}

Tensor folded_function(ir::OpKind kind, const Tensor& x) {
  Tensor result = x;
  for (float& value : result.data<float>()) value = function(kind, value);
  return result;
}

Tensor folded_clamp(const ir::Op& op, const Tensor& x) {
  const float low = static_cast<float>(op.get(ir::attr::float_min));
  const float high = static_cast<float>(op.get(ir::attr::float_max));
  Tensor result = x;
  for (float& value : result.data<float>()) {
    if (!std::isnan(value)) value = std::min(std::max(value, low), high);
  }
  return result;
}

Tensor folded_arithmetic(ir::OpKind kind, const Tensor& a, const Tensor& b,
                         const ir::Shape& shape) {
  Tensor result = gathered(a, shape, broadcast_strides(a.shape, shape));
  for_each_element(shape, broadcast_strides(b.shape, shape), [&](size_t to, size_t from) {
    float& value = result.data<float>()[to];
    value = arithmetic(kind, value, b.data<float>()[from]);
  });
  return result;
}

Tensor folded_compare(const ir::Op& op, const Tensor& a, const Tensor& b, const ir::Shape& shape) {
  const auto relation = static_cast<ir::Relation>(op.get(ir::attr::relation));
  const Tensor left = gathered(a, shape, broadcast_strides(a.shape, shape));
  Tensor result = ir::zeros(DType::kBool, shape);
  for_each_element(shape, broadcast_strides(b.shape, shape), [&](size_t to, size_t from) {
    set_element(result, to, ir::holds(relation, element(left, to), element(b, from)) ? 1 : 0);
  });
  return result;
}

Tensor folded_where(const Tensor& condition, const Tensor& a, const Tensor& b,
                    const ir::Shape& shape) {
  const Tensor chosen = gathered(condition, shape, broadcast_strides(condition.shape, shape));
  const Tensor other = gathered(b, shape, broadcast_strides(b.shape, shape));
  Tensor result = gathered(a, shape, broadcast_strides(a.shape, shape));
  const size_t width = ir::dtype_bytes(result.dtype);
  for (size_t i = 0; i * width < result.bytes.size(); ++i) {
    if (element(chosen, i) != 0) continue;
    std::memcpy(result.bytes.data() + i * width, other.bytes.data() + i * width, width);
  }
  return result;
}

Tensor folded_cumsum(const ir::Op& op, const Tensor& x) {
  Tensor result = x;
  if (x.shape.empty()) return result;
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  const auto step = static_cast<size_t>(ir::strides(x.shape, {})[dim]);
  const auto length = static_cast<size_t>(x.shape[dim]);
  const auto values = result.data<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (i / step % length != 0) values[i] += values[i - step];
  }
  return result;
}

/// Concatenates tensors of one type along a dimension.
Tensor concatenated(const ir::Op& op, std::span<const ir::TensorPtr> parts,
                    const ir::Shape& shape) {
  Tensor result = ir::zeros(parts.front()->dtype, shape);
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  const auto tail = shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1;
  const int64_t inner = ir::element_count(ir::Shape(tail, shape.end()));
  const size_t row = static_cast<size_t>(inner) * ir::dtype_bytes(result.dtype);
  const size_t whole = row * static_cast<size_t>(shape[dim]);
  size_t start = 0;
  for (const ir::TensorPtr& part : parts) {
    const size_t block = row * static_cast<size_t>(part->shape[dim]);
    for (size_t i = 0; i * block < part->bytes.size(); ++i) {
      std::memcpy(result.bytes.data() + i * whole + start, part->bytes.data() + i * block, block);
    }
    start += block;
  }
  return result;
}

}  // namespace

std::optional<DType> ir_dtype(ScalarType type) {
  switch (type) {
    case ScalarType::kFloat32:
      return DType::kF32;
    case ScalarType::kInt8:
      return DType::kI8;
    case ScalarType::kUint8:
      return DType::kU8;
    case ScalarType::kInt16:
      return DType::kI16;
    case ScalarType::kInt32:
      return DType::kI32;
    case ScalarType::kInt64:
      return DType::kI64;
    case ScalarType::kBool:
      return DType::kBool;
    default:
      return std::nullopt;
  }
}

Result<Tensor> convert_weight(formats::pt2::WeightTensor weight) {
  if (!weight.sizes.empty() && !ir::checked_element_count(weight.sizes)) {
    return unsupported("a tensor of shape {}", ir::list_text(weight.sizes));
  }
  if (const auto dtype = ir_dtype(weight.dtype)) {
    return Tensor{*dtype, std::move(weight.sizes), std::move(weight.bytes)};
  }
  if (weight.dtype != ScalarType::kFloat16 && weight.dtype != ScalarType::kBfloat16 &&
      weight.dtype != ScalarType::kFloat64) {
    return unsupported("a tensor of {}", formats::pt2::name(weight.dtype));
  }
  Tensor tensor = ir::zeros(DType::kF32, weight.sizes);
  const auto values = tensor.data<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = wide_float(weight, i);
    if (!std::isfinite(values[i]))
      return bad_input("element {} is not representable in float32", i);
  }
  return tensor;
}

double element(const Tensor& tensor, size_t index) {
  switch (tensor.dtype) {
    case DType::kF32:
      return number_at<float>(tensor, index);
    case DType::kI8:
      return number_at<int8_t>(tensor, index);
    case DType::kU8:
      return number_at<uint8_t>(tensor, index);
    case DType::kI16:
      return number_at<int16_t>(tensor, index);
    case DType::kI32:
      return number_at<int32_t>(tensor, index);
    case DType::kI64:
      return number_at<int64_t>(tensor, index);
    case DType::kBool:
      return number_at<uint8_t>(tensor, index) != 0 ? 1 : 0;
  }
  return 0;
}

void set_element(Tensor& tensor, size_t index, double value) {
  switch (tensor.dtype) {
    case DType::kF32:
      return put<float>(tensor, index, value);
    case DType::kI8:
      return put<int8_t>(tensor, index, value);
    case DType::kU8:
      return put<uint8_t>(tensor, index, value);
    case DType::kI16:
      return put<int16_t>(tensor, index, value);
    case DType::kI32:
      return put<int32_t>(tensor, index, value);
    case DType::kI64:
      return put<int64_t>(tensor, index, value);
    case DType::kBool:
      return put<uint8_t>(tensor, index, value != 0 ? 1 : 0);
  }
}

Tensor converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  Tensor result = ir::zeros(dtype, tensor.shape);
  const auto count = static_cast<size_t>(ir::element_count(tensor.shape));
  for (size_t i = 0; i < count; ++i) set_element(result, i, element(tensor, i));
  return result;
}

Tensor filled(DType dtype, const ir::Shape& shape, double value) {
  Tensor result = ir::zeros(dtype, shape);
  const auto count = static_cast<size_t>(ir::element_count(shape));
  for (size_t i = 0; i < count; ++i) set_element(result, i, value);
  return result;
}

namespace {

using Fold = Tensor (*)(const ir::Op& op, const ir::Shape& shape,
                        std::span<const ir::TensorPtr> operands);

/// Returns null for an operator that is not folded.
Fold fold_of(ir::OpKind kind) {
  switch (kind) {
    case ir::OpKind::copy:
    case ir::OpKind::reshape:
      return [](const auto&, const auto& shape, auto operands) {
        return Tensor{operands[0]->dtype, shape, operands[0]->bytes};
      };
    case ir::OpKind::permute:
      return [](const auto& op, const auto&, auto operands) {
        return ir::permuted(*operands[0], op.get(ir::attr::dims));
      };
    case ir::OpKind::slice:
      return [](const auto& op, const auto& shape, auto operands) {
        const Tensor& x = *operands[0];
        return gathered(x, shape, slice_strides(op, x.shape));
      };
    case ir::OpKind::expand:
      return [](const auto&, const auto& shape, auto operands) {
        const Tensor& x = *operands[0];
        return gathered(x, shape, broadcast_strides(x.shape, shape));
      };
    case ir::OpKind::concat:
      return [](const auto& op, const auto& shape, auto operands) {
        return concatenated(op, operands, shape);
      };
    case ir::OpKind::cumsum:
      return [](const auto& op, const auto&, auto operands) {
        return folded_cumsum(op, *operands[0]);
      };
    case ir::OpKind::clamp:
      return
          [](const auto& op, const auto&, auto operands) { return folded_clamp(op, *operands[0]); };
    case ir::OpKind::abs:
    case ir::OpKind::floor:
    case ir::OpKind::log:
    case ir::OpKind::rsqrt:
    case ir::OpKind::sqrt:
      return [](const auto& op, const auto&, auto operands) {
        return folded_function(op.kind, *operands[0]);
      };
    case ir::OpKind::add:
    case ir::OpKind::div:
    case ir::OpKind::mul:
    case ir::OpKind::sub:
      return [](const auto& op, const auto& shape, auto operands) {
        return folded_arithmetic(op.kind, *operands[0], *operands[1], shape);
      };
    case ir::OpKind::compare:
      return [](const auto& op, const auto& shape, auto operands) {
        return folded_compare(op, *operands[0], *operands[1], shape);
      };
    case ir::OpKind::where:
      return [](const auto&, const auto& shape, auto operands) {
        return folded_where(*operands[0], *operands[1], *operands[2], shape);
      };
    default:
      return nullptr;
  }
}

/// A broadcast constant would need more flash than the operator.
bool grows(const ir::Op& op, const ir::Shape& shape, std::span<const ir::TensorPtr> operands) {
  constexpr int64_t kGrownElementsMax = 4096;
  int64_t held = 0;
  for (const auto& operand : operands) {
    const int64_t elements = ir::element_count(operand->shape);
    held = op.kind == ir::OpKind::concat ? held + elements : std::max(held, elements);
  }
  const int64_t count = ir::element_count(shape);
  return count > held && count > kGrownElementsMax;
}

}  // namespace

bool can_fold(const ir::Op& op, const ir::Shape& shape, std::span<const ir::TensorPtr> operands) {
  return fold_of(op.kind) != nullptr && !grows(op, shape, operands);
}

Tensor fold(const ir::Op& op, const ir::Shape& shape, std::span<const ir::TensorPtr> operands) {
  return fold_of(op.kind)(op, shape, operands);
}

Tensor dequantized(const ir::Op& op, std::span<const Tensor* const> operands) {
  const Tensor& codes = *operands[0];
  Tensor result = ir::zeros(DType::kF32, codes.shape);
  const auto real = result.data<float>();
  const bool channels = op.kind == ir::OpKind::dequantize_channels;
  size_t inner = 1;
  const size_t axis = channels ? static_cast<size_t>(op.get(ir::attr::axis)) : codes.shape.size();
  for (size_t dim = axis + 1; dim < codes.shape.size(); ++dim) {
    inner *= static_cast<size_t>(codes.shape[dim]);
  }
  for (size_t i = 0; i < real.size(); ++i) {
    const size_t c = channels ? i / inner % operands[1]->data<float>().size() : 0;
    double zero_point = channels ? 0 : static_cast<double>(op.get(ir::attr::zero_point));
    if (channels && operands[2] != nullptr) zero_point = element(*operands[2], c);
    const float scale =
        static_cast<float>(channels ? element(*operands[1], c) : op.get(ir::attr::scale));
    real[i] = static_cast<float>(element(codes, i) - zero_point) * scale;
  }
  return result;
}

}  // namespace thimble::import_pt2
