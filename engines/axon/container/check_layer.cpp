// SPDX-License-Identifier: Apache-2.0
// Checks a layer: operands are inside their memories, shapes match the operation, constants exist,
// and no result overwrites an operand that is still read.

#include "engines/axon/container/check_layer.h"

#include "engines/axon/container/strided_layout.h"

namespace thimble::axon {
namespace {

struct LayerCheck {
  const Container& container;
  const Header& header;
  LayerRecord layer;
  [[nodiscard]] const Operand& in(uint32_t i = 0) const { return layer.inputs[i]; }
  [[nodiscard]] const Operand& out() const { return layer.output; }
};

uint32_t elements(const Operand& operand) {
  return uint32_t{operand.n} * operand.c * operand.h * operand.w;
}

bool same_shape(const Operand& a, const Operand& b) {
  return a.n == b.n && a.c == b.c && a.h == b.h && a.w == b.w;
}

/// Returns true if the constants contain `bytes` bytes at `offset`, a multiple of `alignment`.
bool has_constants(const LayerCheck& at, uint32_t offset, uint64_t bytes, uint32_t alignment) {
  const uint32_t room = at.header.constant_bytes;
  return offset % alignment == 0 && offset <= room && bytes <= room - offset;
}

bool has_bias(const LayerCheck& at, uint32_t channels) {
  return at.layer.bias == kAbsent || has_constants(at, at.layer.bias, 4 * uint64_t{channels}, 4);
}

const uint8_t* attributes_of(const LayerCheck& at) {
  return at.container.constants() + at.layer.attributes;
}
bool has_attributes(const LayerCheck& at, uint32_t count) {
  return at.layer.attribute_count == count &&
         (count == 0 || has_constants(at, at.layer.attributes, 4 * uint64_t{count}, 4));
}

bool is_unscaled(const LayerRecord& layer) {
  return layer.scale_shift_count == 0 && layer.activation != Activation::kLeakyRelu;
}

/// Checks multipliers and shifts for `channels` channels; zero point * 2^shift must fit int32.
Status check_scales(const LayerCheck& at, uint32_t channels) {
  const LayerRecord& layer = at.layer;
  const uint32_t count = layer.scale_shift_count;
  const bool leaky = layer.activation == Activation::kLeakyRelu;
  const bool add = layer.operation == Operation::kAdd;
  const uint32_t multipliers = add || leaky ? 2 * count : count;
  if ((count != 1 && count != channels) || (add && leaky)) return Status::kBadScale;
  if (!has_constants(at, layer.multipliers, 4 * uint64_t{multipliers}, 4) ||
      !has_constants(at, layer.shifts, count, 1)) {
    return Status::kBadScale;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t shift = at.container.constants()[layer.shifts + i];
    if (shift > kShiftMax) return Status::kBadScale;
    const int64_t zero = int64_t{layer.output.zero_point} * (int64_t{1} << shift);
    if (zero != static_cast<int32_t>(zero)) return Status::kBadScale;
  }
  return Status::kOk;
}

/// Returns the output size of a window along `size` elements; 0 if the window does not fit.
uint32_t windows(uint32_t size, uint32_t before, uint32_t behind, uint32_t kernel,
                 uint32_t dilation, uint32_t stride) {
  if (kernel == 0 || dilation == 0 || stride == 0) return 0;
  const uint32_t span = (kernel - 1) * dilation + 1;
  const uint32_t room = size + before + behind;
  return span > room ? 0 : (room - span) / stride + 1;
}

bool fits_windows(const LayerRecord& layer) {
  const Operand& in = layer.inputs[0];
  const Operand& out = layer.output;
  return out.n == in.n &&
         out.h == windows(in.h, layer.pad_top, layer.pad_bottom, layer.kernel_h, layer.dilation_y,
                          layer.stride_y) &&
         out.w == windows(in.w, layer.pad_left, layer.pad_right, layer.kernel_w, layer.dilation_x,
                          layer.stride_x);
}

bool has_padding(const LayerRecord& layer) {
  return (layer.pad_top | layer.pad_bottom | layer.pad_left | layer.pad_right) != 0;
}

/// Checks fully connected, conv2d, depthwise and pointwise layers.
Status check_weighted(const LayerCheck& at) {
  const LayerRecord& layer = at.layer;
  const Operand& in = at.in();
  const Operand& out = at.out();
  const bool flat = layer.operation == Operation::kFullyConnected;
  const bool depthwise = layer.operation == Operation::kDepthwise;
  uint64_t weights = 0;
  uint32_t channels = out.c;
  bool shape = in.n == out.n;
  if (flat) {
    channels = uint32_t{out.c} * out.h * out.w;
    weights = uint64_t{channels} * (uint32_t{in.c} * in.h * in.w);
  } else {
    const uint32_t window = uint32_t{layer.kernel_h} * layer.kernel_w;
    weights = uint64_t{channels} * window * (depthwise ? 1U : in.c);
    shape = fits_windows(layer) && (!depthwise || in.c == out.c);
    if (layer.operation == Operation::kPointwise) {
      shape =
          shape && window == 1 && layer.stride_x == 1 && layer.stride_y == 1 && !has_padding(layer);
    }
  }
  if (in.element_bytes != 1) return Status::kBadOperand;
  const bool constants = weights == layer.weight_bytes &&
                         has_constants(at, layer.weights, weights, 1) && has_bias(at, channels);
  return shape && constants ? check_scales(at, channels) : Status::kBadLayer;
}

/// Checks pools, mean, multiply and add; their summands must have at most 16 bits.
Status check_pool(const LayerCheck& at) {
  const LayerRecord& layer = at.layer;
  const Operand& in = at.in();
  const Operand& out = at.out();
  if (in.element_bytes > 2) return Status::kBadOperand;
  if (layer.operation == Operation::kMean) {
    const bool shape = in.n == out.n && in.c == out.c && (out.h == in.h || out.h == 1) &&
                       (out.w == in.w || out.w == 1);
    return shape && has_bias(at, 1) ? check_scales(at, 1) : Status::kBadLayer;
  }
  if (in.c != out.c || !fits_windows(layer)) return Status::kBadLayer;
  if (layer.operation == Operation::kAveragePool) {
    return !has_padding(layer) && has_bias(at, 1) ? check_scales(at, 1) : Status::kBadLayer;
  }
  // A window that is entirely in the padding has no maximum.
  const bool covered = layer.pad_top < layer.kernel_h && layer.pad_bottom < layer.kernel_h &&
                       layer.pad_left < layer.kernel_w && layer.pad_right < layer.kernel_w &&
                       layer.dilation_x == 1 && layer.dilation_y == 1;
  const bool alike = in.element_bytes == out.element_bytes;
  return covered && alike && is_unscaled(layer) ? Status::kOk : Status::kBadLayer;
}

bool broadcasts(uint32_t size, uint32_t to) {
  return size == to || size == 1;
}

uint64_t magnitude(int32_t value) {
  return value < 0 ? static_cast<uint64_t>(-int64_t{value}) : static_cast<uint64_t>(value);
}

Status check_pair(const LayerCheck& at) {
  const LayerRecord& layer = at.layer;
  const Operand& a = at.in(0);
  const Operand& b = at.in(1);
  if (a.element_bytes > 2 || b.element_bytes > 2) return Status::kBadOperand;
  if (!same_shape(a, at.out()) || !broadcasts(b.n, a.n) || !broadcasts(b.c, a.c) ||
      !broadcasts(b.h, a.h) || !broadcasts(b.w, a.w)) {
    return Status::kBadLayer;
  }
  if (layer.operation == Operation::kMultiply) {
    // The product of two 17-bit differences would overflow 32 bits.
    const bool wide_zero =
        (a.element_bytes == 2 && a.zero_point != 0) || (b.element_bytes == 2 && b.zero_point != 0);
    return wide_zero ? Status::kBadScale : check_scales(at, 1);
  }
  if (!has_bias(at, 1)) return Status::kBadLayer;
  const Status status = check_scales(at, 1);
  if (status != Status::kOk) return status;
  const uint8_t* const multipliers = at.container.constants() + layer.multipliers;
  uint64_t sum =
      layer.bias == kAbsent ? 0 : magnitude(int_at(at.container.constants() + layer.bias));
  for (uint32_t i = 0; i < 2; ++i) {
    sum += magnitude(int_at(multipliers + 4 * i)) << (8 * at.in(i).element_bytes - 1);
  }
  return sum < uint64_t{1} << 31 ? Status::kOk : Status::kBadScale;
}

Status check_concat(const LayerCheck& at) {
  const Operand& out = at.out();
  const uint32_t axis = dimension_of(at.layer.axis);
  uint32_t total = 0;
  for (uint32_t i = 0; i < at.layer.input_count; ++i) {
    const Operand& in = at.in(i);
    Extents piece = extents_of(in);
    const Extents whole = extents_of(out);
    total += piece.of[axis];
    piece.of[axis] = whole.of[axis];
    for (uint32_t d = 0; d < kDimensions; ++d) {
      if (piece.of[d] != whole.of[d]) return Status::kBadLayer;
    }
  }
  return total == extents_of(out).of[axis] ? Status::kOk : Status::kBadLayer;
}

Status check_slice(const LayerCheck& at) {
  if (!has_attributes(at, 9) || at.in().n != at.out().n) return Status::kBadLayer;
  const uint8_t* const attributes = attributes_of(at);
  const Extents from = extents_of(at.in());
  const Extents to = extents_of(at.out());
  for (uint32_t i = 0; i < 3; ++i) {
    const int32_t begin = int_at(attributes + 4 * i);
    const int32_t end = int_at(attributes + 12 + 4 * i);
    const int32_t stride = int_at(attributes + 24 + 4 * i);
    const auto size = static_cast<int32_t>(from.of[i + 1]);
    if (begin < 0 || end <= begin || end > size || stride < 1 || stride > size) {
      return Status::kBadLayer;
    }
    if (static_cast<uint32_t>((end - begin - 1) / stride) + 1 != to.of[i + 1]) {
      return Status::kBadLayer;
    }
  }
  return Status::kOk;
}

/// Checks space to batch (the input is the image) and batch to space (the output is the image).
Status check_blocks(const LayerCheck& at) {
  if (!has_attributes(at, 6)) return Status::kBadLayer;
  const bool apart = at.layer.operation == Operation::kSpaceToBatch;
  const Operand& picture = apart ? at.in() : at.out();
  const Operand& blocks = apart ? at.out() : at.in();
  uint32_t values[6];
  for (uint32_t i = 0; i < 6; ++i) {
    const int32_t value = int_at(attributes_of(at) + 4 * i);
    if (value < (i < 2 ? 1 : 0) || value > 0xFFFF) return Status::kBadLayer;
    values[i] = static_cast<uint32_t>(value);
  }
  const uint64_t images = uint64_t{values[0]} * values[1] * picture.n;
  const bool fits = images == blocks.n && picture.c == blocks.c &&
                    picture.h + values[2] + values[3] == blocks.h * values[0] &&
                    picture.w + values[4] + values[5] == blocks.w * values[1];
  return fits ? Status::kOk : Status::kBadLayer;
}

Status check_extension(const LayerCheck& at) {
  const Operand& in = at.in();
  const Operand& out = at.out();
  if (at.layer.operation == Operation::kResizeNearest) {
    const bool fits = in.n == out.n && in.c == out.c && in.element_bytes == out.element_bytes;
    return fits ? Status::kOk : Status::kBadLayer;
  }
  const bool softmax = at.layer.operation == Operation::kSoftmax;
  const bool tanh = at.layer.operation == Operation::kTanh;
  if (in.element_bytes != (softmax ? 4 : 2) || out.element_bytes != 1) return Status::kBadOperand;
  const bool zeros = in.zero_point == 0 && out.zero_point == (tanh ? 0 : -128);
  return same_shape(in, out) && zeros ? Status::kOk : Status::kBadLayer;
}

/// Checks copies: equal elements on both sides, and no arithmetic.
Status check_copy(const LayerCheck& at) {
  for (uint32_t i = 0; i < at.layer.input_count; ++i) {
    if (at.in(i).element_bytes != at.out().element_bytes) return Status::kBadOperand;
  }
  switch (at.layer.operation) {
    case Operation::kConcat:
      return check_concat(at);
    case Operation::kStridedSlice:
      return check_slice(at);
    case Operation::kReshape:
      return elements(at.in()) == elements(at.out()) ? Status::kOk : Status::kBadLayer;
    case Operation::kChannelPad: {
      const LayerRecord& layer = at.layer;
      Operand padded = at.in();
      padded.c = static_cast<uint16_t>(padded.c + layer.pad_top + layer.pad_bottom);
      const bool fits = same_shape(padded, at.out()) && at.in().c <= at.out().c &&
                        layer.pad_left == 0 && layer.pad_right == 0;
      return fits ? Status::kOk : Status::kBadLayer;
    }
    case Operation::kSpaceToBatch:
    case Operation::kBatchToSpace:
      return check_blocks(at);
    default: {  // variable read and assign
      const bool read = at.layer.operation == Operation::kVariableRead;
      const Source variable = read ? at.in().source : at.out().source;
      return same_shape(at.in(), at.out()) && variable == Source::kPersistent ? Status::kOk
                                                                              : Status::kBadLayer;
    }
  }
}

Status check_operation(const LayerCheck& at) {
  const LayerRecord& layer = at.layer;
  const bool concat = layer.operation == Operation::kConcat;
  const bool pair = layer.operation == Operation::kAdd || layer.operation == Operation::kMultiply;
  const uint32_t inputs = pair ? 2 : 1;
  if (layer.input_count < inputs || layer.input_count > (concat ? kLayerInputsMax : inputs)) {
    return Status::kBadLayer;
  }
  switch (layer.operation) {
    case Operation::kFullyConnected:
    case Operation::kConv2d:
    case Operation::kDepthwise:
    case Operation::kPointwise:
      return check_weighted(at);
    case Operation::kAveragePool:
    case Operation::kMaxPool:
    case Operation::kMean:
      return check_pool(at);
    case Operation::kAdd:
    case Operation::kMultiply:
      return check_pair(at);
    case Operation::kSoftmax:
    case Operation::kSigmoid:
    case Operation::kTanh:
    case Operation::kResizeNearest:
      return is_unscaled(layer) ? check_extension(at) : Status::kBadScale;
    case Operation::kChannelPad:
    case Operation::kVariableRead:
    case Operation::kConcat:
    case Operation::kStridedSlice:
    case Operation::kVariableAssign:
    case Operation::kReshape:
    case Operation::kSpaceToBatch:
    case Operation::kBatchToSpace:
      return is_unscaled(layer) ? check_copy(at) : Status::kBadScale;
  }
  return Status::kBadOperation;
}

uint32_t end_of(const Operand& operand) {
  const uint32_t rows = uint32_t{operand.n} * operand.c * operand.h;
  return operand.offset + (rows - 1) * operand.row_stride +
         aligned(uint32_t{operand.w} * operand.element_bytes, kRowAlignment);
}

/// Returns true if input `i` and the output may share bytes: each element stays at its address.
bool may_share(const LayerCheck& at, uint32_t i) {
  const Operand& in = at.in(i);
  const Operand& out = at.out();
  if (in.element_bytes != out.element_bytes) return false;
  const Extents extents = extents_of(in);
  switch (at.layer.operation) {
    case Operation::kAdd:
    case Operation::kMultiply:
    case Operation::kVariableRead:
    case Operation::kVariableAssign:
      return same_shape(in, out) && is_same(layout_of(in), layout_of(out), extents);
    case Operation::kReshape:
      return is_same_sequence(in, out);
    case Operation::kStridedSlice:
      return is_same(slice_of(in, attributes_of(at)), layout_of(out), extents_of(out));
    case Operation::kConcat: {
      uint32_t start = 0;
      const uint32_t axis = dimension_of(at.layer.axis);
      for (uint32_t k = 0; k < i; ++k) start += extents_of(at.in(k)).of[axis];
      return is_same(layout_of(in), piece_of(out, at.layer.axis, start), extents);
    }
    default:
      return false;
  }
}

bool is_blank(const Operand& operand) {
  const Operand blank = {};
  return memcmp(&operand, &blank, sizeof blank) == 0;
}

}  // namespace

Status check_layer(const Container& container, const Header& header, uint32_t index) {
  const LayerCheck at = {container, header, container.layer(index)};
  const LayerRecord& layer = at.layer;
  const uint32_t spare = layer.reserved0[0] | layer.reserved0[1] | layer.reserved0[2] |
                         layer.reserved1[0] | layer.reserved1[1];
  if (spare != 0 || layer.activation > Activation::kLeakyRelu || layer.axis > Axis::kWidth ||
      layer.input_count > kLayerInputsMax) {
    return Status::kBadLayer;
  }
  for (uint32_t i = 0; i < kLayerInputsMax; ++i) {
    const Operand& in = at.in(i);
    const bool good = i < layer.input_count ? check_operand(container, header, in, index,
                                                            Access::kRead) == Status::kOk
                                            : is_blank(in);
    if (!good) return Status::kBadOperand;
  }
  if (check_operand(container, header, at.out(), index + 1, Access::kWritten) != Status::kOk) {
    return Status::kBadOperand;
  }
  const Status status = check_operation(at);
  if (status != Status::kOk) return status;
  for (uint32_t i = 0; i < layer.input_count; ++i) {
    const Operand& in = at.in(i);
    const bool apart = in.source != at.out().source || end_of(in) <= at.out().offset ||
                       end_of(at.out()) <= in.offset;
    if (!apart && !may_share(at, i)) return Status::kBadOverlap;
  }
  return Status::kOk;
}

}  // namespace thimble::axon
