// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program of one partition, between lowering and the command stream.
//
// Lowering creates it from the integer graph: operations of the hardware, on tensors that it can
// address. Scheduling then chooses blocks, formats, addresses, cascades and the memory of weights;
// emission writes it as commands. Everything here is in the hardware's terms (engines/ethos_u/isa)
// and independent of the schedule.
//
// A tensor is memory with an NHWC shape. It always has four sizes, with N = 1, because lowering
// removes batches. An operand is a view of a tensor: slices, concatenations, splits and reshapes
// are views and cost nothing. Two operands with different shapes may use one tensor.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engines/ethos_u/isa/config.h"
#include "ir/graph.h"

namespace thimble::engine::ethos_u {

using thimble::ethos_u::ElementwiseMode;
using thimble::ethos_u::PoolMode;
using thimble::ethos_u::ResizeMode;
using thimble::ethos_u::Transpose;
using thimble::ethos_u::Upscale;

struct Shape4 {
  int64_t h = 1, w = 1, c = 1;
  bool operator==(const Shape4&) const = default;
  [[nodiscard]] int64_t elements() const { return h * w * c; }
};

/// int8, uint8, int16 and int32 as in the hardware's registers.
struct Element {
  uint8_t bits = 8;
  bool is_signed = true;
  bool operator==(const Element&) const = default;
};

enum class TensorRole : uint8_t { kIntermediate, kInput, kOutput, kConstant };

struct NpuTensor {
  std::string name;
  Element element;
  Shape4 shape;
  TensorRole role = TensorRole::kIntermediate;
  int io_index = -1;  // inputs and outputs: index in the partition's interface
  /// False: all readers and the writer use the whole tensor with one shape, so the schedule may
  /// choose NHCWB16. True: an operand has another shape, or the tensor is an input or output: NHWC.
  bool linear = false;
  std::vector<std::byte> content;  // of constants, NHWC
};

/// A view: offset and strides of an operand in its tensor. Offset and strides count elements of the
/// operand's own width, which may differ from the tensor's (it is then `linear`: a copy of 32-bit
/// elements moves bytes). Strides of 0 along h and w repeat an IFM; ifm2 has size 1 along a
/// broadcast axis. NHCWB16 requires that the view is the whole tensor, or a slice along h, w, or a
/// multiple of 16 along c, with the tensor's strides.
struct Operand {
  int tensor = -1;
  Element element;
  Shape4 shape;        // as used by the operation
  int64_t offset = 0;  // in elements, from the start of the tensor
  int64_t stride_h = 0, stride_w = 0, stride_c = 1;
  int32_t zero_point = 0;
};

enum class NpuOpKind : uint8_t { kConv, kDepthwise, kPool, kElementwise, kResize, kDma };

/// Conversion of a 32 (40, 48)-bit result to the OFM's type. One pair, or one per output channel.
struct Requantize {
  /// For kConv and kDepthwise: records per channel, next to the bias. Value = multiplier *
  /// 2^-shift.
  std::vector<int32_t> multiplier;
  std::vector<int32_t> shift;  // right shift, 0..63
  enum class Rounding : uint8_t {
    kDouble,
    kNatural,
    kSymmetric,
    kTruncate
  } rounding = Rounding::kDouble;
  /// OFM_SCALE for all channels (pooling, elementwise, dynamic weights); no entries: (1, 0).
  /// PoolMode::kAverage with padding (U85: always) divides by the number of positions inside the
  /// IFM before scaling. ElementwiseMode::kMul of 32-bit operands applies only the shift.
  bool global = false;
};

/// Scale of an operand of ADD and SUB. On U55 and U65 one of the two is arbitrary; the other has
/// shift 0, and the hardware multiplies it by 2^19 (int16: 2^14).
struct InputScale {
  uint32_t multiplier = 1;
  uint8_t shift = 0;
  uint8_t double_round = 0;
  bool natural = false;  // single rounding (U85)
};

struct Window {
  int64_t kernel_h = 1, kernel_w = 1;  // without dilation
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
};

/// A LUT, applied after the clamp.
struct Table {
  enum class Kind : uint8_t {
    kNone,
    k8To8,
    k8To16,
    k8To32,
    k16,
    kTanh,
    kSigmoid
  } kind = Kind::kNone;
  std::vector<std::byte> content;  // as in the LUT memory; empty: built into the hardware
};

/// Weights as the operation reads them: weight minus zero point as int16, -255..255.
struct Weights {
  int64_t out = 0, kernel_h = 1, kernel_w = 1, in = 1;  // in = 1 for kDepthwise
  std::vector<int16_t> values;                          // [out][kernel_h][kernel_w][in]
  std::vector<int64_t> bias;                            // [out]
};

struct NpuOp {
  NpuOpKind kind = NpuOpKind::kConv;
  PoolMode pool = PoolMode::kMax;
  ElementwiseMode elementwise = ElementwiseMode::kAdd;
  ResizeMode resize = ResizeMode::kNearest;
  Operand ifm, ofm;
  /// Also the dynamic weights of kConv (U85): w = output channels, c = input channels.
  std::optional<Operand> ifm2;
  std::optional<int32_t> scalar;  // replaces ifm2
  bool ifm2_first = false;        // SUB: scalar or ifm2 is the minuend
  Window window;
  Upscale upscale = Upscale::kNone;
  std::optional<Weights> weights;
  Requantize requantize;
  /// kAverage with padding on U55 and U65, where a kernel without padding does not divide: replaces
  /// `requantize` in kernels of rows whose windows have no padding.
  std::optional<Requantize> unpadded_requantize;
  InputScale ifm_scale, ifm2_scale;
  bool input_scaled = false;                         // ADD, SUB: ifm_scale and ifm2_scale are used
  int32_t minimum = INT32_MIN, maximum = INT32_MAX;  // clamp of the OFM, after the zero point
  Table table;
  bool wide_accumulator = false;                      // 40 or 48 bits
  bool negate_axis_h = false, negate_axis_w = false;  // U85: reverse
  /// U85: order of the OFM's axes in memory. The OFM's shape and strides are those of the
  /// operation's axes; the innermost axis in memory has stride 1.
  Transpose transpose = Transpose::kHwc;
  /// RESIZE of the U85: numerators and denominators of a step, and the start offset.
  struct ResizeSteps {
    int64_t n_h = 1, d_h = 1, offset_h = 0, n_w = 1, d_w = 1, offset_w = 0;
  };
  std::optional<ResizeSteps> resize_steps;
  /// kDma: copies an input to faster memory; omitted if that memory has no space.
  bool stages_input = false;
  int ir_op = -1;  // operator of the partition's graph from which it was lowered
};

/// Returns true if an element of the result is computed from a window of rows and columns.
[[nodiscard]] inline bool has_window(const NpuOp& op) {
  return op.kind == NpuOpKind::kConv || op.kind == NpuOpKind::kDepthwise ||
         op.kind == NpuOpKind::kPool;
}

struct NpuProgram {
  const thimble::ethos_u::Config* config = nullptr;
  std::vector<NpuTensor> tensors;
  std::vector<NpuOp> ops;            // in topological order
  std::vector<int> inputs, outputs;  // tensors, in the order of the partition's graph
};

}  // namespace thimble::engine::ethos_u
