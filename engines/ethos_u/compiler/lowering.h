#pragma once
// What the families of operators (lower_*.cpp) share while one region is lowered.

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

/// Nothing for element types that the NPU has not.
[[nodiscard]] std::optional<Element> element_of(ir::DType dtype);

/// For all channels: value * mult * 2^(shift - 31), as the graph writes multipliers.
[[nodiscard]] Requantize global_scale(int64_t mult, int64_t shift, bool single);
/// The value itself.
[[nodiscard]] Requantize unit_scale();

/// Image n of [N,C,H,W], whose channels lie side by side.
[[nodiscard]] Operand image_of(const View& view, int64_t n);

/// A convolution or a depthwise one, on images [N,C,H,W], before it is fitted to the hardware.
struct ConvJob {
  View x, y;
  Weights weights;
  Requantize requantize;
  Window window;
  bool depthwise = false;
  size_t channel = 1;  // the dimension of channels
  int64_t minimum = INT32_MIN, maximum = INT32_MAX;
  bool wide = false;
};

using TakeWeight = std::function<int64_t(int64_t out, int64_t in, int64_t ky, int64_t kx)>;

/// Positions of an output axis that are made alike: from `out` on every `out_step`-th, each from
/// `size` positions of the input, `stride` further each time.
struct Stretch {
  int64_t out = 0, count = 1, out_step = 1;
  int64_t in = 0, size = 1, stride = 1;
  int64_t weight = 0;  // of resizing
};

class Lowering {
 public:
  Lowering(const ir::Graph& graph, const thimble::ethos_u::Config& config);
  Result<NpuProgram> run();

  /// Makes the operator's operations and says where its result lies.
  using Handler = Result<View> (Lowering::*)(const ir::Op&);
  /// Null if no generation runs it (ops.def has the reason).
  [[nodiscard]] static Handler handler_of(ir::OpKind kind);

 private:
  // Values and memory (lower.cpp).
  Status add_inputs();
  Status add_outputs();
  /// Where results shall lie: outputs, parts of concatenations, and what leads to them.
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
  /// Where the operator writes: its place, or a new tensor in the order of `like`.
  Result<View> result(const ir::Op& op, const View* like = nullptr);
  int new_tensor(std::string name, Element element, Shape4 shape, TensorRole role);
  View new_view(Element element, const ir::Shape& shape, const ir::DimOrder& order);
  View scratch(Element element, const ir::Shape& shape);
  /// Constants are made once per content.
  View constant(Element element, const ir::Shape& shape, std::vector<std::byte> content);
  View constant_i32(int32_t value);
  [[nodiscard]] const ir::Type& type(ir::ValueId value) const { return graph_.type(value); }
  [[nodiscard]] const ir::Tensor* constant_of(ir::ValueId value) const;
  [[nodiscard]] bool is_u85() const;
  NpuOp op_of(NpuOpKind kind) const;
  void push(NpuOp op);

  // Movement and single elements (lower_element.cpp).
  /// `op` on every element; views of one shape, of which a and b may repeat elements.
  Status each(NpuOp op, const View& y, View a, const View* b = nullptr);
  Status copy(const View& to, const View& from);
  Status copy_channels(const View& to, const View& from, const std::vector<Axis>& axes,
                       const std::vector<Axis>& rows);
  Status fill(const View& to, int64_t code);
  /// `view` itself if dimension `dim` lies element by element, else a copy in which it does.
  Result<View> with_inner(const View& view, size_t dim);
  /// The view's order with `dim` moved to the inside.
  [[nodiscard]] static ir::DimOrder inner_order(const View& view, size_t dim);
  /// An int8 (int16) value through a table of the op's own making.
  Status table_each(const View& y, const View& x, Table table, Element clip);
  Status unary(ElementwiseMode mode, const View& y, const View& a);
  Status binary(ElementwiseMode mode, const View& y, const View& a, const View& b,
                Requantize requantize = unit_scale());
  Status with_scalar(ElementwiseMode mode, const View& y, const View& a, int32_t scalar,
                     Requantize requantize = unit_scale(), bool scalar_first = false);
  /// y = clamp(requantized x + zero point) of int32 x.
  Status requantize_each(const View& y, const View& x, Requantize requantize, int64_t low,
                         int64_t high);

  // Operators, by family.
  Result<View> copied(const ir::Op& op);
  Result<View> permute(const ir::Op& op);
  Result<View> reshape(const ir::Op& op);
  Result<View> expand(const ir::Op& op);
  Result<View> slice(const ir::Op& op);
  Result<View> concat(const ir::Op& op);
  Result<View> pad(const ir::Op& op);
  Result<View> gather(const ir::Op& op);
  Result<View> doubled(const ir::Op& op);
  [[nodiscard]] bool doubles(const ir::Op& op) const;

  Result<View> lut(const ir::Op& op);
  Result<View> lut16(const ir::Op& op);
  Result<View> sum(const ir::Op& op);       // qadd, qsub
  Result<View> wide_sum(const ir::Op& op);  // qadd16, qsub16
  Result<View> product(const ir::Op& op);   // qmul
  Result<View> wide_product(const ir::Op& op);
  Result<View> quotient(const ir::Op& op);
  Result<View> prelu(const ir::Op& op);
  Result<View> extreme(const ir::Op& op);  // maximum, minimum
  Result<View> compare(const ir::Op& op);
  Result<View> where(const ir::Op& op);
  Result<View> logical(const ir::Op& op);
  Result<View> rescale(const ir::Op& op);
  /// A function of one code, or of two.
  using Code = std::function<int64_t(int64_t)>;
  using Codes = std::function<int64_t(int64_t, int64_t)>;
  /// The one code that a constant operand is, if it is one.
  [[nodiscard]] std::optional<int64_t> single_code(ir::ValueId value) const;
  /// The operator as a table of one of its operands; nothing if both vary by themselves.
  Result<std::optional<View>> as_table(const ir::Op& op, const Codes& function);
  Result<View> by_table(const ir::Op& op, ir::ValueId x, const Code& function);
  /// Table of what made `x`, if nobody else wants that; false if it cannot be.
  bool fuse_table(const ir::Op& op, ir::ValueId x, const Table& table);
  /// int32 of a function of the codes of int8 x.
  Result<View> widened(const View& x, const Code& function);
  struct SumTerm;
  Result<View> sum_of_tables(const ir::Op& op, const SumTerm& a, const SumTerm& b);
  Result<View> choose_wide(const ir::Op& op, const View& condition, const View& a, const View& b);

  Result<View> conv(const ir::Op& op);
  Result<View> linear(const ir::Op& op);
  Result<View> conv_transpose(const ir::Op& op);
  Status transposed_phase(const ConvJob& job, int64_t phase_h, int64_t phase_w);
  /// Groups of channels, `job` without weights of its own: `weight(out, in, ky, kx)` with `out`
  /// among all output channels and `in` inside the group.
  Status grouped(const ConvJob& job, int64_t groups, const TakeWeight& weight,
                 Status (Lowering::*emit)(ConvJob));
  Status emit_conv(ConvJob job);
  Status emit_transposed(ConvJob job);
  Status fitted_conv(ConvJob job);
  Status pointwise(const ConvJob& job);
  Status windowed(const ConvJob& job);
  Status folded_conv(ConvJob job);
  /// The image with its padding around it.
  Result<View> padded(const View& x, Window* window, int64_t code);
  /// Each channel of y to what its bias alone gives.
  Status fill_bias(const ConvJob& job);
  /// The operator without its weights; of linear layers the rows lie as those of x.
  Result<ConvJob> job_of(const ir::Op& op, int64_t channels);

  struct PoolJob;
  Result<View> max_pool(const ir::Op& op);
  Result<View> avg_pool(const ir::Op& op);
  Result<View> adaptive_pool(const ir::Op& op);
  Status emit_pool(PoolJob job);
  Status pool_whole(const PoolJob& job);
  /// Windows as rows and columns of positions: one operation per regular stretch of both.
  Status pool_parts(const PoolJob& job, const std::vector<Stretch>& rows,
                    const std::vector<Stretch>& columns);
  Status dilated_max(const PoolJob& job);

  struct Reduction;
  Result<View> mean(const ir::Op& op);
  Result<View> reduce_extreme(const ir::Op& op);
  /// `describe` completes the operation for kernel and depth of its reduction.
  Status reduce(const View& y, const View& x, const std::vector<int64_t>& dims, bool in_depth,
                const Reduction& how);
  Status largest_along(const View& y, const View& x, const std::vector<int64_t>& dims);
  Result<View> cumsum(const ir::Op& op);
  Result<View> resize(const ir::Op& op);

  struct Product;
  Result<View> matmul(const ir::Op& op);
  Status matmul_native(const Product& product);
  Status matmul_by_products(const Product& product);

  struct SoftmaxRows;
  Result<View> softmax(const ir::Op& op);
  Status softmax_rows(const SoftmaxRows& rows);
  Result<View> sum_rows(const View& x);
  Result<View> reciprocal(const View& half_denominator);

  const ir::Graph& graph_;
  const thimble::ethos_u::Config& config_;
  NpuProgram program_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<std::optional<View>> views_;    // by value, once lowered
  std::vector<std::optional<View>> places_;   // by value, where it shall lie
  std::vector<std::vector<size_t>> writers_;  // by value: operations that make its elements
  std::vector<size_t> pushed_;                // by the operator at hand
  /// A flattened image that stays in the order of its memory: by value, which logical column each
  /// column is.
  std::map<ir::ValueId, std::vector<int64_t>> columns_;
  /// Images that a gathering makes twice as high (wide), which the one behind it makes as well.
  std::map<ir::ValueId, View> doubled_;
  std::vector<int> constants_;
  int ir_op_ = -1;
};

}  // namespace thimble::engine::ethos_u
