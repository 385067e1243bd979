// SPDX-License-Identifier: Apache-2.0
// Address assignment: interlayer buffers use the arena's planner with lifetimes counted in layers.

#include "base/rounding.h"
#include "engines/axon/compiler/network.h"
#include "memory/placement.h"

namespace thimble::engine::axon {
namespace {

constexpr int64_t kAlignment = container::kSectionAlignment;

void touch(Network* network, const BufferView& map, int layer) {
  network->buffers[static_cast<size_t>(map.buffer)].life.add(layer);
}

}  // namespace

void place(Network* network) {
  for (Buffer& buffer : network->buffers) buffer.life = {};
  const int count = static_cast<int>(network->layers.size());
  for (int i = 0; i < count; ++i) {
    const Layer& layer = network->layers[static_cast<size_t>(i)];
    for (const BufferView& input : layer.inputs) touch(network, input, i);
    touch(network, layer.output, i);
  }
  // Outputs are packed after the last layer.
  for (const NetworkIo& output : network->outputs) touch(network, output.map, count);
  std::vector<memory::Buffer> buffers;
  std::vector<Buffer*> placed;
  for (Buffer& buffer : network->buffers) {
    if (buffer.source != Source::kInterlayer || buffer.bytes == 0 || buffer.life.is_empty())
      continue;
    buffers.push_back({round_up(buffer.bytes, kAlignment), buffer.life});
    placed.push_back(&buffer);
  }
  const memory::Placement placement = memory::place(buffers, kAlignment);
  for (size_t i = 0; i < placed.size(); ++i) placed[i]->offset = placement.offsets[i];
  network->interlayer_bytes = placement.peak_bytes;
  int64_t persistent = 0;
  for (const Variable& variable : network->variables) {
    Buffer& buffer = network->buffers[static_cast<size_t>(variable.buffer)];
    buffer.offset = persistent;
    persistent += round_up(buffer.bytes, 4);
  }
  network->persistent_bytes = round_up(persistent, kAlignment);
}

}  // namespace thimble::engine::axon
