// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reference for each operation of a layer list, on dense tensors, from docs/nordic-axon.md only. It
// shares no arithmetic with the model and uses no addresses or strides.

#include <cstdint>
#include <vector>

#include "axon_list.h"

namespace thimble::axon_test {

/// Conversion of sums to elements.
struct Scaling {
  std::vector<int32_t> multipliers;  // one per scale; leaky: pairs {negative, positive}
  std::vector<uint8_t> shifts;
  bool relu = false;
  bool leaky = false;
};

/// Returns round_half_even((sum * multiplier + zero_point * 2^shift) / 2^shift), saturated.
int32_t quantized(int64_t scaled, uint32_t shift, int32_t zero_point, uint32_t element_bytes);

struct Window {
  uint32_t kernel_h = 1, kernel_w = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  uint32_t top = 0, left = 0, bottom = 0, right = 0;
  [[nodiscard]] Shape output(const Shape& in, uint32_t channels) const;
};

/// Shape, element size and zero point of a result are inputs; the values are computed.
using Result = Tensor;

void reference_fc(const Tensor& in, const std::vector<int8_t>& weights,
                  const std::vector<int32_t>& bias, const Scaling& scaling, Result& out);
/// Weights are CHW if `depthwise`, else OIHW.
void reference_conv(const Tensor& in, const std::vector<int8_t>& weights,
                    const std::vector<int32_t>& bias, const Window& window, bool depthwise,
                    const Scaling& scaling, Result& out);
void reference_average(const Tensor& in, int32_t bias, const Window& window, const Scaling& scaling,
                       Result& out);
void reference_max(const Tensor& in, const Window& window, bool relu, Result& out);
void reference_mean(const Tensor& in, int32_t bias, const Scaling& scaling, Result& out);
void reference_add(const Tensor& a, const Tensor& b, int32_t bias, const Scaling& scaling,
                   Result& out);
void reference_multiply(const Tensor& a, const Tensor& b, const Scaling& scaling, Result& out);
void reference_concat(const std::vector<Tensor>& parts, axon::Axis axis, Result& out);
void reference_slice(const Tensor& in, const std::vector<int32_t>& begin,
                     const std::vector<int32_t>& stride, Result& out);
void reference_channel_pad(const Tensor& in, uint32_t front, Result& out);
void reference_space_to_batch(const Tensor& in, const std::vector<int32_t>& attributes,
                              Result& out);
void reference_batch_to_space(const Tensor& in, const std::vector<int32_t>& attributes,
                              Result& out);
void reference_resize(const Tensor& in, Result& out);
void reference_softmax(const Tensor& in, axon::Axis axis, Result& out);
int32_t reference_sigmoid(int32_t x);
int32_t reference_tanh(int32_t x);

}  // namespace thimble::axon_test
