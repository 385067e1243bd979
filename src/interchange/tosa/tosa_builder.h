#pragma once
// Builds a TOSA program operator by operator: knows each tensor's type and shape, shares equal
// constants, and has a function per operator that fills in what the format wants.
//
// A tensor is a number. Operands of elementwise operators have the same rank and broadcast.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "formats/tosa/program.h"
#include "interchange/layouts.h"
#include "ir/graph.h"

namespace thimble::interchange {

/// mult * 2^(shift-31), as the graph holds it.
struct Scale {
  int32_t mult = 0, shift = 0;
};

struct Rescaling {
  std::vector<Scale> scales;  // one, or one per index of the last dimension
  int32_t x_zp = 0, y_zp = 0;
  formats::tosa::DType type = formats::tosa::DType::kInt32;
  formats::tosa::Rounding rounding = formats::tosa::Rounding::kSingle;
  bool narrow = false;  // multipliers of 16 bits, as requantize64 has them
};

class TosaBuilder : public TensorMaker {
 public:
  using DType = formats::tosa::DType;
  using Op = formats::tosa::Op;
  using Attr = formats::tosa::Attr;

  /// Names and place of what follows are those of this operator.
  void begin(const std::string& name, const std::string& location);
  int input(const std::string& name, DType type, const ir::Shape& shape);
  void output(int tensor);
  /// Gives the tensor a name of its own, if it has none yet.
  void name(int tensor, const std::string& name);
  formats::tosa::Program finish();

  [[nodiscard]] DType type(int tensor) const { return tensors_[index(tensor)].type; }
  /// A copy: making a tensor moves the others.
  [[nodiscard]] ir::Shape shape(int tensor) const { return tensors_[index(tensor)].shape; }

  int constant(DType type, const ir::Shape& shape, Bytes bytes);
  int constants32(const ir::Shape& shape, const std::vector<int32_t>& values);
  int constants16(const ir::Shape& shape, const std::vector<int32_t>& values);
  int constants8(const ir::Shape& shape, const std::vector<int32_t>& values);
  /// One int32 of shape [1, 1, ...].
  int scalar(int32_t value, size_t rank);
  int emit(Op op, Attr attr, std::vector<int> operands, DType type, const ir::Shape& shape);

  int rescale(int x, const Rescaling& r);
  /// int8 or int16 to int32, less a zero point of any size.
  int widen(int x, int64_t zero_point = 0);
  /// int32 to a smaller type, limited to it.
  int narrow(int x, DType type, int32_t zero_point = 0);
  int clamp(int x, int64_t low, int64_t high);

  int binary(Op op, int a, int b);
  int add(int a, int b) { return binary(Op::kAdd, a, b); }
  int sub(int a, int b) { return binary(Op::kSub, a, b); }
  /// With one number for all elements.
  int plus(int a, int32_t value) { return add(a, same_rank(a, value)); }
  int times(int a, int32_t value, int shift = 0) { return mul(a, same_rank(a, value), shift); }
  int at_least(int a, int32_t value) { return binary(Op::kMaximum, a, same_rank(a, value)); }
  int at_most(int a, int32_t value) { return binary(Op::kMinimum, a, same_rank(a, value)); }
  int masked(int a, int32_t bits) { return binary(Op::kBitwiseAnd, a, same_rank(a, bits)); }
  int down(int a, int32_t bits, bool round = false) {
    return shift_right(a, same_rank(a, bits), round);
  }
  int up(int a, int32_t bits) { return shift_left(a, same_rank(a, bits)); }
  int down_unsigned(int a, int32_t bits) { return unsigned_right(a, same_rank(a, bits)); }
  int greater(int a, int b) { return binary(Op::kGreater, a, b); }
  int greater_equal(int a, int b) { return binary(Op::kGreaterEqual, a, b); }
  int equal(int a, int b) { return binary(Op::kEqual, a, b); }
  /// floor((a * b + 2^(shift-1)) / 2^shift) through 64 bits; the product itself for shift 0.
  int mul(int a, int b, int shift = 0);
  /// a / 2^b, down or with `round` to nearest, halves up.
  int shift_right(int a, int b, bool round);
  int shift_left(int a, int b) { return binary(Op::kLogicalLeftShift, a, b); }
  int unsigned_right(int a, int b) { return binary(Op::kLogicalRightShift, a, b); }
  int unary(Op op, int x);
  int select(int condition, int a, int b);
  int same_rank(int like, int32_t value) { return scalar(value, shape(like).size()); }

  int reduce(Op op, int x, int axis);
  int reshape(int x, const ir::Shape& shape);
  int transpose(int x, const std::vector<int>& perms);
  int slice(int x, const ir::Shape& start, const ir::Shape& size);
  /// `count` elements of one dimension.
  int part(int x, int axis, int64_t start, int64_t count);
  /// Every step-th element from start.
  int strided(int x, int axis, int64_t start, int64_t count, int64_t step);
  int concat(const std::vector<int>& parts, int axis);
  int pad(int x, const ir::Shape& before, const ir::Shape& after, int32_t value);
  int tile(int x, const ir::Shape& shape);
  /// values [N, K, C] at indices [N, W]: [N, W, C].
  int gather(int values, int indices);
  /// One element of a constant table per element of x, which holds indices into it.
  int look_up(int x, const std::vector<int32_t>& table);

  int transposed(int tensor, const std::vector<int>& perms, const ir::Shape& shape) override;
  int reshaped(int tensor, const ir::Shape& shape) override { return reshape(tensor, shape); }
  int constant(const ir::Value& value, const ir::DimOrder& order) override;

 private:
  struct Known {
    std::string name;
    DType type = DType::kInt8;
    ir::Shape shape;
    Bytes data;
    bool is_list = false;  // of numbers, as paddings and shapes are given
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
  static size_t index(int tensor) { return static_cast<size_t>(tensor); }
  int add_tensor(Known known);
  int list(const ir::Shape& values);
  std::string unique(const std::string& name);

  std::vector<Known> tensors_;
  std::vector<Step> steps_;
  std::vector<int> inputs_, outputs_;
  std::map<std::tuple<DType, ir::Shape, Bytes>, int> constants_;
  std::map<std::vector<int64_t>, int> lists_;
  std::map<std::string, int> names_;
  std::string prefix_ = "t", location_;
};

[[nodiscard]] formats::tosa::DType tosa_type(ir::DType dtype);

}  // namespace thimble::interchange
