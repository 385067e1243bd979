// SPDX-License-Identifier: Apache-2.0
// Executes the layers of a container in order; copies inputs before and outputs after them.

#include "engines/axon/model/layer.h"
#include "engines/axon/model/model.h"

namespace thimble::axon {
namespace {

using model::Layer;
using model::View;

uint8_t* memory_of(const Job& job, Source source) {
  return source == Source::kPersistent ? job.persistent : job.interlayer;
}

View view_of(const Job& job, const Operand& operand) {
  const uint8_t* base;
  switch (operand.source) {
    case Source::kExternal:
      base = job.inputs[operand.index];
      break;
    case Source::kConstant:
      base = job.container.constants();
      break;
    default:
      base = memory_of(job, operand.source);
      break;
  }
  View view = {};
  const StridedLayout walk = layout_of(operand);
  view.data = base + walk.offset;
  for (uint32_t i = 0; i < kDimensions; ++i) view.step[i] = walk.step[i];
  view.extents = extents_of(operand);
  view.element_bytes = operand.element_bytes;
  view.zero_point = operand.zero_point;
  return view;
}

void execute(const Layer& layer) {
  switch (layer.record.operation) {
#define AXON_RUN(name, function) \
  case Operation::name:          \
    return model::function(layer);
    AXON_RUN(kFullyConnected, fully_connected)
    AXON_RUN(kConv2d, convolution)
    AXON_RUN(kDepthwise, convolution)
    AXON_RUN(kPointwise, convolution)
    AXON_RUN(kAveragePool, average_pool)
    AXON_RUN(kMaxPool, max_pool)
    AXON_RUN(kAdd, add)
    AXON_RUN(kChannelPad, channel_pad)
    AXON_RUN(kVariableRead, copy)
    AXON_RUN(kConcat, concat)
    AXON_RUN(kStridedSlice, strided_slice)
    AXON_RUN(kMultiply, multiply)
    AXON_RUN(kMean, mean)
    AXON_RUN(kVariableAssign, copy)
    AXON_RUN(kSoftmax, softmax)
    AXON_RUN(kSigmoid, curve)
    AXON_RUN(kTanh, curve)
    AXON_RUN(kReshape, reshape)
    AXON_RUN(kSpaceToBatch, space_to_batch)
    AXON_RUN(kBatchToSpace, batch_to_space)
    AXON_RUN(kResizeNearest, resize_nearest)
#undef AXON_RUN
  }
}

/// Calls `each` for every row, with its offset in memory and in the dense form.
template <class Each>
void for_rows(const IoRecord& io, Each each) {
  const uint32_t row = uint32_t{io.w} * io.element_bytes;
  const uint32_t rows = uint32_t{io.n} * io.c * io.h;
  for (uint32_t i = 0; i < rows; ++i) each(i * row, io.offset + i * io.row_stride, row);
}

/// Skips the copy if the caller's tensor is at the same address.
void copy_row(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  if (to != from) memcpy(to, from, bytes);
}

void bring_in(const Job& job, const Header& header) {
  for (uint32_t i = 0; i < header.input_count; ++i) {
    const IoRecord io = job.container.input(i);
    if (io.source == Source::kExternal) continue;
    for_rows(io, [&](uint32_t dense, uint32_t place, uint32_t bytes) {
      copy_row(job.persistent + place, job.inputs[i] + dense, bytes);
    });
  }
}

void bring_out(const Job& job, const Header& header) {
  for (uint32_t i = 0; i < header.output_count; ++i) {
    const IoRecord io = job.container.output(i);
    const uint8_t* const memory = memory_of(job, io.source);
    for_rows(io, [&](uint32_t dense, uint32_t place, uint32_t bytes) {
      copy_row(job.outputs[i] + dense, memory + place, bytes);
    });
  }
}

}  // namespace

void run(const Job& job) {
  const Header header = job.container.header();
  bring_in(job, header);
  for (uint32_t i = 0; i < header.layer_count; ++i) {
    Layer layer;
    layer.record = job.container.layer(i);
    layer.constants = job.container.constants();
    for (uint32_t k = 0; k < layer.record.input_count; ++k) {
      layer.in[k] = view_of(job, layer.record.inputs[k]);
    }
    const Operand& out = layer.record.output;
    layer.out = view_of(job, out);
    layer.out_data = memory_of(job, out.source) + out.offset;
    execute(layer);
  }
  bring_out(job, header);
}

}  // namespace thimble::axon
