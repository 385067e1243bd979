// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/cost_terms.h"

#include <algorithm>
#include <cstring>

#include "abi/ops/movement.h"
#include "abi/ops/reduction.h"
#include "abi/packed_ops.h"
#include "abi/pte_ops.h"
#include "base/rounding.h"
#include "ir/op_cost.h"

namespace thimble::engine::cortex_m {
namespace {

constexpr int64_t kVectorLanes = 16;
constexpr int64_t kChannelsBlock = 4;  // results of a block of portable kernels

/// Numbers of inner loops for `count` results: one for each block of four, and one for each of the
/// others.
int64_t blocks_of(int64_t count) {
  return count / kChannelsBlock + count % kChannelsBlock;
}

bool is_packed(const KernelCall& call, abi::Packing packing) {
  return abi::info(call.op).key.packing == static_cast<uint8_t>(packing);
}

/// Returns the parameters of a packed constant, the last argument of a call. The call may be one of
/// a file whose constant is too short: its parameters are zeros.
template <typename Params>
Params packed_params(const KernelCall& call) {
  Params params{};
  if (call.arguments.empty()) return params;
  const auto* const packed = std::get_if<Constant>(&call.arguments.back());
  if (packed == nullptr || packed->bytes->size() < sizeof params) return params;
  std::memcpy(&params, packed->bytes->data(), sizeof params);
  return params;
}

/// Output positions of a window along one axis.
struct TapCounts {
  int64_t out = 0;
  int64_t taps = 0;    // inside the image, of all positions
  int64_t whole = 0;   // positions without a tap outside the image
  int64_t filled = 0;  // positions with a tap inside the image
};

TapCounts window_axis(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad,
                      int64_t dilation) {
  TapCounts axis{out, 0, 0, 0};
  for (int64_t position = 0; position < out; ++position) {
    const int64_t start = position * stride - pad;
    const int64_t first = start >= 0 ? 0 : std::min(kernel, divide_up(-start, dilation));
    const int64_t last = start >= in ? 0 : std::min(kernel, (in - 1 - start + dilation) / dilation);
    const int64_t taps = std::max<int64_t>(last - first, 0);
    axis.taps += taps;
    axis.whole += taps == kernel ? 1 : 0;
    axis.filled += taps > 0 ? 1 : 0;
  }
  return axis;
}

/// As window_axis() for a transposed convolution: the taps of a position are those that meet an
/// input.
TapCounts transposed_axis(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad,
                          int64_t dilation) {
  TapCounts axis{out, 0, 0, 0};
  for (int64_t input = 0; input < in; ++input) {
    for (int64_t tap = 0; tap < kernel; ++tap) {
      const int64_t position = input * stride - pad + tap * dilation;
      axis.taps += position >= 0 && position < out ? 1 : 0;
    }
  }
  return axis;
}

/// TapCounts 0 is the height, axis 1 the width.
TapCounts window_axis(const ir::Graph& graph, const ir::Op& op, size_t axis, int64_t kernel,
                      int64_t dilation) {
  return window_axis(graph.type(op.inputs[0]).shape[2 + axis],
                     graph.type(op.output).shape[2 + axis], kernel, op.get(ir::attr::stride)[axis],
                     op.get(ir::attr::padding)[axis], dilation);
}

/// Sets what depends on the length of the innermost loops.
void set_loops(int64_t loops, int64_t length, CostTerms* terms) {
  terms->loops = loops;
  terms->tails = loops * (length % kChannelsBlock);
  if (length % kChannelsBlock != 0) terms->unaligned = loops * length;
}

void add_conv(const ir::Graph& graph, const ir::Op& op, const KernelCall& call, CostTerms* terms) {
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Shape& w = graph.type(op.inputs[1]).shape;  // out, in / groups, height, width
  const int64_t elements = graph.type(op.output).elements();
  const auto& dilation = op.get(ir::attr::dilation);
  const int64_t groups = op.get(ir::attr::groups);
  const int64_t window = w[2] * w[3];
  const int64_t depth = window * w[1];
  const int64_t pixels = elements / w[0];
  const bool is_depthwise = w[1] == 1 && x.shape[1] > 1;
  terms->taps = elements * window;
  if (window > 1 && !is_depthwise) {
    terms->gathered = pixels * depth;
    terms->copied_rows = pixels * w[2];
  }
  const int64_t batch = x.shape[0];
  const TapCounts down = window_axis(graph, op, 0, w[2], dilation[0]);
  const TapCounts across = window_axis(graph, op, 1, w[3], dilation[1]);
  const int64_t inside = batch * down.taps * across.taps;  // taps
  terms->rows = pixels;
  terms->edges = pixels - batch * down.whole * across.whole;
  terms->inside_steps = inside * w[1] * w[0];
  const bool dsp = is_packed(call, abi::Packing::kDsp), mve = is_packed(call, abi::Packing::kMve);
  terms->edge_steps = terms->edges * (is_depthwise ? window * w[0] : depth);
  terms->gather_runs = pixels * w[2] * (dilation[1] == 1 ? 1 : w[3]);
  const bool nine_taps = is_depthwise && w[2] == 3 && w[3] == 3 && w[0] == x.shape[1];
  const bool whole_words =
      !is_depthwise && (mve ? w[3] * w[1] % kVectorLanes : w[1] % kChannelsBlock) == 0;
  if (!nine_taps && !(whole_words && dilation[1] == 1)) {
    terms->gather_steps = pixels * (is_depthwise ? window * w[0] : depth);
  }
  // Helium requantizes four channels at once, the DSP kernel multiplies two.
  terms->odd_channels = pixels * (w[0] % (dsp ? 2 : kChannelsBlock)) * (dsp ? depth : 1);
  terms->window_vectors = pixels * window * divide_up(w[0], kVectorLanes);
  if (is_depthwise) {
    terms->vectors = inside * divide_up(w[0], kVectorLanes);
    set_loops(inside, w[0], terms);
    terms->single_steps = batch * down.out * (across.out % 2) * window * w[0];
    return;
  }
  if (dsp || mve) {
    constexpr int64_t kPixels = 3;  // of a block
    terms->vectors = divide_up(pixels, kPixels) * w[0] * divide_up(depth, kVectorLanes);
    set_loops(pixels * w[2], w[3] * w[1], terms);
    terms->single_steps = pixels % kPixels * depth * w[0];
    return;
  }
  if (is_packed(call, abi::Packing::kScalar)) {
    set_loops(pixels * w[2], w[3] * w[1], terms);
    terms->single_steps = pixels % 2 * depth * w[0];
    return;
  }
  const int64_t group_o = w[0] / groups;
  const int64_t blocks = groups * blocks_of(group_o);
  const bool whole_rows = groups == 1 && dilation[1] == 1;
  const int64_t runs = whole_rows ? batch * down.taps * across.filled : inside;
  set_loops(runs * blocks, whole_rows ? w[3] * w[1] : w[1], terms);
  terms->vectors = runs * w[0] * divide_up(whole_rows ? w[3] * w[1] : w[1], kVectorLanes);
  terms->single_steps = inside * w[1] * groups * (group_o % kChannelsBlock);
}

void add_conv_transpose(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  const ir::Shape& w = graph.type(op.inputs[1]).shape;  // in, out / groups, height, width
  const int64_t groups = op.get(ir::attr::groups);
  TapCounts axes[2];
  for (size_t i = 0; i < 2; ++i) {
    axes[i] = transposed_axis(x.shape[2 + i], y.shape[2 + i], w[2 + i], op.get(ir::attr::stride)[i],
                              op.get(ir::attr::padding)[i], op.get(ir::attr::dilation)[i]);
  }
  const int64_t group_i = w[0] / groups;
  const int64_t inside = x.shape[0] * axes[0].taps * axes[1].taps;
  terms->rows = y.elements() / y.shape[1];
  terms->inside_steps = inside * group_i * y.shape[1];
  set_loops(inside * groups * blocks_of(w[1]), group_i, terms);
  terms->vectors = inside * y.shape[1] * divide_up(group_i, kVectorLanes);
  terms->single_steps = inside * group_i * groups * (w[1] % kChannelsBlock);
  if (group_i == 1) terms->strided = inside * y.shape[1];
}

void add_linear(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Shape& w = graph.type(op.inputs[1]).shape;  // out, in
  const int64_t rows = graph.type(op.output).elements() / w[0];
  terms->rows = rows;
  set_loops(rows * blocks_of(w[0]), w[1], terms);
  terms->vectors = rows * w[0] * divide_up(w[1], kVectorLanes);
  terms->single_steps = rows * w[1] * (w[0] % kChannelsBlock);
}

void add_matmul(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Type& y = graph.type(op.output);
  const int64_t depth = graph.type(op.inputs[0]).shape.back();
  const int64_t columns = y.shape.back();
  const int64_t rows = y.elements() / columns;
  terms->rows = rows;
  set_loops(rows * blocks_of(columns), depth, terms);
  terms->single_steps = rows * depth * (columns % kChannelsBlock);
  if (op.get(ir::attr::transpose_b) != 0) {
    terms->vectors = rows * columns * divide_up(depth, kVectorLanes);
  } else {
    terms->vectors = rows * depth * divide_up(columns, kVectorLanes);
    terms->strided = terms->steps;
  }
}

void add_recurrent(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Type& y = graph.type(op.output);
  const size_t w_ih = ir::w_ih_operand(graph, op);
  const ir::Shape& weights = graph.type(op.inputs[w_ih]).shape;  // gates * hidden, in
  const int64_t hidden = y.shape.back();
  const int64_t rows = y.elements() / hidden;
  terms->rows = rows;
  terms->loops = rows * 2 * blocks_of(weights[0]);
  terms->vectors =
      rows * weights[0] * (divide_up(weights[1], kVectorLanes) + divide_up(hidden, kVectorLanes));
  terms->tails = rows * weights[0] * (weights[1] % kChannelsBlock + hidden % kChannelsBlock);
}

void add_pool(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Type& y = graph.type(op.output);
  const auto& kernel = op.get(ir::attr::kernel);
  TapCounts axes[2];
  for (size_t i = 0; i < 2; ++i) {
    const int64_t dilation =
        op.kind == ir::OpKind::avg_pool2d || !ir::has_attr(op.kind, ir::attr::dilation)
            ? 1
            : op.get(ir::attr::dilation)[i];
    axes[i] = window_axis(graph, op, i, kernel[i], dilation);
  }
  const int64_t channels = y.shape[1];
  const int64_t inside = y.shape[0] * axes[0].taps * axes[1].taps;
  terms->rows = y.elements() / channels;
  terms->edges = terms->rows - y.shape[0] * axes[0].whole * axes[1].whole;
  terms->inside_steps = inside * channels;
  terms->vectors = inside * divide_up(channels, kVectorLanes);
  set_loops(inside, channels, terms);
}

void add_adaptive_pool(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Shape& x = graph.type(op.inputs[0]).shape;
  const ir::Type& y = graph.type(op.output);
  int64_t inside = y.shape[0];
  for (size_t axis = 2; axis < x.size(); ++axis) {
    int64_t taps = 0;
    for (int64_t i = 0; i < y.shape[axis]; ++i) {
      taps += divide_up((i + 1) * x[axis], y.shape[axis]) - i * x[axis] / y.shape[axis];
    }
    inside *= taps;
  }
  terms->rows = y.elements() / y.shape[1];
  terms->inside_steps = inside * y.shape[1];
}

/// Rows that are normalized: along `dim`, or along the last dimensions.
void add_rows(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Type& y = graph.type(op.output);
  int64_t length = 1;
  if (ir::has_attr(op.kind, ir::attr::dim)) {
    length = y.shape[static_cast<size_t>(op.get(ir::attr::dim))];
  } else if (ir::has_attr(op.kind, ir::attr::groups)) {
    length = y.elements() / (y.shape[0] * op.get(ir::attr::groups));
  } else if (ir::has_attr(op.kind, ir::attr::last_dims)) {
    const auto last = static_cast<size_t>(op.get(ir::attr::last_dims));
    for (size_t i = y.shape.size() - last; i < y.shape.size(); ++i) length *= y.shape[i];
  }
  // A softmax of two elements has loops of its own.
  const int64_t rows = y.elements() / std::max<int64_t>(length, 1);
  (length == 2 ? terms->loops : terms->rows) = rows;
}

/// Extent of the axis whose elements are contiguous in memory.
int64_t innermost(const ir::Type& type) {
  if (type.shape.empty()) return 1;
  const size_t axis =
      type.dim_order.empty() ? type.shape.size() - 1 : static_cast<size_t>(type.dim_order.back());
  return std::max<int64_t>(type.shape[axis], 1);
}

void add_elementwise(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Type& y = graph.type(op.output);
  const int64_t length = innermost(y);
  set_loops(y.elements() / length, length, terms);
  terms->vectors = terms->loops * divide_up(length, kVectorLanes);
  terms->rows = terms->loops;
  for (const ir::ValueId input : op.inputs) {
    if (input == ir::kNoValue) continue;
    const bool is_other = graph.type(input).elements() != y.elements();
    if (is_other && !graph.value(input).constant) terms->strided = y.elements();
  }
}

/// A row is a frame, a step is a butterfly, a tap is a product of a filter.
void add_spectrum(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  if (op.kind != ir::OpKind::qlog_mel) return;
  const ir::Shape& y = graph.type(op.output).shape;
  const int64_t samples = graph.type(op.inputs[1]).elements();
  const int64_t weights = graph.type(op.inputs[4]).elements();
  terms->rows = graph.type(op.output).elements() / y.back();
  terms->gathered = terms->rows * samples;
  terms->taps = terms->rows * weights;
  int64_t stages = 0;
  for (int64_t size = samples / 2; size > 1; size /= 2) ++stages;
  terms->steps = terms->rows * (samples / 4) * stages;
}

void add_reduction(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Type& x = graph.type(op.inputs[0]);
  const int64_t length = innermost(x);
  terms->rows = graph.type(op.output).elements();
  set_loops(x.elements() / length, length, terms);
  terms->vectors = terms->loops * divide_up(length, kVectorLanes);
}

/// The loop nests of moves, conversions and products.
void add_nest(const KernelCall& call, CostTerms* terms) {
  constexpr uint32_t kInner = abi::LoopNest::kAxes - 1;
  const auto nest = packed_params<abi::LoopNest>(call);  // the first member of each constant
  int64_t unit = 1;
  if (call.op == abi::PteOp::thimble_move) {
    unit = packed_params<abi::ParamsOf<abi::op_info::thimble_move>>(call).element_bytes;
  }
  int64_t runs = 1, longest = 1;
  for (const uint32_t extent : nest.extent) {
    runs *= extent;
    longest = std::max<int64_t>(longest, extent);
  }
  const int64_t all = runs;
  const int64_t length = std::max<int64_t>(nest.extent[kInner], 1);
  runs /= length;
  set_loops(runs, length, terms);
  if (call.op == abi::PteOp::thimble_move) terms->copied_rows = runs;
  const bool contiguous = nest.step[0][kInner] == unit && nest.step[1][kInner] == unit;
  if (contiguous) {
    terms->vectors = runs * divide_up(length * unit, kVectorLanes);
    return;
  }
  terms->strided = all;
  terms->unaligned = terms->tails = 0;
  terms->vectors = all / longest * divide_up(longest, kVectorLanes);
}

void add_concat(const KernelCall& call, CostTerms* terms) {
  const auto concat = packed_params<abi::ParamsOf<abi::op_info::thimble_concat2>>(call);
  const auto operands = static_cast<int64_t>(call.arguments.size()) - 1;
  terms->copied_rows = int64_t{concat.outer} * operands;
  for (const uint32_t bytes : concat.bytes) {
    terms->vectors += concat.outer * divide_up(bytes, kVectorLanes);
    terms->tails += int64_t{concat.outer} * (bytes % kChannelsBlock);
    if (bytes % kChannelsBlock != 0) terms->unaligned += int64_t{concat.outer} * bytes;
  }
}

void add_mean_run(const KernelCall& call, CostTerms* terms) {
  const auto run = packed_params<abi::ParamsOf<abi::op_info::thimble_mean_run>>(call);
  const int64_t inner = run.inner, count = run.count, outer = run.outer;
  terms->rows = outer * inner;
  terms->loops = outer * divide_up(inner, kChannelsBlock);
  terms->vectors = outer * count * divide_up(inner, kVectorLanes);
  if (inner == 1) terms->strided = outer * count;
  if (inner % kChannelsBlock != 0) terms->unaligned = outer * count * inner;
}

void add_gather(const ir::Graph& graph, const ir::Op& op, CostTerms* terms) {
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  int64_t run = 1;
  if (op.kind == ir::OpKind::gather) {
    for (auto i = static_cast<size_t>(op.get(ir::attr::dim)) + 1; i < x.shape.size(); ++i) {
      run *= x.shape[i];
    }
  }
  const int64_t bytes = run * static_cast<int64_t>(ir::dtype_bytes(x.dtype));
  set_loops(y.elements() / std::max<int64_t>(run, 1), bytes, terms);
}

bool is_clamped(const ir::Op& op) {
  if (!ir::has_attr(op.kind, ir::attr::min) || !ir::has_attr(op.kind, ir::attr::max)) return false;
  constexpr int64_t kMin = -128, kMax = 127;
  return op.get(ir::attr::min) > kMin || op.get(ir::attr::max) < kMax;
}

/// Returns true for 16-bit operands of a kernel that also has an int8 form: its steps differ.
bool has_wide_steps(const ir::Graph& graph, const ir::Op& op, abi::PteOp kernel) {
  constexpr auto kAnyType = static_cast<uint8_t>(abi::OpType::kAny);
  return (abi::info(kernel).key.types & 15) == kAnyType &&
         ir::dtype_bytes(graph.type(op.inputs[0]).dtype) == 2;
}

int64_t steps_of(const ir::Graph& graph, const ir::Op& op) {
  const ir::Type& y = graph.type(op.output);
  if (ir::category_of(op.kind) == ir::OpCategory::kPool) {
    const auto& kernel = op.get(ir::attr::kernel);
    return y.elements() * kernel[0] * kernel[1];
  }
  const int64_t macs = ir::macs_of(graph, op);
  return macs != 0 ? macs : std::max(graph.type(op.inputs[0]).elements(), y.elements());
}

/// Sizes that depend on the kernel's packed constant; false for kernels without one.
bool add_packed(const KernelCall& call, CostTerms* terms) {
  switch (call.op) {
    case abi::PteOp::thimble_move:
    case abi::PteOp::thimble_mul_nest:
    case abi::PteOp::thimble_add_table:
    case abi::PteOp::thimble_quantize_nest:
    case abi::PteOp::thimble_dequantize_nest:
      add_nest(call, terms);
      return true;
    case abi::PteOp::thimble_concat2:
    case abi::PteOp::thimble_concat3:
    case abi::PteOp::thimble_concat4:
      add_concat(call, terms);
      return true;
    case abi::PteOp::thimble_mean_run:
      add_mean_run(call, terms);
      return true;
    default:
      return false;
  }
}

void add_by_category(const ir::Graph& graph, const ir::Op& op, const KernelCall& call,
                     CostTerms* terms) {
  switch (ir::category_of(op.kind)) {
    case ir::OpCategory::kConv:
      return add_conv(graph, op, call, terms);
    case ir::OpCategory::kConvTranspose:
      return add_conv_transpose(graph, op, terms);
    case ir::OpCategory::kLinear:
      return add_linear(graph, op, terms);
    case ir::OpCategory::kMatmul:
      return add_matmul(graph, op, terms);
    case ir::OpCategory::kRecurrent:
      return add_recurrent(graph, op, terms);
    case ir::OpCategory::kPool:
      return add_pool(graph, op, terms);
    case ir::OpCategory::kAdaptivePool:
      return add_adaptive_pool(graph, op, terms);
    case ir::OpCategory::kSoftmax:
    case ir::OpCategory::kNorm:
      return add_rows(graph, op, terms);
    case ir::OpCategory::kReduction:
    case ir::OpCategory::kScan:
      return add_reduction(graph, op, terms);
    case ir::OpCategory::kSpectrum:
      return add_spectrum(graph, op, terms);
    default:
      break;
  }
  const bool gathers = op.kind == ir::OpKind::gather || op.kind == ir::OpKind::gather_elements;
  gathers ? add_gather(graph, op, terms) : add_elementwise(graph, op, terms);
}

}  // namespace

CostTerms terms_of(const ir::Graph& graph, const ir::Op& op, const KernelCall& call) {
  const ir::Type& y = graph.type(op.output);
  CostTerms terms;
  terms.elements = y.elements();
  terms.steps = steps_of(graph, op);
  if (has_wide_steps(graph, op, call.op)) terms.wide_steps = terms.steps;
  for (const ir::ValueId input : op.inputs) {
    if (input == ir::kNoValue || graph.value(input).constant) continue;
    terms.inputs += graph.type(input).elements();
  }
  terms.bytes = static_cast<int64_t>(y.bytes());
  if (is_clamped(op)) terms.clamped = terms.elements;
  if (!add_packed(call, &terms)) add_by_category(graph, op, call, &terms);
  return terms;
}

}  // namespace thimble::engine::cortex_m
