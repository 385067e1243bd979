// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/place.h"

#include <algorithm>

#include "base/rounding.h"

#include "memory/placement.h"

namespace thimble::engine::neutron {
namespace {

constexpr int64_t kAlignment = container::kBlockAlignment;

template <typename Visit>
void each_view(KernelOp& kernel, const Visit& visit) {
  for (BufferView& operand : kernel.operands) visit(operand);
  visit(kernel.output);
  if (kernel.padded) visit(*kernel.padded);
}

class BufferPlacer {
 public:
  BufferPlacer(Network* network, std::span<const size_t> read_only_inputs)
      : net_(*network), not_in_scratch_(network->buffers.size(), false) {
    for (const size_t input : read_only_inputs) {
      not_in_scratch_[static_cast<size_t>(net_.inputs[input].buffer)] = true;
    }
  }

  IoPositions run() {
    compute_lifetimes();
    for (size_t i = 0; i < net_.kernels.size(); ++i) {
      if (container::may_be_in_place(net_.kernels[i].kernel))
        reuse_operand_buffer(static_cast<int>(i));
    }
    compute_lifetimes();
    plan();
    return std::move(places_);
  }

 private:
  Buffer& buffer(int index) { return net_.buffers[static_cast<size_t>(index)]; }

  void compute_lifetimes() {
    for (Buffer& each : net_.buffers) each.life = {};
    for (size_t i = 0; i < net_.kernels.size(); ++i) {
      each_view(net_.kernels[i],
                [&](const BufferView& view) { buffer(view.buffer).life.add(static_cast<int>(i)); });
    }
  }

  /// Lets the result reuse the buffer of an operand with the same layout that dies here.
  void reuse_operand_buffer(int index) {
    KernelOp& kernel = net_.kernels[static_cast<size_t>(index)];
    for (const BufferView& operand : kernel.operands) {
      const Buffer& from = buffer(operand.buffer);
      const Buffer& to = buffer(kernel.output.buffer);
      const bool alike = operand.offset == kernel.output.offset &&
                         operand.dims == kernel.output.dims &&
                         operand.strides == kernel.output.strides;
      const bool scratch = from.memory == Memory::kScratch && to.memory == Memory::kScratch;
      // Another operand may be a different part of the same buffer.
      const bool others_apart = std::ranges::all_of(kernel.operands, [&](const BufferView& other) {
        return other.buffer != operand.buffer || other == operand;
      });
      const bool fits = scratch && alike && others_apart &&
                        operand.buffer != kernel.output.buffer && from.life.last == index &&
                        to.life.first == index && from.bytes >= to.bytes;
      if (!fits) continue;
      const int removed = kernel.output.buffer, kept = operand.buffer;
      for (KernelOp& other : net_.kernels) {
        each_view(other, [&](BufferView& view) {
          if (view.buffer == removed) view.buffer = kept;
        });
      }
      compute_lifetimes();
      return;
    }
  }

  void plan() {
    const int end = static_cast<int>(net_.kernels.size());
    std::vector<memory::Buffer> buffers;
    std::vector<int> which;
    for (size_t i = 0; i < net_.buffers.size(); ++i) {
      const Buffer& each = net_.buffers[i];
      if (each.memory == Memory::kWeights || each.life.is_empty() || not_in_scratch_[i]) continue;
      memory::Lifetime life = each.life;
      if (each.memory == Memory::kInput) life.add(0);
      if (each.memory == Memory::kOutput) life.add(end);
      buffers.push_back({round_up(each.bytes, kAlignment), life});
      which.push_back(static_cast<int>(i));
    }
    const memory::Placement placement = memory::place(buffers, kAlignment);
    for (size_t i = 0; i < which.size(); ++i) buffer(which[i]).offset = placement.offsets[i];
    net_.scratch_bytes = placement.peak_bytes;
    for (const NetworkIo& tensor : net_.inputs) places_.inputs.push_back(io(tensor));
    for (const NetworkIo& tensor : net_.outputs) places_.outputs.push_back(io(tensor));
  }

  /// Returns the position of an input or output; -1 bytes if it is unused or not in the scratch.
  DelegateIo io(const NetworkIo& tensor) {
    const Buffer& io_buffer = buffer(tensor.buffer);
    const bool planned =
        !io_buffer.life.is_empty() && !not_in_scratch_[static_cast<size_t>(tensor.buffer)];
    return {io_buffer.offset, planned ? io_buffer.bytes : -1};
  }

  Network& net_;
  std::vector<bool> not_in_scratch_;  // by buffer: it is not part of the scratch memory
  IoPositions places_;
};

}  // namespace

IoPositions place(Network* network, std::span<const size_t> read_only_inputs) {
  return BufferPlacer(network, read_only_inputs).run();
}

}  // namespace thimble::engine::neutron
