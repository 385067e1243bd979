// SPDX-License-Identifier: Apache-2.0
// Layers with weights: fully connected and convolutions.

#include "engines/axon/model/layer.h"

namespace thimble::axon::model {

void fully_connected(const Layer& layer) {
  const Scale scale(layer.record, layer.constants);
  const uint8_t* weights = layer.constants + layer.record.weights;
  const View& in = layer.in[0];
  const Extents one = {{1, in.extents.of[1], in.extents.of[2], in.extents.of[3]}};
  const Extents& outs = layer.out.extents;
  for (uint32_t n = 0; n < outs.of[0]; ++n) {
    const uint8_t* weight = weights;
    uint32_t channel = 0;
    for_each({{1, outs.of[1], outs.of[2], outs.of[3]}},
             [&](uint32_t, uint32_t c, uint32_t h, uint32_t w) {
               Accumulator sum(bias_of(layer.record, layer.constants, channel));
               for_each(one, [&](uint32_t, uint32_t ic, uint32_t ih, uint32_t iw) {
                 sum.add(load(weight++, 1) * in.value(n, ic, ih, iw));
               });
               layer.put(n, c, h, w, scale(sum.sum(), channel));
               ++channel;
             });
  }
}

namespace {

/// Position of a window along one dimension; may be outside the image.
struct Window {
  int32_t start;
  uint32_t count, step, size;
};
Window window_at(uint32_t position, uint32_t stride, uint32_t padding, uint32_t kernel,
                 uint32_t dilation, uint32_t size) {
  return {static_cast<int32_t>(position * stride) - static_cast<int32_t>(padding), kernel, dilation,
          size};
}

/// Adds the products of one plane under the window; elements outside have the zero point's value.
void add_plane(Accumulator& sum, const View& in, uint32_t n, uint32_t c, const Window& rows,
               const Window& columns, const uint8_t* weight) {
  for (uint32_t y = 0; y < rows.count; ++y) {
    const auto h = static_cast<uint32_t>(rows.start + static_cast<int32_t>(y * rows.step));
    for (uint32_t x = 0; x < columns.count; ++x, ++weight) {
      const auto w = static_cast<uint32_t>(columns.start + static_cast<int32_t>(x * columns.step));
      const bool inside = h < rows.size && w < columns.size;
      sum.add(load(weight, 1) * (inside ? in.value(n, c, h, w) : in.zero_point));
    }
  }
}

}  // namespace

void convolution(const Layer& layer) {
  const LayerRecord& record = layer.record;
  const Scale scale(record, layer.constants);
  const View& in = layer.in[0];
  const bool depthwise = record.operation == Operation::kDepthwise;
  const uint32_t window = uint32_t{record.kernel_h} * record.kernel_w;
  const uint32_t planes = depthwise ? 1 : in.extents.of[1];
  for_each(layer.out.extents, [&](uint32_t n, uint32_t o, uint32_t y, uint32_t x) {
    const Window rows = window_at(y, record.stride_y, record.pad_top, record.kernel_h,
                                  record.dilation_y, in.extents.of[2]);
    const Window columns = window_at(x, record.stride_x, record.pad_left, record.kernel_w,
                                     record.dilation_x, in.extents.of[3]);
    const uint8_t* weight = layer.constants + record.weights + o * planes * window;
    Accumulator sum(bias_of(record, layer.constants, o));
    for (uint32_t c = 0; c < planes; ++c, weight += window) {
      add_plane(sum, in, n, depthwise ? o : c, rows, columns, weight);
    }
    layer.put(n, o, y, x, scale(sum.sum(), o));
  });
}

}  // namespace thimble::axon::model
