// SPDX-License-Identifier: Apache-2.0
#pragma once
// A LiteRT model with one subgraph as plain structs; operators refer to tensors by index.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"

namespace thimble::formats::tflite {

inline constexpr uint32_t kSchemaVersion = 3;

enum class DType : int8_t { kInt32 = 2, kInt64 = 4, kBool = 6, kInt16 = 7, kInt8 = 9 };

/// ROW(enumerator, operator number, options number, operator version for the types used)
#define THIMBLE_TFLITE_OPS(ROW)   \
  ROW(kAdd, 0, 11, 2)             \
  ROW(kAveragePool2d, 1, 5, 2)    \
  ROW(kConcatenation, 2, 10, 2)   \
  ROW(kConv2d, 3, 1, 3)           \
  ROW(kDepthwiseConv2d, 4, 2, 3)  \
  ROW(kFullyConnected, 9, 8, 4)   \
  ROW(kLogistic, 14, 0, 2)        \
  ROW(kMaxPool2d, 17, 5, 2)       \
  ROW(kMul, 18, 21, 2)            \
  ROW(kRelu, 19, 0, 2)            \
  ROW(kReluN1To1, 20, 0, 1)       \
  ROW(kRelu6, 21, 0, 2)           \
  ROW(kReshape, 22, 17, 1)        \
  ROW(kResizeBilinear, 23, 15, 3) \
  ROW(kSoftmax, 25, 9, 2)         \
  ROW(kTanh, 28, 0, 2)            \
  ROW(kPad, 34, 22, 2)            \
  ROW(kGather, 36, 23, 2)         \
  ROW(kTranspose, 39, 26, 2)      \
  ROW(kMean, 40, 27, 2)           \
  ROW(kSub, 41, 28, 2)            \
  ROW(kStridedSlice, 45, 32, 2)   \
  ROW(kExp, 47, 33, 2)            \
  ROW(kCast, 53, 37, 1)           \
  ROW(kPrelu, 54, 0, 1)           \
  ROW(kMaximum, 55, 39, 2)        \
  ROW(kArgMax, 56, 40, 2)         \
  ROW(kMinimum, 57, 39, 2)        \
  ROW(kLess, 58, 41, 2)           \
  ROW(kPadV2, 60, 43, 2)          \
  ROW(kGreater, 61, 44, 2)        \
  ROW(kGreaterEqual, 62, 45, 2)   \
  ROW(kLessEqual, 63, 46, 2)      \
  ROW(kSlice, 65, 48, 2)          \
  ROW(kTransposeConv, 67, 49, 3)  \
  ROW(kEqual, 71, 53, 2)          \
  ROW(kNotEqual, 72, 54, 2)       \
  ROW(kLog, 73, 0, 2)             \
  ROW(kSum, 74, 27, 2)            \
  ROW(kRsqrt, 76, 0, 2)           \
  ROW(kArgMin, 79, 57, 2)         \
  ROW(kReduceMax, 82, 27, 2)      \
  ROW(kLogicalOr, 84, 60, 1)      \
  ROW(kLogicalAnd, 86, 62, 1)     \
  ROW(kLogicalNot, 87, 63, 1)     \
  ROW(kReduceMin, 89, 27, 2)      \
  ROW(kResizeNearest, 97, 74, 3)  \
  ROW(kLeakyRelu, 98, 75, 2)      \
  ROW(kMirrorPad, 100, 77, 2)     \
  ROW(kAbs, 101, 78, 2)           \
  ROW(kQuantize, 114, 89, 2)      \
  ROW(kHardSwish, 117, 91, 1)     \
  ROW(kSelectV2, 123, 98, 1)      \
  ROW(kBatchMatMul, 126, 101, 2)  \
  ROW(kBroadcastTo, 130, 104, 3)  \
  ROW(kRelu0To1, 152, 0, 1)

enum class Op : int32_t {
#define THIMBLE_TFLITE_ROW(enumerator, number, options, version) enumerator = number,
  THIMBLE_TFLITE_OPS(THIMBLE_TFLITE_ROW)
#undef THIMBLE_TFLITE_ROW
};

enum class Padding : int8_t { kSame = 0, kValid = 1 };
enum class Activation : int8_t { kNone = 0, kRelu = 1, kReluN1To1 = 2, kRelu6 = 3 };

/// Options of kConv2d, kDepthwiseConv2d and kTransposeConv.
struct ConvOptions {
  Padding padding = Padding::kValid;
  int32_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int32_t depth_multiplier = 1;
  Activation activation = Activation::kNone;
  bool wide_bias = false;  // the bias is int64
};
struct PoolOptions {
  Padding padding = Padding::kValid;
  int32_t stride_h = 1, stride_w = 1, height = 1, width = 1;
  Activation activation = Activation::kNone;
};
/// Options of kAdd, kSub and kMul.
struct ActivationOptions {
  Activation activation = Activation::kNone;
};
struct FullyConnectedOptions {
  Activation activation = Activation::kNone;
  bool keep_dims = false;
};
struct SoftmaxOptions {
  float beta = 1;
};
struct AxisOptions {  // options of kConcatenation and kGather
  int32_t axis = 0;
};
struct ReshapeOptions {
  std::vector<int32_t> shape;
};
struct ReducerOptions {
  bool keep_dims = true;
};
struct MatMulOptions {
  bool transpose_b = false;
};
struct CastOptions {
  DType from = DType::kInt8, to = DType::kInt32;
};
struct ArgOptions {
  DType type = DType::kInt64;
};
/// Options of kResizeBilinear and kResizeNearest: how positions of the two images correspond.
struct ResizeOptions {
  bool align_corners = false, half_pixel_centers = false;
};
struct LeakyReluOptions {
  float alpha = 0;
};
struct MirrorPadOptions {};  // mode REFLECT: the border element is not repeated
using Options =
    std::variant<std::monostate, ConvOptions, PoolOptions, ActivationOptions, FullyConnectedOptions,
                 SoftmaxOptions, AxisOptions, ReshapeOptions, ReducerOptions, MatMulOptions,
                 CastOptions, ArgOptions, ResizeOptions, LeakyReluOptions, MirrorPadOptions>;

struct Tensor {
  std::string name;
  std::vector<int32_t> shape;
  DType type = DType::kInt8;
  std::vector<float> scale;  // empty: not quantized
  std::vector<int64_t> zero_point;
  int32_t axis = 0;  // axis of the scales, if there are several
  Bytes data;        // only for constants
};

struct Operator {
  Op op = Op::kReshape;
  Options options;
  std::vector<int32_t> inputs;  // -1: absent
  std::vector<int32_t> outputs;
};

struct Model {
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;
  std::vector<int32_t> inputs, outputs;
  std::string name;
};

}  // namespace thimble::formats::tflite
