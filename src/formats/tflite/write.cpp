// SPDX-License-Identifier: Apache-2.0
#include "formats/tflite/write.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tflite_generated.h"

namespace thimble::formats::tflite {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr uint64_t kFileBytesMax = 2'000'000'000;

struct OpForm {
  uint8_t options = 0;
  int32_t version = 1;
};

OpForm op_row(Op op) {
  switch (op) {
#define THIMBLE_TFLITE_ROW(enumerator, number, options, version) \
  case Op::enumerator:                                           \
    return {options, version};
    THIMBLE_TFLITE_OPS(THIMBLE_TFLITE_ROW)
#undef THIMBLE_TFLITE_ROW
  }
  return {};
}

/// Operators with int16 operands require a later version.
int32_t version_of(const Model& model, const Operator& op) {
  const int32_t version = op_row(op.op).version;
  const auto is_wide = [&](int32_t t) {
    return t >= 0 && model.tensors[static_cast<size_t>(t)].type == DType::kInt16;
  };
  if (op.op == Op::kSoftmax && is_wide(op.outputs[0])) return 3;
  if (op.inputs.empty() || !is_wide(op.inputs[0])) return version;
  switch (op.op) {
    case Op::kReshape:
      return version;
    case Op::kConv2d:
    case Op::kTransposeConv:
      return 4;
    case Op::kDepthwiseConv2d:
      return 5;
    case Op::kFullyConnected:
      return 7;
    case Op::kMul:
    case Op::kMaximum:
    case Op::kMinimum:
      return 4;
    case Op::kAdd:
    case Op::kSub:
      return 5;
    default:
      return std::max(version, 3);
  }
}

class OptionsWriter {
 public:
  OptionsWriter(FlatBufferBuilder& builder, Op op) : builder_(builder), op_(op) {}

  Offset<void> operator()(const std::monostate&) {
    if (op_ == Op::kStridedSlice) return fb::CreateStridedSlice(builder_).Union();
    return fb::CreateEmpty(builder_).Union();
  }
  Offset<void> operator()(const ConvOptions& o) {
    const auto padding = static_cast<int8_t>(o.padding);
    const auto activation = static_cast<int8_t>(o.activation);
    if (op_ == Op::kDepthwiseConv2d) {
      return fb::CreateDepthwiseConv2D(builder_, padding, o.stride_w, o.stride_h,
                                       o.depth_multiplier, activation, o.dilation_w, o.dilation_h)
          .Union();
    }
    if (op_ == Op::kTransposeConv) {
      return fb::CreateTransposeConv(builder_, padding, o.stride_w, o.stride_h, activation).Union();
    }
    const DType bias = o.wide_bias ? DType::kInt64 : DType::kInt32;
    return fb::CreateConv2D(builder_, padding, o.stride_w, o.stride_h, activation, o.dilation_w,
                            o.dilation_h, static_cast<int8_t>(bias))
        .Union();
  }
  Offset<void> operator()(const PoolOptions& o) {
    return fb::CreatePool2D(builder_, static_cast<int8_t>(o.padding), o.stride_w, o.stride_h,
                            o.width, o.height, static_cast<int8_t>(o.activation))
        .Union();
  }
  Offset<void> operator()(const ActivationOptions& o) {
    const auto activation = static_cast<int8_t>(o.activation);
    if (op_ == Op::kMul) return fb::CreateMul(builder_, activation).Union();
    return fb::CreateSum(builder_, activation, /*pot_scale_int16=*/false).Union();
  }
  Offset<void> operator()(const FullyConnectedOptions& o) {
    const auto activation = static_cast<int8_t>(o.activation);
    return fb::CreateFullyConnected(builder_, activation, 0, o.keep_dims).Union();
  }
  Offset<void> operator()(const SoftmaxOptions& o) {
    return fb::CreateSoftmax(builder_, o.beta).Union();
  }
  Offset<void> operator()(const AxisOptions& o) {
    if (op_ == Op::kGather) return fb::CreateGather(builder_, o.axis).Union();
    return fb::CreateConcatenation(builder_, o.axis).Union();
  }
  Offset<void> operator()(const ReshapeOptions& o) {
    return fb::CreateReshape(builder_, builder_.CreateVector(o.shape)).Union();
  }
  Offset<void> operator()(const ReducerOptions& o) {
    return fb::CreateReducer(builder_, o.keep_dims).Union();
  }
  Offset<void> operator()(const MatMulOptions& o) {
    return fb::CreateBatchMatMul(builder_, false, o.transpose_b).Union();
  }
  Offset<void> operator()(const CastOptions& o) {
    return fb::CreateCast(builder_, static_cast<int8_t>(o.from), static_cast<int8_t>(o.to)).Union();
  }
  Offset<void> operator()(const ArgOptions& o) {
    return fb::CreateArgMax(builder_, static_cast<int8_t>(o.type)).Union();
  }
  Offset<void> operator()(const ResizeOptions& o) {
    if (op_ == Op::kResizeNearest) {
      return fb::CreateResizeNearest(builder_, o.align_corners, o.half_pixel_centers).Union();
    }
    return fb::CreateResizeBilinear(builder_, o.align_corners, o.half_pixel_centers).Union();
  }
  Offset<void> operator()(const LeakyReluOptions& o) {
    return fb::CreateLeakyRelu(builder_, o.alpha).Union();
  }
  Offset<void> operator()(const MirrorPadOptions&) { return fb::CreateMirrorPad(builder_).Union(); }

 private:
  FlatBufferBuilder& builder_;
  Op op_;
};

/// Buffer 0 is empty and belongs to tensors without data. Equal contents are stored once.
class Buffers {
 public:
  explicit Buffers(FlatBufferBuilder& builder) : builder_(builder) {
    all_.push_back(fb::CreateBuffer(builder));
  }

  uint32_t add(const Bytes& data) {
    if (data.empty()) return 0;
    const auto found = known_.find(data);
    if (found != known_.end()) return found->second;
    builder_.ForceVectorAlignment(data.size(), 1, 16);
    const auto bytes =
        builder_.CreateVector(reinterpret_cast<const uint8_t*>(data.data()), data.size());
    all_.push_back(fb::CreateBuffer(builder_, bytes));
    const auto number = static_cast<uint32_t>(all_.size() - 1);
    known_.emplace(data, number);
    return number;
  }

  [[nodiscard]] const std::vector<Offset<fb::Buffer>>& all() const { return all_; }

 private:
  FlatBufferBuilder& builder_;
  std::vector<Offset<fb::Buffer>> all_;
  std::map<Bytes, uint32_t> known_;
};

Offset<fb::Tensor> write_tensor(FlatBufferBuilder& builder, const Tensor& tensor,
                                Buffers& buffers) {
  const uint32_t buffer = buffers.add(tensor.data);
  const auto shape = builder.CreateVector(tensor.shape);
  const auto name = builder.CreateString(tensor.name);
  Offset<fb::Quantization> quantization;
  if (!tensor.scale.empty()) {
    const auto scale = builder.CreateVector(tensor.scale);
    const auto zero_point = builder.CreateVector(tensor.zero_point);
    quantization = fb::CreateQuantization(builder, scale, zero_point, tensor.axis);
  }
  return fb::CreateTensor(builder, shape, static_cast<int8_t>(tensor.type), buffer, name,
                          quantization, false, true);
}

/// The table of operators used, by number and version.
class OperatorCodes {
 public:
  uint32_t add(Op op, int32_t version) {
    const auto [at, added] =
        known_.emplace(std::pair(op, version), static_cast<uint32_t>(order_.size()));
    if (added) order_.push_back(at->first);
    return at->second;
  }
  std::vector<Offset<fb::OperatorCode>> write(FlatBufferBuilder& builder) const {
    std::vector<Offset<fb::OperatorCode>> codes;
    for (const auto& [op, version] : order_) {
      const auto number = static_cast<int32_t>(op);
      // The first field is deprecated: it cannot hold more than 127.
      const auto old = static_cast<int8_t>(std::min(number, 127));
      codes.push_back(fb::CreateOperatorCode(builder, old, 0, version, number));
    }
    return codes;
  }

 private:
  std::map<std::pair<Op, int32_t>, uint32_t> known_;
  std::vector<std::pair<Op, int32_t>> order_;
};

}  // namespace

Result<Bytes> write(const Model& model) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : model.tensors) bytes += tensor.data.size();
  if (bytes > kFileBytesMax) {
    return unsupported("constants of {} bytes, at most {} fit a LiteRT file", bytes, kFileBytesMax);
  }
  FlatBufferBuilder builder(1 << 16);
  Buffers buffers(builder);
  std::vector<Offset<fb::Tensor>> tensors;
  for (const Tensor& tensor : model.tensors) {
    tensors.push_back(write_tensor(builder, tensor, buffers));
  }
  OperatorCodes codes;
  std::vector<Offset<fb::Operator>> operators;
  for (const Operator& op : model.operators) {
    const uint8_t kind = op_row(op.op).options;
    Offset<void> options;
    if (kind != 0) options = std::visit(OptionsWriter(builder, op.op), op.options);
    const auto inputs = builder.CreateVector(op.inputs);
    const auto outputs = builder.CreateVector(op.outputs);
    operators.push_back(fb::CreateOperator(builder, codes.add(op.op, version_of(model, op)), inputs,
                                           outputs, static_cast<fb::Options>(kind), options));
  }
  const auto tensors_at = builder.CreateVector(tensors);
  const auto inputs = builder.CreateVector(model.inputs);
  const auto outputs = builder.CreateVector(model.outputs);
  const auto operators_at = builder.CreateVector(operators);
  const auto name = builder.CreateString(model.name);
  const std::vector<Offset<fb::SubGraph>> graphs = {
      fb::CreateSubGraph(builder, tensors_at, inputs, outputs, operators_at, name)};
  const auto codes_at = builder.CreateVector(codes.write(builder));
  const auto graphs_at = builder.CreateVector(graphs);
  const auto description = builder.CreateString("thimble");
  const auto buffers_at = builder.CreateVector(buffers.all());
  fb::FinishModelBuffer(builder, fb::CreateModel(builder, kSchemaVersion, codes_at, graphs_at,
                                                 description, buffers_at));
  const auto* begin = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return Bytes(begin, begin + builder.GetSize());
}

}  // namespace thimble::formats::tflite
