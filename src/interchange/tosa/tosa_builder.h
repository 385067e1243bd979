// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds a TOSA program operator by operator. The builder tracks the type and shape of each tensor
// and shares equal constants. One function per operator fills in what the format requires.
//
// A tensor is identified by its index. Operands of elementwise operators have equal rank and
// broadcast.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "formats/tosa/program.h"
#include "interchange/layouts.h"
#include "ir/graph.h"
#include "numerics/multiplier.h"

namespace thimble::interchange {

using numerics::Multiplier;

struct Rescaling {
  std::vector<Multiplier> multipliers;  // one, or one per index of the last dimension
  int32_t x_zp = 0, y_zp = 0;
  formats::tosa::DType type = formats::tosa::DType::kInt32;
  formats::tosa::Rounding rounding = formats::tosa::Rounding::kSingle;
  bool narrow = false;  // 16-bit multipliers, as in requantize64
};

class TosaBuilder : public TensorMaker {
 public:
  using DType = formats::tosa::DType;
  using Op = formats::tosa::Op;
  using Attr = formats::tosa::Attr;

  /// Sets the operator whose name and source location the following steps get.
  void begin(const std::string& name, const std::string& location);
  int input(const std::string& name, DType type, const ir::Shape& shape);
  void output(int tensor);
  /// Names the tensor, if it has no name yet.
  void name(int tensor, const std::string& name);
  formats::tosa::Program finish();

  [[nodiscard]] DType type(int tensor) const { return tensors_[index(tensor)].type; }
  /// Returns a copy: creating a tensor reallocates the list of tensors.
  [[nodiscard]] ir::Shape shape(int tensor) const { return tensors_[index(tensor)].shape; }

  int constant(DType type, const ir::Shape& shape, Bytes bytes);
  /// Returns a constant of these values, little-endian.
  int constants(DType type, const ir::Shape& shape, const std::vector<int32_t>& values);
  int constants32(const ir::Shape& shape, const std::vector<int32_t>& values) {
    return constants(DType::kInt32, shape, values);
  }
  int constants8(const ir::Shape& shape, const std::vector<int32_t>& values) {
    return constants(DType::kInt8, shape, values);
  }
  int floats(const ir::Shape& shape, const std::vector<float>& values);
  /// Returns an int32 constant of shape [1, 1, ...].
  int scalar(int32_t value, size_t rank);
  int emit(Op op, Attr attr, std::vector<int> operands, DType type, const ir::Shape& shape);

  int rescale(int x, const Rescaling& r);
  /// Converts int8 or int16 to int32 and subtracts a zero point of any size. Float stays float.
  int widen(int x, int64_t zero_point = 0);
  /// Converts int32 to a smaller type, with saturation. Float stays float.
  int narrow(int x, DType type, int32_t zero_point = 0);
  int clamp(int x, int64_t low, int64_t high);

  int binary(Op op, int a, int b);
  int add(int a, int b) { return binary(Op::kAdd, a, b); }
  int sub(int a, int b) { return binary(Op::kSub, a, b); }
  /// Operations with one scalar operand for all elements.
  int plus(int a, int32_t value) { return add(a, same_rank(a, value)); }
  int times(int a, int32_t value, int shift = 0) { return mul(a, same_rank(a, value), shift); }
  int max_scalar(int a, int32_t value) { return binary(Op::kMaximum, a, same_rank(a, value)); }
  int min_scalar(int a, int32_t value) { return binary(Op::kMinimum, a, same_rank(a, value)); }
  int masked(int a, int32_t bits) { return binary(Op::kBitwiseAnd, a, same_rank(a, bits)); }
  int down(int a, int32_t bits, bool round = false) {
    return shift_right(a, same_rank(a, bits), round);
  }
  int up(int a, int32_t bits) { return shift_left(a, same_rank(a, bits)); }
  int down_unsigned(int a, int32_t bits) { return unsigned_right(a, same_rank(a, bits)); }
  int greater(int a, int b) { return binary(Op::kGreater, a, b); }
  int greater_equal(int a, int b) { return binary(Op::kGreaterEqual, a, b); }
  int equal(int a, int b) { return binary(Op::kEqual, a, b); }
  /// Returns floor((a * b + 2^(shift-1)) / 2^shift), computed in 64 bits; a * b if shift is 0.
  int mul(int a, int b, int shift = 0);
  /// Returns a / 2^b, rounded down, or with `round` to nearest, halves up.
  int shift_right(int a, int b, bool round);
  int shift_left(int a, int b) { return binary(Op::kLogicalLeftShift, a, b); }
  int unsigned_right(int a, int b) { return binary(Op::kLogicalRightShift, a, b); }
  int unary(Op op, int x);
  int select(int condition, int a, int b);
  int same_rank(int like, int32_t value) { return scalar(value, shape(like).size()); }
  int same_rank_float(int like, double value) {
    return floats(ir::Shape(shape(like).size(), 1), {static_cast<float>(value)});
  }
  int times_float(int a, double value) { return mul(a, same_rank_float(a, value)); }

  int reduce(Op op, int x, int axis);
  int reshape(int x, const ir::Shape& shape);
  int transpose(int x, const std::vector<int>& perms);
  int slice(int x, const ir::Shape& start, const ir::Shape& size);
  /// Returns `count` elements of one dimension, starting at `start`.
  int part(int x, int axis, int64_t start, int64_t count);
  /// Returns `count` elements of one dimension with stride `step`, starting at `start`.
  int strided(int x, int axis, int64_t start, int64_t count, int64_t step);
  int concat(const std::vector<int>& parts, int axis);
  int pad(int x, const ir::Shape& before, const ir::Shape& after, int32_t value);
  int tile(int x, const ir::Shape& shape);
  /// Gathers values [N, K, C] at indices [N, W]; the result is [N, W, C].
  int gather(int values, int indices);
  /// Returns table[x] for each element of x, which holds indices into the constant table.
  int look_up(int x, const std::vector<int32_t>& table);

  int transposed(int tensor, const std::vector<int>& perms, const ir::Shape& shape) override;
  int reshaped(int tensor, const ir::Shape& shape) override { return reshape(tensor, shape); }
  int constant(const ir::Value& value, const ir::DimOrder& order) override;

 private:
  struct TensorInfo {
    std::string name;
    DType type = DType::kInt8;
    ir::Shape shape;
    Bytes data;
    bool is_list = false;  // a list of numbers, such as paddings and shapes
    std::vector<int64_t> list;
    bool named = false;
  };
  struct Step {
    Op op = Op::kIdentity;
    Attr attr;
    std::vector<int> operands;
    int result = -1;
    std::string location;
  };
  /// Returns the shape to which both tensors broadcast; their ranks are equal.
  [[nodiscard]] ir::Shape broadcast(int a, int b) const;
  static size_t index(int tensor) { return static_cast<size_t>(tensor); }
  int add_tensor(TensorInfo known);
  int list(const ir::Shape& values);
  std::string unique(const std::string& name);

  std::vector<TensorInfo> tensors_;
  std::vector<Step> steps_;
  std::vector<int> inputs_, outputs_;
  std::map<std::tuple<DType, ir::Shape, Bytes>, int> constants_;
  std::map<std::vector<int64_t>, int> lists_;
  std::map<std::string, int> names_;
  std::string prefix_ = "t", location_;
};

[[nodiscard]] formats::tosa::DType tosa_type(ir::DType dtype);

}  // namespace thimble::interchange
