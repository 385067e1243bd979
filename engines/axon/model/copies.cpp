// SPDX-License-Identifier: Apache-2.0
// Layers that only move elements. A copy to the same address is skipped.

#include "engines/axon/model/layer.h"

namespace thimble::axon::model {
namespace {

/// Copies `extents` elements between two byte layouts given by their steps.
void move(uint8_t* to, const uint32_t (&to_step)[kDimensions], const uint8_t* from,
          const uint32_t (&from_step)[kDimensions], const Extents& extents,
          uint32_t element_bytes) {
  if (to == from) {
    // check() has verified that both layouts are equal in this case.
    return;
  }
  for_each(extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    memcpy(to + n * to_step[0] + c * to_step[1] + h * to_step[2] + w * to_step[3],
           from + n * from_step[0] + c * from_step[1] + h * from_step[2] + w * from_step[3],
           element_bytes);
  });
}

void fill(const Layer& layer, const Extents& extents, uint32_t channel, int32_t value) {
  for_each(extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    layer.put(n, channel + c, h, w, value);
  });
}

int32_t attribute(const Layer& layer, uint32_t index) {
  return load(layer.constants + layer.record.attributes + 4 * index, 4);
}

}  // namespace

void copy(const Layer& layer) {
  move(layer.out_data, layer.out.step, layer.in[0].data, layer.in[0].step, layer.out.extents,
       layer.out.element_bytes);
}

void concat(const Layer& layer) {
  const uint32_t axis = dimension_of(layer.record.axis);
  uint32_t start = 0;
  for (uint32_t i = 0; i < layer.record.input_count; ++i) {
    const View& in = layer.in[i];
    move(layer.out_data + start * layer.out.step[axis], layer.out.step, in.data, in.step,
         in.extents, in.element_bytes);
    start += in.extents.of[axis];
  }
}

void strided_slice(const Layer& layer) {
  const View& in = layer.in[0];
  const uint8_t* const attributes = layer.constants + layer.record.attributes;
  const StridedLayout walk = slice_of(layer.record.inputs[0], attributes);
  const uint8_t* const first = in.data + (walk.offset - layer.record.inputs[0].offset);
  move(layer.out_data, layer.out.step, first, walk.step, layer.out.extents, in.element_bytes);
}

void channel_pad(const Layer& layer) {
  const View& in = layer.in[0];
  const LayerRecord& record = layer.record;
  Extents extents = layer.out.extents;
  extents.of[1] = record.pad_top;
  fill(layer, extents, 0, record.output.zero_point);
  extents.of[1] = record.pad_bottom;
  fill(layer, extents, record.pad_top + in.extents.of[1], record.output.zero_point);
  move(layer.out_data + record.pad_top * layer.out.step[1], layer.out.step, in.data, in.step,
       in.extents, in.element_bytes);
}

void reshape(const Layer& layer) {
  if (is_same_sequence(layer.record.inputs[0], layer.record.output)) return;
  const View& in = layer.in[0];
  uint32_t n = 0, c = 0, h = 0, w = 0;  // output indices
  for_each(in.extents, [&](uint32_t in_n, uint32_t in_c, uint32_t in_h, uint32_t in_w) {
    layer.put(n, c, h, w, in.value(in_n, in_c, in_h, in_w));
    if (++w != layer.out.extents.of[3]) return;
    w = 0;
    if (++h != layer.out.extents.of[2]) return;
    h = 0;
    if (++c != layer.out.extents.of[1]) return;
    c = 0;
    ++n;
  });
}

void space_to_batch(const Layer& layer) {
  const View& in = layer.in[0];
  const auto block_h = static_cast<uint32_t>(attribute(layer, 0));
  const auto block_w = static_cast<uint32_t>(attribute(layer, 1));
  const auto top = static_cast<uint32_t>(attribute(layer, 2));
  const auto left = static_cast<uint32_t>(attribute(layer, 4));
  for_each(layer.out.extents, [&](uint32_t image, uint32_t c, uint32_t h, uint32_t w) {
    const uint32_t block = image / in.extents.of[0];
    const uint32_t row = h * block_h + block / block_w - top;  // wraps if above the image
    const uint32_t column = w * block_w + block % block_w - left;
    const bool inside = row < in.extents.of[2] && column < in.extents.of[3];
    const uint32_t n = image % in.extents.of[0];
    layer.put(image, c, h, w, inside ? in.value(n, c, row, column) : in.zero_point);
  });
}

void batch_to_space(const Layer& layer) {
  const View& in = layer.in[0];
  const auto block_h = static_cast<uint32_t>(attribute(layer, 0));
  const auto block_w = static_cast<uint32_t>(attribute(layer, 1));
  const auto top = static_cast<uint32_t>(attribute(layer, 2));
  const auto left = static_cast<uint32_t>(attribute(layer, 4));
  for_each(layer.out.extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    const uint32_t row = h + top;
    const uint32_t column = w + left;
    const uint32_t block = row % block_h * block_w + column % block_w;
    const uint32_t image = block * layer.out.extents.of[0] + n;
    layer.put(n, c, h, w, in.value(image, c, row / block_h, column / block_w));
  });
}

void resize_nearest(const Layer& layer) {
  const View& in = layer.in[0];
  for_each(layer.out.extents, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
    const uint32_t row = h * in.extents.of[2] / layer.out.extents.of[2];
    const uint32_t column = w * in.extents.of[3] / layer.out.extents.of[3];
    layer.put(n, c, h, w, in.value(n, c, row, column));
  });
}

}  // namespace thimble::axon::model
