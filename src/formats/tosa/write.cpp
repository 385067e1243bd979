// SPDX-License-Identifier: Apache-2.0
#include "formats/tosa/write.h"

#include <cassert>
#include <utility>

#include "tosa_generated.h"

namespace thimble::formats::tosa {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr int32_t kMajor = 1, kMinor = 0, kPatch = 0;
constexpr uint32_t kPropagateNan = 1;  // no effect on integers, but 0 is not a valid mode
constexpr uint64_t kFileBytesMax = 2'000'000'000;

Offset<flatbuffers::Vector<uint8_t>> blob(FlatBufferBuilder& builder, ByteView bytes) {
  const size_t padded = (bytes.size() + 7) / 8 * 8;
  builder.ForceVectorAlignment(padded, sizeof(uint8_t), 8);
  uint8_t* to = nullptr;
  const auto offset = builder.CreateUninitializedVector(padded, &to);
  for (size_t i = 0; i < padded; ++i) {
    to[i] = i < bytes.size() ? std::to_integer<uint8_t>(bytes[i]) : uint8_t{0};
  }
  return offset;
}

Bytes little_endian(const std::vector<int64_t>& values) {
  Bytes bytes;
  for (const int64_t value : values) append_le(bytes, static_cast<uint64_t>(value));
  return bytes;
}

Bytes bound(DType type, int32_t value) {
  Bytes bytes;
  if (type == DType::kInt8) append_le(bytes, static_cast<uint8_t>(value));
  if (type == DType::kInt16) append_le(bytes, static_cast<uint16_t>(value));
  if (type == DType::kInt32 || type == DType::kFp32) append_le(bytes, static_cast<uint32_t>(value));
  return bytes;
}

/// Writes the table of an operator's attributes.
class AttributeWriter {
 public:
  AttributeWriter(FlatBufferBuilder& builder, Op op) : builder_(builder), op_(op) {}

  Offset<void> operator()(const std::monostate&) {
    if (op_ == Op::kMaximum || op_ == Op::kMinimum) {
      return fb::CreateNan(builder_, kPropagateNan).Union();
    }
    return fb::CreateEmpty(builder_).Union();
  }
  Offset<void> operator()(const AxisAttr& a) {
    if (op_ == Op::kReduceSum || op_ == Op::kConcat) {
      return fb::CreateAxis(builder_, a.axis).Union();
    }
    return fb::CreateNanAxis(builder_, a.axis, kPropagateNan).Union();
  }
  Offset<void> operator()(const PoolAttr& a) {
    const auto kernel = builder_.CreateVector(a.kernel);
    const auto stride = builder_.CreateVector(a.stride);
    const auto pad = builder_.CreateVector(a.pad);
    if (op_ == Op::kMaxPool2d) {
      return fb::CreateMaxPool(builder_, kernel, stride, pad, kPropagateNan).Union();
    }
    return fb::CreateAvgPool(builder_, kernel, stride, pad, static_cast<uint32_t>(a.accumulator))
        .Union();
  }
  Offset<void> operator()(const ConvAttr& a) {
    const auto pad = builder_.CreateVector(a.pad);
    const auto stride = builder_.CreateVector(a.stride);
    const auto dilation = builder_.CreateVector(a.dilation);
    return fb::CreateConv(builder_, pad, stride, dilation, false,
                          static_cast<uint32_t>(a.accumulator))
        .Union();
  }
  Offset<void> operator()(const TransposeConvAttr& a) {
    const auto pad = builder_.CreateVector(a.out_pad);
    const auto stride = builder_.CreateVector(a.stride);
    return fb::CreateTransposeConv(builder_, pad, stride, false,
                                   static_cast<uint32_t>(a.accumulator))
        .Union();
  }
  Offset<void> operator()(const ClampAttr& a) {
    const auto low = blob(builder_, bound(a.type, a.min));
    const auto high = blob(builder_, bound(a.type, a.max));
    return fb::CreateClamp(builder_, low, high, kPropagateNan).Union();
  }
  Offset<void> operator()(const ShiftAttr& a) { return fb::CreateShift(builder_, a.round).Union(); }
  Offset<void> operator()(const TransposeAttr& a) {
    return fb::CreateTranspose(builder_, builder_.CreateVector(a.perms)).Union();
  }
  Offset<void> operator()(const RescaleAttr& a) {
    return fb::CreateRescale(builder_, a.scale32, static_cast<uint32_t>(a.rounding), a.per_channel)
        .Union();
  }

 private:
  FlatBufferBuilder& builder_;
  Op op_;
};

Offset<fb::Operator> write_operator(FlatBufferBuilder& builder, const Operator& op) {
  const Offset<void> attribute = std::visit(AttributeWriter(builder, op.op), op.attr);
  const auto inputs = builder.CreateVectorOfStrings(op.inputs);
  const auto outputs = builder.CreateVectorOfStrings(op.outputs);
  Offset<fb::Location> location;
  if (!op.location.empty()) {
    location = fb::CreateLocation(builder, builder.CreateString(op.location));
  }
  const auto number = static_cast<uint8_t>(op.op);
  return fb::CreateOperator(builder, number, static_cast<fb::Attribute>(number), attribute, inputs,
                            outputs, location);
}

Offset<fb::Tensor> write_tensor(FlatBufferBuilder& builder, const Tensor& tensor) {
  const auto name = builder.CreateString(tensor.name);
  const auto shape = builder.CreateVector(tensor.shape);
  Offset<flatbuffers::Vector<uint8_t>> data;
  if (!tensor.data.empty()) data = blob(builder, tensor.data);
  return fb::CreateTensor(builder, name, shape, static_cast<uint32_t>(tensor.type), data);
}

Offset<fb::Shape> write_shape(FlatBufferBuilder& builder, const ShapeValue& shape) {
  const auto name = builder.CreateString(shape.name);
  const auto data = blob(builder, little_endian(shape.values));
  return fb::CreateShape(builder, name, static_cast<uint32_t>(shape.values.size()), data);
}

uint64_t data_bytes(const Program& program) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : program.tensors) bytes += tensor.data.size();
  return bytes;
}

}  // namespace

const char* op_name(Op op) {
  switch (op) {
#define THIMBLE_TOSA_ROW(enumerator, number, name) \
  case Op::enumerator:                             \
    return name;
    THIMBLE_TOSA_OPS(THIMBLE_TOSA_ROW)
#undef THIMBLE_TOSA_ROW
  }
  return "?";
}

Result<Bytes> write(const Program& program) {
  if (data_bytes(program) > kFileBytesMax) {
    return unsupported("constants of {} bytes, at most {} fit a TOSA file", data_bytes(program),
                       kFileBytesMax);
  }
  FlatBufferBuilder builder(1 << 16);
  std::vector<Offset<fb::Operator>> operators;
  for (const Operator& op : program.operators) operators.push_back(write_operator(builder, op));
  std::vector<Offset<fb::Tensor>> tensors;
  for (const Tensor& tensor : program.tensors) tensors.push_back(write_tensor(builder, tensor));
  std::vector<Offset<fb::Shape>> shapes;
  for (const ShapeValue& shape : program.shapes) shapes.push_back(write_shape(builder, shape));
  const auto name = builder.CreateString("main");
  const auto operators_at = builder.CreateVector(operators);
  const auto tensors_at = builder.CreateVector(tensors);
  const auto inputs = builder.CreateVectorOfStrings(program.inputs);
  const auto outputs = builder.CreateVectorOfStrings(program.outputs);
  const auto shapes_at = builder.CreateVector(shapes);
  const std::vector<Offset<fb::BasicBlock>> blocks = {
      fb::CreateBasicBlock(builder, name, operators_at, tensors_at, inputs, outputs, shapes_at)};
  const std::vector<Offset<fb::Region>> regions = {
      fb::CreateRegion(builder, name, builder.CreateVector(blocks))};
  const auto version = fb::CreateVersion(builder, kMajor, kMinor, kPatch, false);
  fb::FinishGraphBuffer(builder, fb::CreateGraph(builder, version, builder.CreateVector(regions)));
  const auto* begin = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return Bytes(begin, begin + builder.GetSize());
}

}  // namespace thimble::formats::tosa
