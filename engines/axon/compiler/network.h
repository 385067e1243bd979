// SPDX-License-Identifier: Apache-2.0
#pragma once
// A subgraph as layers of the NPU, before and after address assignment.
//
// A BufferView is a view of a buffer as [C][H][W]: rows of contiguous elements, `row_stride` bytes
// apart, planes of H rows. Several maps can share one buffer: the pieces of a concat or split, or
// an image and its reshaped view.

#include <cstdint>
#include <string>
#include <vector>

#include "engines/axon/container/layers.h"
#include "ir/graph.h"
#include "memory/lifetime.h"

namespace thimble::engine::axon {

namespace container = thimble::axon;
using container::Activation;
using container::Axis;
using container::Operation;
using container::Source;

struct Dims {
  int64_t c = 1, h = 1, w = 1;
  bool operator==(const Dims&) const = default;
  [[nodiscard]] int64_t elements() const { return c * h * w; }
};

/// Memory that one or more maps refer to.
struct Buffer {
  Source source = Source::kInterlayer;
  int index = 0;          // kExternal: input index; kPersistent: variable index
  int64_t bytes = 0;      // size; for kInterlayer and kPersistent
  int64_t offset = 0;     // kInterlayer, kPersistent: planned; kConstant: offset in the constants
  memory::Lifetime life;  // kInterlayer: in layers
};

struct BufferView {
  int buffer = -1;
  int64_t offset = 0;  // in the buffer, in bytes
  Dims dims;
  int64_t element_bytes = 1;
  int64_t row_stride = 0;
  int32_t zero_point = 0;
  int producer = -1;  // index of the layer that writes it; -1: none

  [[nodiscard]] int64_t row_bytes() const { return dims.w * element_bytes; }
  [[nodiscard]] bool dense() const { return row_stride == row_bytes() || dims.c * dims.h == 1; }
  [[nodiscard]] int64_t extent() const { return (dims.c * dims.h - 1) * row_stride + row_bytes(); }
};

struct Layer {
  Operation operation{};
  Activation activation = Activation::kNone;
  Axis axis = Axis::kChannel;
  int64_t kernel_h = 0, kernel_w = 0;
  int64_t stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  std::vector<int8_t> weights;
  std::vector<int32_t> bias, multipliers, attributes;
  std::vector<int8_t> shifts;
  /// Index of an earlier layer whose weights, bias and scales this layer has too (`weights` is then
  /// empty); -1: none.
  int constants_of = -1;
  std::vector<BufferView> inputs;
  BufferView output;
  int64_t cycles = 0;
  int ir_op = -1;    // operator index in the legalized subgraph
  double scale = 0;  // of the output; 0: unknown

  [[nodiscard]] bool per_channel() const { return shifts.size() > 1; }
};

/// An input or output of the subgraph.
struct NetworkIo {
  BufferView map;
  double scale = 1;
  int variable = -1;  // index of the variable that holds it; -1: none
};

struct Variable {
  int buffer = -1;
  int64_t element_bytes = 1;
  int32_t initial = 0;
};

struct Network {
  std::vector<Layer> layers;
  std::vector<Buffer> buffers;
  std::vector<NetworkIo> inputs, outputs;
  std::vector<Variable> variables;
  std::vector<std::byte> constants;  // constant operands; write() appends weights and biases
  int64_t interlayer_bytes = 0, persistent_bytes = 0;
  [[nodiscard]] int64_t cycles() const {
    int64_t sum = 0;
    for (const Layer& layer : layers) sum += layer.cycles;
    return sum;
  }
};

[[nodiscard]] constexpr int64_t padded_row(int64_t bytes) {
  return (bytes + container::kRowAlignment - 1) / container::kRowAlignment *
         container::kRowAlignment;
}

/// Assigns addresses to buffers and variables (place.cpp). Buffers with overlapping lifetimes get
/// disjoint memory.
void place(Network* network);

/// Returns a short description for reports: "CONV 3x3 s2".
[[nodiscard]] std::string layer_text(const Layer& layer);
[[nodiscard]] std::string_view operation_name(Operation operation);

}  // namespace thimble::engine::axon
