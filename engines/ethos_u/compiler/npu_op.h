#pragma once
// The program of one partition, between lowering and the command stream.
//
// Lowering makes it from the integer graph: operations the hardware has, on tensors it can
// address. Scheduling then chooses blocks, formats, addresses, stripes and where weights lie;
// emission writes it as commands. Everything here is in the hardware's terms (engines/ethos_u/isa) and
// independent of the schedule.
//
// A tensor is memory with an NHWC shape (always four sizes; batches were lowered away, N = 1).
// An operand is a view of a tensor: slices, concatenations, splits and reshapes are views and cost
// nothing. Two operands with different shapes may see one tensor.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "engines/ethos_u/isa/config.h"

namespace thimble::engine::ethos_u {

using thimble::ethos_u::ElementwiseMode;
using thimble::ethos_u::PoolMode;
using thimble::ethos_u::ResizeMode;
using thimble::ethos_u::Upscale;

struct Shape4 {
  int64_t h = 1, w = 1, c = 1;
  bool operator==(const Shape4&) const = default;
  [[nodiscard]] int64_t elements() const { return h * w * c; }
};

/// int8, uint8, int16, int32 as the hardware knows them.
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
  int io_index = -1;  // of inputs and outputs: the partition's
  /// False: every reader and the writer see whole, equal shapes, so the schedule may choose
  /// NHCWB16. True: somebody views it in another shape or is the outside, so NHWC.
  bool linear = false;
  std::vector<std::byte> content;  // constants, NHWC
};

/// A view: where in the tensor the operand begins and how it walks. Offset and strides count
/// elements of the operand's own width, which may be another than the tensor's (`linear` then: a
/// copy of 32-bit elements moves bytes). Steps of 0 along h and w repeat an IFM; ifm2 has size 1
/// along what it is repeated over. (NHCWB16 only where the view is the whole tensor or a slice
/// along h, w, or a multiple of 16 along c, with natural strides.)
struct Operand {
  int tensor = -1;
  Element element;
  Shape4 shape;        // as the operation sees it
  int64_t offset = 0;  // elements from the start of the tensor
  int64_t stride_h = 0, stride_w = 0, stride_c = 1;
  int32_t zero_point = 0;
};

enum class NpuOpKind : uint8_t { kConv, kDepthwise, kPool, kElementwise, kResize, kDma };

/// How a 32 (40, 48)-bit result becomes the OFM's. One pair, or one per output channel.
struct Requantize {
  /// Of kConv and kDepthwise: records per channel, beside the bias. Value = multiplier * 2^-shift.
  std::vector<int32_t> multiplier;
  std::vector<int32_t> shift;  // right shift, 0..63
  enum class Rounding : uint8_t {
    kDouble,
    kNatural,
    kSymmetric,
    kTruncate
  } rounding = Rounding::kDouble;
  /// OFM_SCALE for all channels (pooling, elementwise, dynamic weights); no entries: (1, 0).
  /// PoolMode::kAverage divides by the positions inside the IFM where there is padding (U85:
  /// always) before it is scaled. ElementwiseMode::kMul of 32-bit operands only shifts.
  bool global = false;
};

/// An operand's own scale in ADD and SUB. On U55 and U65 one of the two is general; the other has
/// shift 0 and is scaled by 2^19 (int16: 2^14), as the hardware implies.
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

/// A table in the table memory, applied after the clamp.
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
  std::vector<std::byte> content;  // as it lies in the table memory; empty: built in
};

/// Weights as the operation reads them: int16 holds weight minus its zero point, -255..255.
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
  /// Also dynamic weights of kConv (U85): w = output channels, c = input channels.
  std::optional<Operand> ifm2;
  std::optional<int32_t> scalar;  // in the place of ifm2
  bool ifm2_first = false;        // SUB: scalar or ifm2 is the minuend
  Window window;
  Upscale upscale = Upscale::kNone;
  std::optional<Weights> weights;
  Requantize requantize;
  InputScale ifm_scale, ifm2_scale;
  bool input_scaled = false;                         // ADD, SUB: ifm_scale and ifm2_scale are meant
  int32_t minimum = INT32_MIN, maximum = INT32_MAX;  // of the OFM, after the zero point
  Table table;
  bool wide_accumulator = false;                      // 40 or 48 bits
  bool negate_axis_h = false, negate_axis_w = false;  // U85: reverse
  /// U85 resize: numerators and denominators of a step, and where it starts.
  struct ResizeSteps {
    int64_t n_h = 1, d_h = 1, offset_h = 0, n_w = 1, d_w = 1, offset_w = 0;
  };
  std::optional<ResizeSteps> resize_steps;
  /// kDma: brings an input to where it is read faster; left out where there is no room for that.
  bool stages_input = false;
  int ir_op = -1;  // of the partition's graph: who asked for it
};

struct NpuProgram {
  const thimble::ethos_u::Config* config = nullptr;
  std::vector<NpuTensor> tensors;
  std::vector<NpuOp> ops;            // in an order that respects all uses
  std::vector<int> inputs, outputs;  // tensors, as the partition's graph lists them
};

}  // namespace thimble::engine::ethos_u
