// SPDX-License-Identifier: Apache-2.0
#pragma once
// A TOSA 1.0 program with one region and one block as plain structs. Operators refer to tensors by
// name. The numbers of types and operators are those of the format.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"

namespace thimble::formats::tosa {

enum class DType : uint32_t {
  kBool = 1,
  kInt8 = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt48 = 6,
  kFp32 = 7,
};

/// THIMBLE_TOSA_OP(enumerator, number, name in the format)
#define THIMBLE_TOSA_OPS(ROW)                              \
  ROW(kArgMax, 1, "ARGMAX")                                \
  ROW(kAvgPool2d, 2, "AVG_POOL2D")                         \
  ROW(kConv2d, 3, "CONV2D")                                \
  ROW(kDepthwiseConv2d, 5, "DEPTHWISE_CONV2D")             \
  ROW(kMatMul, 7, "MATMUL")                                \
  ROW(kMaxPool2d, 8, "MAX_POOL2D")                         \
  ROW(kTransposeConv2d, 10, "TRANSPOSE_CONV2D")            \
  ROW(kClamp, 11, "CLAMP")                                 \
  ROW(kErf, 12, "ERF")                                     \
  ROW(kSigmoid, 13, "SIGMOID")                             \
  ROW(kTanh, 14, "TANH")                                   \
  ROW(kAdd, 15, "ADD")                                     \
  ROW(kArithmeticRightShift, 16, "ARITHMETIC_RIGHT_SHIFT") \
  ROW(kBitwiseAnd, 17, "BITWISE_AND")                      \
  ROW(kBitwiseOr, 18, "BITWISE_OR")                        \
  ROW(kIntDiv, 20, "INTDIV")                               \
  ROW(kLogicalAnd, 21, "LOGICAL_AND")                      \
  ROW(kLogicalLeftShift, 22, "LOGICAL_LEFT_SHIFT")         \
  ROW(kLogicalRightShift, 23, "LOGICAL_RIGHT_SHIFT")       \
  ROW(kLogicalOr, 24, "LOGICAL_OR")                        \
  ROW(kMaximum, 26, "MAXIMUM")                             \
  ROW(kMinimum, 27, "MINIMUM")                             \
  ROW(kMul, 28, "MUL")                                     \
  ROW(kPow, 29, "POW")                                     \
  ROW(kSub, 30, "SUB")                                     \
  ROW(kTable, 31, "TABLE")                                 \
  ROW(kAbs, 32, "ABS")                                     \
  ROW(kBitwiseNot, 33, "BITWISE_NOT")                      \
  ROW(kClz, 35, "CLZ")                                     \
  ROW(kCos, 36, "COS")                                     \
  ROW(kExp, 37, "EXP")                                     \
  ROW(kFloor, 38, "FLOOR")                                 \
  ROW(kLog, 39, "LOG")                                     \
  ROW(kLogicalNot, 40, "LOGICAL_NOT")                      \
  ROW(kReciprocal, 42, "RECIPROCAL")                       \
  ROW(kRsqrt, 43, "RSQRT")                                 \
  ROW(kSin, 44, "SIN")                                     \
  ROW(kSelect, 45, "SELECT")                               \
  ROW(kEqual, 46, "EQUAL")                                 \
  ROW(kGreater, 47, "GREATER")                             \
  ROW(kGreaterEqual, 48, "GREATER_EQUAL")                  \
  ROW(kReduceMax, 51, "REDUCE_MAX")                        \
  ROW(kReduceMin, 52, "REDUCE_MIN")                        \
  ROW(kReduceSum, 54, "REDUCE_SUM")                        \
  ROW(kConcat, 55, "CONCAT")                               \
  ROW(kPad, 56, "PAD")                                     \
  ROW(kReshape, 57, "RESHAPE")                             \
  ROW(kSlice, 59, "SLICE")                                 \
  ROW(kTile, 60, "TILE")                                   \
  ROW(kTranspose, 61, "TRANSPOSE")                         \
  ROW(kGather, 62, "GATHER")                               \
  ROW(kCast, 65, "CAST")                                   \
  ROW(kRescale, 66, "RESCALE")                             \
  ROW(kConst, 67, "CONST")                                 \
  ROW(kIdentity, 68, "IDENTITY")                           \
  ROW(kConstShape, 75, "CONST_SHAPE")

enum class Op : uint8_t {
#define THIMBLE_TOSA_ROW(enumerator, number, name) enumerator = number,
  THIMBLE_TOSA_OPS(THIMBLE_TOSA_ROW)
#undef THIMBLE_TOSA_ROW
};

[[nodiscard]] const char* op_name(Op op);

using Ints = std::vector<int32_t>;

struct AxisAttr {
  int32_t axis = 0;
};
struct PoolAttr {
  Ints kernel, stride, pad;  // pad: top, bottom, left, right
  DType accumulator = DType::kInt32;
};
struct ConvAttr {
  Ints pad, stride, dilation;
  DType accumulator = DType::kInt32;
};
struct TransposeConvAttr {
  Ints out_pad, stride;
  DType accumulator = DType::kInt32;
};
struct ClampAttr {
  DType type = DType::kInt8;
  int32_t min = 0, max = 0;  // kFp32: the bits of the number
};
struct ShiftAttr {
  bool round = false;
};
struct TransposeAttr {
  Ints perms;
};
enum class Rounding : uint32_t { kSingle = 1, kDouble = 3 };
struct RescaleAttr {
  bool scale32 = true;
  Rounding rounding = Rounding::kSingle;
  bool per_channel = false;
};
/// The alternative must match the operator: AxisAttr for kConcat, kArgMax, the reductions, and so
/// on.
using Attr = std::variant<std::monostate, AxisAttr, PoolAttr, ConvAttr, TransposeConvAttr,
                          ClampAttr, ShiftAttr, TransposeAttr, RescaleAttr>;

struct Operator {
  Op op = Op::kIdentity;
  Attr attr;
  std::vector<std::string> inputs, outputs;
  std::string location;
};

struct Tensor {
  std::string name;
  std::vector<int32_t> shape;
  DType type = DType::kInt8;
  Bytes data;  // only for constants; little-endian; int48 has 6 bytes per element
};

/// A constant list of numbers, such as a shape or padding.
struct ShapeValue {
  std::string name;
  std::vector<int64_t> values;
};

struct Program {
  std::vector<Tensor> tensors;
  std::vector<ShapeValue> shapes;
  std::vector<Operator> operators;
  std::vector<std::string> inputs, outputs;
};

}  // namespace thimble::formats::tosa
