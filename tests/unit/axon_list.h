// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds layer lists and runs them on the integer model, in memories of exactly the required size.

#include <cstdint>
#include <string>
#include <vector>

#include "engines/axon/container/layers.h"
#include "runtime_support.h"

namespace thimble::axon_test {

using axon::LayerRecord;
using axon::Operand;
using axon::Operation;
using axon::Source;
using runtime_test::AlignedBytes;

struct Shape {
  uint32_t n = 1, c = 1, h = 1, w = 1;
  [[nodiscard]] uint32_t elements() const { return n * c * h * w; }
  bool operator==(const Shape&) const = default;
};

struct Tensor {
  Shape shape;
  uint32_t element_bytes = 1;
  int32_t zero_point = 0;
  std::vector<int32_t> values;  // dense, [n][c][h][w]
  [[nodiscard]] int32_t at(uint32_t n, uint32_t c, uint32_t h, uint32_t w) const {
    return values[((n * shape.c + c) * shape.h + h) * shape.w + w];
  }
};
std::vector<uint8_t> bytes_of(const Tensor& tensor);
Shape shape_of(const Operand& operand);

class List {
 public:
  axon::Header header = {};
  std::vector<axon::IoRecord> inputs, outputs;
  std::vector<axon::VariableRecord> variables;
  std::vector<LayerRecord> layers;
  std::vector<uint8_t> constants;

  List();
  /// Appends constants, aligned to 4 bytes.
  uint32_t bytes(const std::vector<uint8_t>& content);
  uint32_t ints(const std::vector<int32_t>& content);

  /// Adds a dense input.
  Operand external(const Shape& shape, uint32_t element_bytes, int32_t zero_point);
  /// Allocates interlayer memory. Rows are aligned to 4 bytes, with `gap` bytes between them.
  Operand interlayer(const Shape& shape, uint32_t element_bytes, int32_t zero_point,
                     uint32_t gap = 0);
  Operand constant(const Tensor& tensor);
  /// Adds a variable with its input and output.
  Operand variable(const Shape& shape, uint32_t element_bytes, int32_t zero_point);

  LayerRecord& layer(Operation operation, const std::vector<Operand>& inputs,
                     const Operand& output);
  /// Returns the last layer's result as an operand.
  [[nodiscard]] Operand last() const;
  void output(const Operand& operand);

  /// Serializes the list with valid sections, dense offsets, cycles and hash.
  [[nodiscard]] std::vector<uint8_t> build();
};

/// Sets the layer's scales to multiplier / 2^shift, without a bias.
void scale(List& list, LayerRecord& layer, const std::vector<int32_t>& multipliers,
           const std::vector<uint8_t>& shifts);

/// Returns check()'s status for these bytes, aligned to 16.
axon::Status check_bytes(const std::vector<uint8_t>& bytes);

/// Runs a list that check() accepts. The memories are filled with nonzero bytes before.
std::vector<Tensor> execute(const std::vector<uint8_t>& bytes, const std::vector<Tensor>& inputs);

}  // namespace thimble::axon_test
