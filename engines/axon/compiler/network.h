#pragma once
// A region as layers of the NPU, before and after they have addresses.
//
// A Map is a view of a buffer as [C][H][W]: rows of dense elements, `row_stride` bytes apart,
// planes of H rows. Several maps may lie in one buffer: pieces of a concat, of a split, a reshaped
// picture.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "engines/axon/container/layers.h"

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

/// What a map lies in.
struct Buffer {
  Source source = Source::kInterlayer;
  int index = 0;            // kExternal: input; kPersistent: variable
  int64_t bytes = 0;        // kInterlayer, kPersistent
  int64_t offset = 0;       // kInterlayer, kPersistent: planned; kConstant: in the constants
  int first = 0, last = 0;  // layers that touch it, kInterlayer
};

struct Map {
  int buffer = -1;
  int64_t offset = 0;  // in the buffer
  Dims dims;
  int64_t element_bytes = 1;
  int64_t row_stride = 0;
  int32_t zero_point = 0;
  int producer = -1;  // layer

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
  std::vector<Map> inputs;
  Map output;
  int64_t cycles = 0;
  int ir_op = -1;    // of the region in the NPU's arithmetic
  double scale = 0;  // of the output; 0: not known

  [[nodiscard]] bool per_channel() const { return shifts.size() > 1; }
};

/// An input or output of the region.
struct Edge {
  Map map;
  double scale = 1;
  int variable = -1;  // >= 0: it is this variable's content
};

struct Variable {
  int buffer = -1;
  int64_t element_bytes = 1;
  int32_t initial = 0;
};

struct Network {
  std::vector<Layer> layers;
  std::vector<Buffer> buffers;
  std::vector<Edge> inputs, outputs;
  std::vector<Variable> variables;
  std::vector<std::byte> constants;  // what operands read there; layers' own come behind
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

/// Addresses for buffers and variables (place.cpp): those that live together lie apart.
void place(Network* network);

/// "CONV 3x3 s2", for reports.
[[nodiscard]] std::string layer_text(const Layer& layer);
[[nodiscard]] std::string_view operation_name(Operation operation);

}  // namespace thimble::engine::axon
