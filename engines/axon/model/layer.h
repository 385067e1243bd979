// SPDX-License-Identifier: Apache-2.0
#pragma once
// A layer with resolved addresses, and one function per operation.

#include "engines/axon/container/strided_layout.h"
#include "engines/axon/model/arithmetic.h"

namespace thimble::axon::model {

/// An operand with its address. `data` points to element [0][0][0][0].
struct View {
  const uint8_t* data;
  uint32_t step[kDimensions];
  Extents extents;
  uint32_t element_bytes;
  int32_t zero_point;
  [[nodiscard]] const uint8_t* at(uint32_t n, uint32_t c, uint32_t h, uint32_t w) const {
    return data + n * step[0] + c * step[1] + h * step[2] + w * step[3];
  }
  [[nodiscard]] int32_t value(uint32_t n, uint32_t c, uint32_t h, uint32_t w) const {
    return load(at(n, c, h, w), element_bytes);
  }
};

struct Layer {
  LayerRecord record;
  const uint8_t* constants;
  View in[kLayerInputsMax];
  View out;
  uint8_t* out_data;  // writable pointer to out.data
  void put(uint32_t n, uint32_t c, uint32_t h, uint32_t w, int32_t value) const {
    const auto from = static_cast<size_t>(out.at(n, c, h, w) - out.data);
    store(out_data + from, out.element_bytes, value);
  }
};

/// Calls `each(n, c, h, w)` for every element in memory order.
template <class Each>
void for_each(const Extents& extents, Each each) {
  for (uint32_t n = 0; n < extents.of[0]; ++n) {
    for (uint32_t c = 0; c < extents.of[1]; ++c) {
      for (uint32_t h = 0; h < extents.of[2]; ++h) {
        for (uint32_t w = 0; w < extents.of[3]; ++w) each(n, c, h, w);
      }
    }
  }
}

void fully_connected(const Layer& layer);
void convolution(const Layer& layer);  // conv2d, depthwise, pointwise

void average_pool(const Layer& layer);
void max_pool(const Layer& layer);
void mean(const Layer& layer);

void add(const Layer& layer);
void multiply(const Layer& layer);

void concat(const Layer& layer);
void strided_slice(const Layer& layer);
void channel_pad(const Layer& layer);
void copy(const Layer& layer);  // variable read and assign
void reshape(const Layer& layer);
void space_to_batch(const Layer& layer);
void batch_to_space(const Layer& layer);
void resize_nearest(const Layer& layer);

void curve(const Layer& layer);  // sigmoid, tanh
void softmax(const Layer& layer);

}  // namespace thimble::axon::model
