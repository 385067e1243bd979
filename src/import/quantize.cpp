// SPDX-License-Identifier: Apache-2.0
// Graphs quantized by PyTorch (prepare_pt2e and convert_pt2e, torchao): float operators between
// dequantize and quantize nodes. The nodes become IR operators with unchanged parameters. The graph
// computes the same as eager PyTorch, and src/quant reads the parameters from it. Constants keep
// their quantized values; a weight that the archive holds in float is quantized here.

#include <array>
#include <cmath>

#include "import/constants.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using formats::pt2::ScalarType;
using ir::DType;
using ir::OpKind;
using ir::ValueId;

struct CodeType {
  ScalarType exported;
  DType dtype;
  double low, high;
  std::optional<int64_t> attribute;  // attribute `type` of quantize; nullopt: constants only
};

constexpr std::array<CodeType, 4> kCodeTypes = {{
    {ScalarType::kInt8, DType::kI8, -128, 127, 0},
    {ScalarType::kUint8, DType::kU8, 0, 255, 1},
    {ScalarType::kInt16, DType::kI16, -32768, 32767, 2},
    {ScalarType::kInt32, DType::kI32, -2147483648.0, 2147483647, std::nullopt},
}};

Result<CodeType> code_type(const Call& call, std::string_view argument) {
  THIMBLE_TRY(const ScalarType exported, call.scalar_type(argument, ScalarType::kUnknown));
  for (const CodeType& type : kCodeTypes) {
    if (type.exported == exported) return type;
  }
  return unsupported("quantized values are {}, expected int8, uint8, int16 or int32",
                     formats::pt2::name(exported));
}

/// Scale and zero point of the whole tensor, or one pair per index of `axis`.
struct Parameters {
  std::vector<double> scale;
  std::vector<int64_t> zero_point;
  std::optional<int64_t> axis;
};

Error computed(std::string_view what) {
  return unsupported("its {} is computed by the network, and not by choose_qparams", what);
}

/// The activation is real in the graph; calibration chooses its range.
Status keep_float(Call& call) {
  return call.result(call.any_tensor("input"));
}

/// Reads an argument that is a number or a constant tensor.
Result<std::vector<double>> numbers(Call& call, std::string_view name) {
  if (!call.is_tensor(name)) {
    THIMBLE_TRY(const double one, call.number(name));
    return std::vector<double>{one};
  }
  THIMBLE_TRY(const ValueId id, call.any_tensor(name));
  const ir::Tensor* tensor = call.builder().constant_of(id);
  if (tensor == nullptr) return computed(name);
  std::vector<double> result(static_cast<size_t>(ir::element_count(tensor->shape)));
  for (size_t i = 0; i < result.size(); ++i) result[i] = element(*tensor, i);
  return result;
}

Result<Parameters> read_parameters(Call& call, std::string_view scale,
                                   std::string_view zero_point) {
  Parameters result;
  THIMBLE_TRY(result.scale, numbers(call, scale));
  std::vector<double> offsets(result.scale.size(), 0.0);
  if (call.has(zero_point)) {
    THIMBLE_TRY(offsets, numbers(call, zero_point));
  }
  if (offsets.empty()) offsets.assign(result.scale.size(), 0.0);  // torchao: empty means zero
  if (offsets.size() != result.scale.size()) {
    return bad_input("{} scales and {} zero points", result.scale.size(), offsets.size());
  }
  for (const double offset : offsets) {
    if (offset != std::nearbyint(offset) || std::abs(offset) > 0x1p31) {
      return unsupported("zero point {} is not an integer", offset);
    }
    result.zero_point.push_back(static_cast<int64_t>(offset));
  }
  return result;
}

Result<ir::Shape> input_shape(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("input"));
  return call.shape(x);
}

Result<Parameters> per_tensor_parameters(Call& call) {
  THIMBLE_TRY(Parameters result, read_parameters(call, "scale", "zero_point"));
  if (result.scale.size() == 1) return result;
  return bad_input("{} scales for one tensor", result.scale.size());
}

Status check_axis(const Parameters& parameters, const ir::Shape& shape) {
  const int64_t size = shape[static_cast<size_t>(*parameters.axis)];
  if (parameters.scale.size() == static_cast<size_t>(size)) return ok();
  return bad_input("{} scales along a dimension of {}", parameters.scale.size(), size);
}

Result<Parameters> per_channel_parameters(Call& call) {
  THIMBLE_TRY(const ir::Shape shape, input_shape(call));
  THIMBLE_TRY(Parameters result, read_parameters(call, "scales", "zero_points"));
  THIMBLE_TRY(result.axis, call.dimension("axis", shape.size()));
  THIMBLE_CHECK(check_axis(result, shape));
  return result;
}

/// Reads torchao's parameters: one scale per block of the tensor.
Result<Parameters> block_parameters(Call& call) {
  THIMBLE_TRY(const ir::Shape shape, input_shape(call));
  THIMBLE_TRY(Parameters result, read_parameters(call, "scale", "zero_point"));
  THIMBLE_TRY(const Ints block, call.integers("block_size"));
  if (block.size() != shape.size()) {
    return bad_input("block size {} for shape {}", ir::list_text(block), ir::list_text(shape));
  }
  for (size_t dim = 0; dim < block.size(); ++dim) {
    if (block[dim] == shape[dim]) continue;
    if (block[dim] != 1 || result.axis) {
      return unsupported("blocks of {} in {}: one scale per tensor or per channel is supported",
                         ir::list_text(block), ir::list_text(shape));
    }
    result.axis = static_cast<int64_t>(dim);
  }
  if (result.axis) {
    THIMBLE_CHECK(check_axis(result, shape));
  } else if (result.scale.size() != 1) {
    return bad_input("{} scales for one block", result.scale.size());
  }
  return result;
}

size_t elements_after(const ir::Shape& shape, const std::optional<int64_t>& axis) {
  size_t inner = 1;
  if (!axis) return inner;
  for (size_t dim = static_cast<size_t>(*axis) + 1; dim < shape.size(); ++dim) {
    inner *= static_cast<size_t>(shape[dim]);
  }
  return inner;
}

struct CodeRange {
  double low, high;
};

/// Returns the range of quantized values of the quantizer; the range of the type if omitted.
Result<CodeRange> code_range(Call& call, const CodeType& type) {
  CodeRange range{type.low, type.high};
  for (const bool low : {true, false}) {
    const std::string_view name = low ? "quant_min" : "quant_max";
    if (!call.has(name)) continue;
    THIMBLE_TRY(const auto values, numbers(call, name));
    if (values.size() != 1) return bad_input("{} has {} elements", name, values.size());
    (low ? range.low : range.high) = values[0];
  }
  if (range.low >= type.low && range.high <= type.high && range.low <= range.high) return range;
  return bad_input("quantized values from {} to {}, expected a range within {} to {}", range.low,
                   range.high, type.low, type.high);
}

/// Quantizes in float32, as PyTorch's eager operator.
ir::Tensor constant_codes(const ir::Tensor& real, const Parameters& parameters,
                          const CodeType& type, const CodeRange& range) {
  ir::Tensor codes = ir::zeros(type.dtype, real.shape);
  const size_t inner = elements_after(real.shape, parameters.axis);
  const auto x = real.data<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i / inner % parameters.scale.size();
    const float inverse = 1.0F / static_cast<float>(parameters.scale[c]);
    const double rounded = std::nearbyint(static_cast<double>(x[i] * inverse));
    const double code = rounded + static_cast<double>(parameters.zero_point[c]);
    set_element(codes, i, std::min(std::max(code, range.low), range.high));
  }
  return codes;
}

using ReadParameters = Result<Parameters> (*)(Call& call);

Status quantize(Call& call, ReadParameters read, std::string_view dtype) {
  if (call.is_dynamic_scale("scale")) return keep_float(call);
  THIMBLE_TRY(const Parameters parameters, read(call));
  THIMBLE_TRY(const CodeType type, code_type(call, dtype));
  THIMBLE_TRY(const CodeRange range, code_range(call, type));
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  if (const ir::Tensor* real = call.builder().constant_of(x)) {
    return call.result(call.constant_value("", constant_codes(*real, parameters, type, range)));
  }
  if (parameters.axis)
    return unsupported("an activation with a scale per channel: quantize it per tensor");
  if (!type.attribute) return unsupported("a 32-bit activation: quantize it to int8 or int16");
  return call.result(call.add(OpKind::quantize, {x},
                              {{ir::attr::scale, parameters.scale[0]},
                               {ir::attr::zero_point, parameters.zero_point[0]},
                               {ir::attr::type, *type.attribute},
                               {ir::attr::min, static_cast<int64_t>(range.low)},
                               {ir::attr::max, static_cast<int64_t>(range.high)}}));
}

Status dequantize(Call& call, ReadParameters read, std::string_view result_type) {
  if (call.is_dynamic_scale("scale")) return keep_float(call);
  THIMBLE_TRY(const Parameters parameters, read(call));
  THIMBLE_TRY(const ScalarType wanted, call.scalar_type(result_type, ScalarType::kFloat32));
  if (wanted != ScalarType::kFloat32) {
    return unsupported("its result is {}, expected float32", formats::pt2::name(wanted));
  }
  THIMBLE_TRY(const ValueId x, call.any_tensor("input"));
  if (!parameters.axis) {
    return call.result(call.add(OpKind::dequantize, {x},
                                {{ir::attr::scale, parameters.scale[0]},
                                 {ir::attr::zero_point, parameters.zero_point[0]}}));
  }
  if (call.builder().constant_of(x) == nullptr) {
    return unsupported("an activation with a scale per channel: quantize it per tensor");
  }
  const auto count = static_cast<int64_t>(parameters.scale.size());
  ir::Tensor scale = ir::zeros(DType::kF32, {count});
  ir::Tensor zero_point = ir::zeros(DType::kI32, {count});
  for (size_t c = 0; c < parameters.scale.size(); ++c) {
    set_element(scale, c, parameters.scale[c]);
    set_element(zero_point, c, static_cast<double>(parameters.zero_point[c]));
  }
  const ValueId scale_id = call.constant_value("scale", std::move(scale));
  const ValueId zero_point_id = call.constant_value("zero_point", std::move(zero_point));
  return call.result(call.add(OpKind::dequantize_channels, {x, scale_id, zero_point_id},
                              {{ir::attr::axis, *parameters.axis}}));
}

/// Returns torchao's block size if a constant has one scale per group of elements of a channel, as
/// 4-bit weights; nothing for one scale per tensor or channel.
Result<std::optional<Ints>> group_size(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("input"));
  THIMBLE_TRY(const Ints block, call.integers("block_size"));
  const ir::Shape& shape = call.shape(x);
  if (call.builder().constant_of(x) == nullptr || block.size() != shape.size()) {
    return std::optional<Ints>();
  }
  bool groups = false;
  for (size_t dim = 0; dim < block.size(); ++dim) {
    if (block[dim] < 1 || shape[dim] % block[dim] != 0) {
      return bad_input("block size {} for shape {}", ir::list_text(block), ir::list_text(shape));
    }
    groups = groups || (block[dim] != 1 && block[dim] != shape[dim]);
  }
  return groups ? std::optional(block) : std::nullopt;
}

/// Computes the real numbers of weights with one scale per block; quantization then chooses a scale
/// per channel.
Status dequantize_groups(Call& call, const Ints& block) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("input"));
  const ir::Tensor codes = *call.builder().constant_of(x);
  THIMBLE_TRY(const Parameters parameters, read_parameters(call, "scale", "zero_point"));
  const size_t rank = codes.shape.size();
  size_t blocks = 1;
  for (size_t dim = 0; dim < rank; ++dim) {
    blocks *= static_cast<size_t>(codes.shape[dim] / block[dim]);
  }
  if (parameters.scale.size() != blocks) {
    return bad_input("{} scales for {} blocks", parameters.scale.size(), blocks);
  }
  call.note_grouped_weights();
  ir::Tensor real = ir::zeros(DType::kF32, codes.shape);
  const auto y = real.data<float>();
  for (size_t i = 0; i < y.size(); ++i) {
    size_t rest = i, at = 0, stride = 1;
    for (size_t dim = rank; dim-- > 0;) {
      const auto size = static_cast<size_t>(codes.shape[dim]);
      const auto step = static_cast<size_t>(block[dim]);
      at += rest % size / step * stride;
      stride *= size / step;
      rest /= size;
    }
    const double code = element(codes, i) - static_cast<double>(parameters.zero_point[at]);
    y[i] = static_cast<float>(code * parameters.scale[at]);
  }
  return call.result(call.constant_value("", std::move(real)));
}

}  // namespace

namespace handlers {

Status quantize_per_tensor(Call& call) {
  return quantize(call, per_tensor_parameters, "dtype");
}
Status dequantize_per_tensor(Call& call) {
  return dequantize(call, per_tensor_parameters, "out_dtype");
}
Status quantize_per_channel(Call& call) {
  return quantize(call, per_channel_parameters, "dtype");
}
Status dequantize_per_channel(Call& call) {
  return dequantize(call, per_channel_parameters, "out_dtype");
}
Status quantize_affine(Call& call) {
  return quantize(call, block_parameters, "output_dtype");
}
Status dequantize_affine(Call& call) {
  THIMBLE_TRY(const auto groups, group_size(call));
  if (groups) return dequantize_groups(call, *groups);
  return dequantize(call, block_parameters, "output_dtype");
}
Status choose_qparams(Call& call) {
  return call.bind_dynamic_scale();
}

}  // namespace handlers
}  // namespace thimble::import_pt2
