// SPDX-License-Identifier: Apache-2.0
#include "axon_sample.h"

namespace thimble::axon_test {
namespace {

using axon::Activation;

std::vector<uint8_t> some_weights(size_t count) {
  std::vector<uint8_t> weights;
  for (size_t i = 0; i < count; ++i) weights.push_back(static_cast<uint8_t>(i * 37 + 11));
  return weights;
}

void weighted(List& list, LayerRecord& layer, uint32_t weights, uint32_t channels,
              int32_t multiplier, uint8_t shift) {
  layer.weights = list.bytes(some_weights(weights));
  layer.weight_bytes = weights;
  layer.bias = list.ints(std::vector<int32_t>(channels, 100));
  scale(list, layer, {multiplier}, {shift});
}

/// Adds the layers from the image to its average [1,6,1,1].
void add_image_layers(List& list, const Operand& image) {
  LayerRecord& conv = list.layer(Operation::kConv2d, {image}, list.interlayer({1, 3, 6, 7}, 1, -5));
  conv.kernel_h = conv.kernel_w = 3;
  conv.pad_top = conv.pad_left = conv.pad_bottom = conv.pad_right = 1;
  weighted(list, conv, 54, 3, 1, 8);
  scale(list, conv, {3, 4, 5, 6, 7, 8}, {9, 10, 11});
  conv.activation = Activation::kLeakyRelu;

  LayerRecord& depthwise =
      list.layer(Operation::kDepthwise, {list.last()}, list.interlayer({1, 3, 5, 3}, 1, -128, 4));
  depthwise.kernel_h = depthwise.kernel_w = 2;
  depthwise.stride_x = 2;
  weighted(list, depthwise, 12, 3, 1, 7);
  depthwise.activation = Activation::kRelu;

  LayerRecord& most =
      list.layer(Operation::kMaxPool, {list.last()}, list.interlayer({1, 3, 3, 2}, 1, -128));
  most.kernel_h = most.kernel_w = 2;
  most.stride_y = most.stride_x = 2;
  most.pad_bottom = most.pad_right = 1;
  const Operand pool = list.last();

  Operand piece = pool;
  piece.c = 2;
  piece.offset += 3 * pool.row_stride;
  LayerRecord& slice = list.layer(Operation::kStridedSlice, {pool}, piece);
  slice.attributes = list.ints({1, 0, 0, 3, 3, 2, 1, 1, 1});
  slice.attribute_count = 9;

  // A concat in place: the pad writes the second half; the first half is copied.
  const Operand both = list.interlayer({1, 6, 3, 2}, 1, -128);
  Operand second = both;
  second.c = 3;
  second.offset += 9 * both.row_stride;
  list.layer(Operation::kChannelPad, {list.last()}, second).pad_bottom = 1;
  list.layer(Operation::kConcat, {pool, list.last()}, both);

  LayerRecord& average =
      list.layer(Operation::kAveragePool, {list.last()}, list.interlayer({1, 6, 1, 1}, 1, 3));
  average.kernel_h = 3;
  average.kernel_w = 2;
  average.bias = list.ints({768});
  scale(list, average, {200}, {10});
}

/// Adds the state update: the tanh of a fully connected layer is added to the state.
void add_state(List& list, const Operand& state) {
  LayerRecord& line =
      list.layer(Operation::kFullyConnected, {list.last()}, list.interlayer({1, 1, 1, 5}, 2, 0));
  weighted(list, line, 30, 5, 9, 4);
  list.layer(Operation::kTanh, {list.last()}, list.interlayer({1, 1, 1, 5}, 1, 0));
  LayerRecord& add =
      list.layer(Operation::kAdd, {list.last(), state}, list.interlayer({1, 1, 1, 5}, 1, 0));
  add.bias = list.ints({7});
  scale(list, add, {60, 50}, {7});
  list.layer(Operation::kVariableAssign, {list.last()}, state);
}

}  // namespace

List sample_list() {
  List list;
  const Operand image = list.external({1, 2, 6, 7}, 1, 4);
  const Operand state = list.variable({1, 1, 1, 5}, 1, -3);
  add_image_layers(list, image);
  const int16_t average = static_cast<int16_t>(list.layers.size() - 1);
  const Operand averaged = list.last();
  add_state(list, state);
  list.outputs[0].producer = static_cast<int16_t>(list.layers.size() - 1);

  const Tensor factors = {{1, 6, 1, 1}, 1, 2, {1, -2, 30, -40, 50, 127}};
  Operand same = averaged;
  same.producer = average;
  LayerRecord& multiply =
      list.layer(Operation::kMultiply, {same, list.constant(factors)}, averaged);
  scale(list, multiply, {17}, {9});
  LayerRecord& logits =
      list.layer(Operation::kFullyConnected, {list.last()}, list.interlayer({1, 4, 1, 1}, 4, 0));
  weighted(list, logits, 24, 4, 77, 6);
  logits.activation = Activation::kPrepareSoftmax;
  list.layer(Operation::kSoftmax, {list.last()}, list.interlayer({1, 4, 1, 1}, 1, -128));
  list.output(list.last());

  LayerRecord& blocks =
      list.layer(Operation::kSpaceToBatch, {image}, list.interlayer({6, 2, 3, 3}, 1, 4));
  blocks.attributes = list.ints({2, 3, 0, 0, 1, 1});
  blocks.attribute_count = 6;
  LayerRecord& back =
      list.layer(Operation::kBatchToSpace, {list.last()}, list.interlayer({1, 2, 6, 7}, 1, 4));
  back.attributes = list.layers[list.layers.size() - 2].attributes;
  back.attribute_count = 6;
  list.layer(Operation::kResizeNearest, {list.last()}, list.interlayer({1, 2, 3, 4}, 1, 4));
  Operand flat = list.last();
  flat.c = flat.h = 1;
  flat.w = 24;
  flat.row_stride = 24;
  list.layer(Operation::kReshape, {list.last()}, flat);  // in place: rows of 4 bytes are dense
  list.output(list.last());
  return list;
}

}  // namespace thimble::axon_test
