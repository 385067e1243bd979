// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/place.h"

#include <algorithm>

namespace thimble::engine::ethos_u {
namespace {

using memory::Lifetime;

size_t root_of(const Draft& draft, int tensor) {
  while (draft.tensors[static_cast<size_t>(tensor)].shares_buffer_of >= 0) {
    tensor = draft.tensors[static_cast<size_t>(tensor)].shares_buffer_of;
  }
  return static_cast<size_t>(tensor);
}

/// Returns the lifetime of each tensor, from the first kernel that writes it to the last that reads
/// it. A tensor that shares the buffer of another tensor extends the lifetime of that tensor.
std::vector<Lifetime> lifetimes_of(const ProgramAnalysis& network, const Draft& draft) {
  const auto count = static_cast<int>(draft.steps.size());
  std::vector<Lifetime> lives(network.tensors.size());
  const auto use = [&](int tensor, int at) { lives[root_of(draft, tensor)].add(at); };
  for (int i = 0; i < count; ++i) {
    const NpuOp& op = network.op(draft.steps[static_cast<size_t>(i)].op);
    use(op.ifm.tensor, i);
    use(op.ofm.tensor, i);
    if (op.ifm2) use(op.ifm2->tensor, i);
  }
  for (const int tensor : network.program->inputs) use(tensor, 0);
  for (const int tensor : network.program->outputs) use(tensor, std::max(0, count - 1));
  return lives;
}

}  // namespace

memory::Arena place_tensors(const ProgramAnalysis& network, MemoryMode mode, int64_t limit,
                            Draft* draft) {
  const std::vector<Lifetime> lives = lifetimes_of(network, *draft);
  const bool dedicated = mode == MemoryMode::kDedicatedSram;
  memory::Arena arena(limit);
  draft->arena_bytes = draft->fast_bytes = 0;
  for (const bool fast : {false, true}) {
    std::vector<memory::Buffer> buffers;
    std::vector<size_t> tensors;
    for (size_t t = 0; t < lives.size(); ++t) {
      const NpuTensor& tensor = network.program->tensors[t];
      if (lives[t].is_empty() || tensor.role == TensorRole::kConstant) continue;
      if (draft->tensors[t].fast != fast) continue;
      buffers.push_back(
          {network.rolling_buffer_bytes(static_cast<int>(t), draft->tensors[t].rows), lives[t]});
      tensors.push_back(t);
    }
    const memory::Placement placement = memory::place(buffers, kAlignment);
    (fast ? draft->fast_bytes : draft->arena_bytes) = placement.peak_bytes;
    for (size_t i = 0; i < tensors.size(); ++i) {
      draft->tensors[tensors[i]].address = placement.offsets[i];
      if (fast == dedicated) arena.add({buffers[i], placement.offsets[i]});
    }
  }
  for (size_t t = 0; t < lives.size(); ++t) {
    const size_t root = root_of(*draft, static_cast<int>(t));
    draft->tensors[t].address = draft->tensors[root].address;
    draft->tensors[t].fast = draft->tensors[root].fast;
  }
  return arena;
}

}  // namespace thimble::engine::ethos_u
