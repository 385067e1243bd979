// SPDX-License-Identifier: Apache-2.0
// Pools, means, and layers with two operands.

#include "engines/axon/model/layer.h"

namespace thimble::axon::model {

void average_pool(const Layer& layer) {
  const LayerRecord& record = layer.record;
  const Scale scale(record, layer.constants);
  for_each(layer.out.extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    Accumulator sum(bias_of(record, layer.constants, 0));
    for (uint32_t y = 0; y < record.kernel_h; ++y) {
      for (uint32_t x = 0; x < record.kernel_w; ++x) {
        sum.add(layer.in[0].value(n, c, h * record.stride_y + y * record.dilation_y,
                                  w * record.stride_x + x * record.dilation_x));
      }
    }
    layer.put(n, c, h, w, scale(sum.sum(), 0));
  });
}

void max_pool(const Layer& layer) {
  const LayerRecord& record = layer.record;
  const View& in = layer.in[0];
  const bool relu = record.activation == Activation::kRelu;
  for_each(layer.out.extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    int32_t most = INT32_MIN;
    for (uint32_t y = 0; y < record.kernel_h; ++y) {
      const uint32_t row = h * record.stride_y + y - record.pad_top;  // wraps if above the image
      for (uint32_t x = 0; x < record.kernel_w; ++x) {
        const uint32_t column = w * record.stride_x + x - record.pad_left;
        if (row >= in.extents.of[2] || column >= in.extents.of[3]) continue;
        const int32_t value = in.value(n, c, row, column);
        if (value > most) most = value;
      }
    }
    const int32_t zero = record.output.zero_point;
    layer.put(n, c, h, w, relu && most < zero ? zero : most);
  });
}

void mean(const Layer& layer) {
  const View& in = layer.in[0];
  const Scale scale(layer.record, layer.constants);
  const uint32_t rows = in.extents.of[2] / layer.out.extents.of[2];
  const uint32_t columns = in.extents.of[3] / layer.out.extents.of[3];
  for_each(layer.out.extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    Accumulator sum(bias_of(layer.record, layer.constants, 0));
    for (uint32_t y = 0; y < rows; ++y) {
      for (uint32_t x = 0; x < columns; ++x) sum.add(in.value(n, c, h + y, w + x));
    }
    layer.put(n, c, h, w, scale(sum.sum(), 0));
  });
}

namespace {

/// Returns an element of the second operand, which is broadcast along axes of extent 1.
int32_t broadcast(const View& view, uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
  const uint32_t* const of = view.extents.of;
  return view.value(of[0] == 1 ? 0 : n, of[1] == 1 ? 0 : c, of[2] == 1 ? 0 : h, of[3] == 1 ? 0 : w);
}

}  // namespace

void add(const Layer& layer) {
  const Scale scale(layer.record, layer.constants);
  const int32_t bias = bias_of(layer.record, layer.constants, 0);
  for_each(layer.out.extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    const int64_t a = layer.in[0].value(n, c, h, w);
    const int64_t b = broadcast(layer.in[1], n, c, h, w);
    const int64_t sum = a * scale.multiplier(0) + b * scale.multiplier(1) + bias;
    layer.put(n, c, h, w, scale.finish(sum, scale.shift()));
  });
}

void multiply(const Layer& layer) {
  const Scale scale(layer.record, layer.constants);
  for_each(layer.out.extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    const int32_t a = layer.in[0].value(n, c, h, w) - layer.in[0].zero_point;
    const int32_t b = broadcast(layer.in[1], n, c, h, w) - layer.in[1].zero_point;
    layer.put(n, c, h, w, scale(a * b, 0));
  });
}

}  // namespace thimble::axon::model
