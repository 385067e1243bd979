// SPDX-License-Identifier: Apache-2.0
#pragma once
// One convolution as plain integers, and the calls that express it: stock and native, general and
// depthwise.

#include <string>
#include <vector>

#include "tests/kernels/invocation.h"

namespace thimble::kernels::test {

struct ConvAxis {
  int32_t in, kernel, stride, dilation, pad, out;
};

struct ConvCase {
  int32_t batch = 1, in_c = 1, out_c = 1, groups = 1;
  int32_t in[2], kernel[2], stride[2], dilation[2], pad[2], out[2];  // height, width
  int32_t x_offset = 0, y_offset = 0, min = -128, max = 127;
  std::vector<int32_t> bias, mult, shift;  // bias may be empty
  std::vector<int8_t> weights;             // [O][kh][kw][I/groups]

  void set_axis(int a, const ConvAxis& axis);
  /// Random weights and quantization.
  void randomize(Random& random);
  int8_t weight(int32_t o, int32_t i, int32_t ky, int32_t kx) const;
  bool is_depthwise() const { return groups == in_c; }
  /// Returns true if the output extents are those of symmetric padding. A stock call allows no
  /// others.
  bool stock_output() const;

  Invocation stock(Random& random, abi::PteOp op) const;
  Invocation native(Random& random, abi::PteOp op) const;
  std::string text() const;

 private:
  /// Returns the weights as [kh][kw][O].
  std::vector<int8_t> depthwise_weights() const;
};

/// Appends bytes of packed constants.
void append_bytes(std::vector<uint8_t>& bytes, const void* data, size_t count);
template <class T>
void append(std::vector<uint8_t>& bytes, const T* data, size_t count) {
  append_bytes(bytes, data, count * sizeof(T));
}
/// Appends bias, mult, shift as int8 padded to a multiple of 4 bytes, and weights.
void append_packed(std::vector<uint8_t>& bytes, const std::vector<int32_t>& bias,
                   const std::vector<int32_t>& mult, const std::vector<int32_t>& shift,
                   const std::vector<int8_t>& weights);

}  // namespace thimble::kernels::test
