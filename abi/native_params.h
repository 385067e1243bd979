#pragma once
// Packed parameters of native operators: one constant of the `.pte` per call, read in place from
// flash. Numbers are little-endian. The constant is 16-byte aligned and contains one of the headers
// below, then the arrays that the header names, in order, each 4-byte aligned. Any change of this
// layout raises kKernelLayoutVersion; a runtime rejects a file of another version.
//
// Direct operators (section "Direct" of pte_ops.def): the parameters are the attributes of the IR
// operator as int32 words, in the order of its row in src/ir/ops.def. Types `i` and `b` are one
// word. Type `is` is its count, then the items. Type `d` is two words, the IEEE double, low word
// first. Default values are written out. An operator without attributes has no such operand. Other
// constants are in logical order.

#include <cstdint>

namespace thimble::abi {

inline constexpr uint32_t kKernelLayoutVersion = 1;

/// Returns true for the kernel layout version of this release, and for 0: no packed constants.
constexpr bool is_known_kernel_layout(uint32_t version) {
  return version == kKernelLayoutVersion || version == 0;
}

/// Header of conv2d and depthwise_conv2d. Activations are NHWC in memory (dim_order 0,2,3,1). The
/// arrays are int32 bias[out_channels], int32 mult[out_channels], int8 shift[out_channels] (padded
/// to 4), int8 weights:
///   conv2d [out_channels][kernel_h][kernel_w][in_channels/groups],
///   depthwise [kernel_h][kernel_w][out_channels]; channel o reads input o / (out/in).
struct ConvParams {
  int32_t out_channels, groups;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int32_t pad_top, pad_left;   // bottom and right follow from the output shape
  int32_t x_offset, y_offset;  // -zero_point of x, +zero_point of y
  int32_t min, max;
};

/// Geometry of a packed convolution or pool (36 bytes), for operators that receive only the
/// addresses of their operands. It is a separate constant, so that the tiles of one layer share
/// their weights. Activations are NHWC with batch 1. In avg_window and max_window (packed average
/// and max pooling; operands x, WindowGeometry, y) dilation is 1 for avg_window, and zero points
/// are 0.
struct WindowGeometry {
  uint16_t in_h, in_w, in_c;
  uint16_t out_h, out_w, out_c;
  uint8_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  uint8_t pad_top, pad_left;  // bottom and right follow from the output shape
  uint8_t reserved[2];
  int16_t x_zero_point, y_zero_point;
  int16_t min, max;
  uint16_t reserved2[3];
};
static_assert(sizeof(WindowGeometry) == 36);

/// Header of linear. x is [rows, in_features]; all leading dimensions are rows. Weights are
/// [out_features][in_features]. The arrays are int32 bias[out_features], int32 mult[scales], int8
/// shift[scales] (padded to 4), weights.
struct LinearParams {
  int32_t in_features, out_features;
  int32_t scales;  // 1, or out_features
  int32_t x_offset, y_offset;
  int32_t min, max;
};

/// Geometry of a packed linear (20 bytes), a separate constant. x is [rows][in_features], y is
/// [rows][out_features].
struct LinearGeometry {
  uint32_t rows, in_features, out_features;
  int16_t x_zero_point, y_zero_point;
  int16_t min, max;
};
static_assert(sizeof(LinearGeometry) == 20);

/// Parameters of add. b_negate = 1 negates operand b (subtraction). Operands broadcast by logical
/// shape.
struct AddParams {
  int32_t a_offset, a_mult, a_shift;  // offsets are -zero_point
  int32_t b_offset, b_mult, b_shift;
  int32_t y_offset, y_mult, y_shift;  // +zero_point
  int32_t min, max, b_negate;
};

/// Parameters of mul. Operands broadcast by logical shape.
struct MulParams {
  int32_t a_offset, b_offset, y_offset, mult, shift, min, max;
};

/// Parameters of avg_pool2d and max_pool2d. Memory is NHWC. dilation is 1 for avg_pool2d.
struct PoolParams {
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, min,
      max;
};

/// Parameters of mean. Bit d of `dims_mask` is set if logical dimension d is reduced. The output
/// has the reduced dimensions as 1, or without them.
struct MeanParams {
  uint32_t dims_mask;
  int32_t x_offset, y_offset, mult, shift, min, max;
};

/// Header of log_softmax over the last dimension (contiguous). The array is int32 exp_table[256].
struct LogSoftmaxParams {
  int32_t scale_mult, scale_shift, log_mult, log_shift, y_offset;
};

/// Scratch of gru, lstm and rnn, 2-byte aligned: int16 lanes with one element per hidden unit, then
/// the layer's output, quantized like x. Lanes of gru: gates r and z, the two parts of n, the
/// state. Lanes of lstm: four gates, the cell. Lane of rnn: the sum.
inline constexpr int64_t kGruLanes = 5;
inline constexpr int64_t kLstmLanes = 5;
inline constexpr int64_t kRnnLanes = 1;
constexpr int64_t recurrent_scratch_bytes(int64_t lanes, int64_t hidden, int64_t quantized_bytes) {
  return (2 * lanes + quantized_bytes) * hidden;
}

}  // namespace thimble::abi
