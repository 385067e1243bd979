// SPDX-License-Identifier: Apache-2.0
#pragma once
// Declarations shared by the operator families (lower_*.cpp) while one subgraph is lowered.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/ethos_u/compiler/lower.h"
#include "engines/ethos_u/compiler/view.h"

namespace thimble::engine::ethos_u {

inline constexpr Element kByte = {8, true};
inline constexpr Element kInt16 = {16, true};
inline constexpr Element kInt32 = {32, true};

/// Returns nullopt for element types that the NPU does not support.
[[nodiscard]] std::optional<Element> element_of(ir::DType dtype);

/// Returns one scale for all channels: value * mult * 2^(shift - 31), as in the graph's
/// multipliers.
[[nodiscard]] Requantize global_scale(int64_t mult, int64_t shift, bool single);
/// Returns the scale 1.
[[nodiscard]] Requantize unit_scale();

/// Returns image n of [N,C,H,W] as an operand; its channels must be innermost.
[[nodiscard]] Operand image_of(const View& view, int64_t n);
/// Returns an operand that starts at an offset in the view, without shape and strides.
[[nodiscard]] Operand operand_at(const View& view, int64_t offset);

/// A convolution or depthwise convolution on [N,C,H,W], before legalization.
struct ConvJob {
  View x, y;
  Weights weights;
  Requantize requantize;
  Window window;
  bool depthwise = false;
  size_t channel = 1;  // index of the channel dimension
  int64_t minimum = INT32_MIN, maximum = INT32_MAX;
  bool wide = false;
};

using TakeWeight = std::function<int64_t(int64_t out, int64_t in, int64_t ky, int64_t kx)>;

/// Output positions of an axis that are computed alike: every `out_step`-th from `out` on. Each
/// uses `size` input positions, which advance by `stride`.
struct StridedRange {
  int64_t out = 0, count = 1, out_step = 1;
  int64_t in = 0, size = 1, stride = 1;
  int64_t weight = 0;  // of bilinear resizing
};

class Lowering {
 public:
  Lowering(const ir::Graph& graph, const thimble::ethos_u::Config& config);
  Result<NpuProgram> run();

  /// Appends the NPU operations of the operator and returns the view of its result.
  using Handler = Result<View> (Lowering::*)(const ir::Op&);
  /// Returns null if no generation runs the operator (ops.def has the reason).
  [[nodiscard]] static Handler handler_of(ir::OpKind kind);

 private:
  // Values and memory (lower.cpp).
  Status add_inputs();
  Status add_outputs();
  /// Chooses the views of outputs, of parts of concatenations, and of the values that lead to them.
  Status choose_places();
  void place_operands(const ir::Op& op);
  [[nodiscard]] ir::DimOrder wanted_order(ir::ValueId value) const;
  void place_parts(const ir::Op& concat, const View& place);
  ir::ValueId split_value(const ir::Op& concat, size_t first, size_t* count) const;
  bool may_be_placed(ir::ValueId value, bool alone) const;
  bool fusable(const ir::Op& lut) const;
  Status lower_op(const ir::Op& op);
  Status finish_outputs();
  void drop_unused();
  void mark_linear();
  Result<View> read(ir::ValueId value);
  /// Returns the view that the operator writes: its chosen place, or a new tensor in the order of
  /// `like`.
  Result<View> result(const ir::Op& op, const View* like = nullptr);
  int new_tensor(std::string name, Element element, Shape4 shape, TensorRole role);
  View new_view(Element element, const ir::Shape& shape, const ir::DimOrder& order);
  View scratch(Element element, const ir::Shape& shape);
  /// Adds a constant. Equal contents share one tensor.
  View constant(Element element, const ir::Shape& shape, std::vector<std::byte> content);
  View constant_i32(int32_t value);
  [[nodiscard]] const ir::Type& type(ir::ValueId value) const { return graph_.type(value); }
  [[nodiscard]] const ir::Tensor* constant_of(ir::ValueId value) const;
  [[nodiscard]] bool is_u85() const;
  NpuOp op_of(NpuOpKind kind) const;
  void push(NpuOp op);

  // Movement and elementwise operations (lower_elementwise.cpp).
  [[nodiscard]] std::optional<int32_t> one_constant(const View& view) const;
  /// Applies `op` to every element. The views have one shape; a and b may repeat elements.
  Status each(NpuOp op, const View& y, View a, const View* b = nullptr);
  Status copy(const View& to, const View& from);
  Status copy_channels(const View& to, const View& from, const std::vector<Axis>& axes,
                       const std::vector<Axis>& rows);
  /// Copies with a transposed OFM. Returns false if the hardware or the axes do not allow it
  /// (lower_transpose.cpp).
  Result<bool> copy_transposed(const View& to, const View& from);
  Status fill(const View& to, int64_t code);
  /// Returns `view` if dimension `dim` has stride 1, otherwise a copy in which it has.
  Result<View> with_inner(const View& view, size_t dim);
  /// Returns the view's order with `dim` innermost.
  [[nodiscard]] static ir::DimOrder inner_order(const View& view, size_t dim);
  /// Applies a LUT to an int8 or int16 value.
  Status table_each(const View& y, const View& x, Table table, Element clip);
  Status unary(ElementwiseMode mode, const View& y, const View& a);
  Status binary(ElementwiseMode mode, const View& y, const View& a, const View& b,
                Requantize requantize = unit_scale());
  Status with_scalar(ElementwiseMode mode, const View& y, const View& a, int32_t scalar,
                     Requantize requantize = unit_scale(), bool scalar_first = false);
  /// Computes y = clamp(requantized x + zero point) of int32 x.
  Status requantize_each(const View& y, const View& x, Requantize requantize, int64_t low,
                         int64_t high);

  // Operators: rows of ops.def. One function may lower several operators.
#define ETHOS_U_FUNCTION(name) Result<View> name(const ir::Op& op);
#include "engines/ethos_u/compiler/ops.def"

  Result<View> nearest_x2(const ir::Op& op);
  [[nodiscard]] bool is_nearest_x2(const ir::Op& op) const;

  Result<View> wide_sum(const ir::Op& op);  // qadd16, qsub16
  /// Functions of one quantized value, or of two.
  using UnaryFunction = std::function<int64_t(int64_t)>;
  using BinaryFunction = std::function<int64_t(int64_t, int64_t)>;
  /// Returns the value of a constant operand whose elements are all equal; nullopt otherwise.
  [[nodiscard]] std::optional<int64_t> single_value(ir::ValueId value) const;
  /// Lowers the operator to a LUT of one of its operands; returns nullopt if both operands vary.
  Result<std::optional<View>> as_table(const ir::Op& op, const BinaryFunction& function);
  Result<View> by_table(const ir::Op& op, ir::ValueId x, const UnaryFunction& function);
  /// Fuses the LUT into the operation that computes `x`. Returns false if it has other consumers or
  /// cannot have a LUT.
  bool fuse_table(const ir::Op& op, ir::ValueId x, const Table& table);
  /// Returns a function of the values of int8 x as int32.
  Result<View> widened(const View& x, const UnaryFunction& function);
  struct SumTerm;
  Result<View> prelu_of_bytes(const ir::Op& op, View x, View w);
  Result<View> sum_of_tables(const ir::Op& op, const SumTerm& a, const SumTerm& b);
  Result<View> choose_wide(const ir::Op& op, const View& condition, const View& a, const View& b);

  Status transposed_phase(const ConvJob& job, int64_t phase_h, int64_t phase_w);
  /// Emits a grouped convolution. `job` has no weights; `weight(out, in, ky, kx)` returns them,
  /// with `out` among all output channels and `in` in the group.
  Status grouped(const ConvJob& job, int64_t groups, const TakeWeight& weight,
                 Status (Lowering::*emit)(ConvJob));
  Status emit_conv(ConvJob job);
  Status emit_transposed(ConvJob job);
  /// `exchanged`: height and width have been exchanged already.
  Status legalized_conv(ConvJob job, bool exchanged = false);
  Status pointwise(const ConvJob& job);
  Status windowed(const ConvJob& job);
  Status im2col_conv(ConvJob job);
  /// Returns the image with explicit padding.
  Result<View> padded(const View& x, Window* window, int64_t code);
  /// Sets each channel of y to the result of its bias alone.
  Status fill_bias(const ConvJob& job);
  /// Returns the operator without its weights. The rows of a linear layer are ordered as those of
  /// x.
  Result<ConvJob> job_of(const ir::Op& op, int64_t channels);

  struct PoolJob;
  Status emit_pool(PoolJob job);
  Status pool_whole(const PoolJob& job);
  /// Emits one operation for each pair of a stretch of rows and a stretch of columns.
  Status pool_parts(const PoolJob& job, const std::vector<StridedRange>& rows,
                    const std::vector<StridedRange>& columns);
  Status dilated_max(const PoolJob& job);

  struct Reduction;
  /// `how` describes the operation. reduce() sets its kernel, depth and operands.
  Status reduce(const View& y, const View& x, const std::vector<int64_t>& dims, bool in_depth,
                const Reduction& reduction);
  Status largest_along(const View& y, const View& x, const std::vector<int64_t>& dims);

  struct Product;
  Status matmul_native(const Product& product);
  Status matmul_by_products(const Product& product);

  struct SoftmaxRows;
  Status softmax_rows(const SoftmaxRows& rows);
  Result<View> sum_rows(const View& x);
  Result<View> reciprocal(const View& half_denominator);

  struct NormRows;
  Status norm_rows(const NormRows& rows);
  Result<View> inverse_root(const View& radicand);

  const ir::Graph& graph_;
  const thimble::ethos_u::Config& config_;
  NpuProgram program_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<std::optional<View>> views_;   // by value; set when lowered
  std::vector<std::optional<View>> places_;  // by value; chosen destination
  /// By value: the operations that together write every element. Empty if a table cannot be fused
  /// into them: an operand of a concat or pad is placed in the result, or the result was copied to
  /// its place.
  std::vector<std::vector<size_t>> writers_;
  std::vector<size_t> pushed_;     // operations of the current operator
  bool operand_in_place_ = false;  // another operation wrote a part of the current result
  /// Flattened images that keep the order of their memory: by value, the logical column of each
  /// column.
  std::map<ir::ValueId, std::vector<int64_t>> columns_;
  /// Images whose rows (or columns) a gather repeats twice; the following operator repeats both
  /// axes.
  std::map<ir::ValueId, View> nearest_x2_one_axis_;
  std::vector<int> constants_;
  int ir_op_ = -1;
};

/// Omits transposed copies whose source an operation can write transposed.
void fuse_transpositions(NpuProgram* program);

}  // namespace thimble::engine::ethos_u
