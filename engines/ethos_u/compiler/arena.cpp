#include "engines/ethos_u/compiler/arena.h"

#include <algorithm>

#include "memory/placement.h"

namespace thimble::engine::ethos_u {
namespace {

size_t root_of(const Draft& draft, int tensor) {
  while (draft.tensors[static_cast<size_t>(tensor)].shares_buffer_of >= 0) {
    tensor = draft.tensors[static_cast<size_t>(tensor)].shares_buffer_of;
  }
  return static_cast<size_t>(tensor);
}

/// Returns the lifetime of each tensor, from the first kernel that writes it to the last that reads
/// it. A tensor that shares the buffer of another tensor extends the lifetime of that tensor.
std::vector<Span> lifetimes_of(const ProgramAnalysis& network, const Draft& draft) {
  const auto count = static_cast<int64_t>(draft.steps.size());
  std::vector<Span> lives(network.tensors.size(), Span{count, -1});
  const auto use = [&](int tensor, int64_t at) {
    Span& life = lives[root_of(draft, tensor)];
    life.begin = std::min(life.begin, at);
    life.end = std::max(life.end, at);
  };
  for (int64_t i = 0; i < count; ++i) {
    const NpuOp& op = network.op(draft.steps[static_cast<size_t>(i)].op);
    use(op.ifm.tensor, i);
    use(op.ofm.tensor, i);
    if (op.ifm2) use(op.ifm2->tensor, i);
  }
  for (const int tensor : network.program->inputs) use(tensor, 0);
  for (const int tensor : network.program->outputs) use(tensor, std::max<int64_t>(0, count - 1));
  return lives;
}

}  // namespace

int64_t Arena::take(Span kernels, int64_t bytes) {
  std::vector<std::pair<int64_t, int64_t>> busy;
  for (const Taken& taken : taken_) {
    if (taken.kernels.begin <= kernels.end && kernels.begin <= taken.kernels.end) {
      busy.emplace_back(taken.address, taken.address + taken.bytes);
    }
  }
  std::sort(busy.begin(), busy.end());
  int64_t at = 0;
  for (const auto& [begin, end] : busy) {
    if (at + bytes <= begin) break;
    at = std::max(at, end);
  }
  if (at + bytes > limit_) return -1;
  put(kernels, at, bytes);
  return at;
}

void Arena::release(Span kernels, int64_t address) {
  const auto at = std::find_if(taken_.rbegin(), taken_.rend(), [&](const Taken& taken) {
    return taken.kernels == kernels && taken.address == address;
  });
  if (at != taken_.rend()) taken_.erase(std::next(at).base());
}

bool Arena::busy(int64_t kernel, int64_t address, int64_t bytes, Span own) const {
  return std::any_of(taken_.begin(), taken_.end(), [&](const Taken& taken) {
    const bool self = taken.address == address && taken.bytes == bytes && taken.kernels == own;
    return !self && taken.kernels.begin <= kernel && kernel <= taken.kernels.end &&
           taken.address < address + bytes && address < taken.address + taken.bytes;
  });
}

int64_t Arena::peak() const {
  int64_t peak = 0;
  for (const Taken& taken : taken_) peak = std::max(peak, taken.address + taken.bytes);
  return peak;
}

Arena place_tensors(const ProgramAnalysis& network, MemoryMode mode, int64_t limit, Draft* draft) {
  const std::vector<Span> lives = lifetimes_of(network, *draft);
  const bool dedicated = mode == MemoryMode::kDedicatedSram;
  Arena arena(limit);
  draft->arena_bytes = draft->fast_bytes = 0;
  for (const bool fast : {false, true}) {
    std::vector<memory::Buffer> buffers;
    std::vector<size_t> tensors;
    for (size_t t = 0; t < lives.size(); ++t) {
      const NpuTensor& tensor = network.program->tensors[t];
      if (lives[t].end < 0 || tensor.role == TensorRole::kConstant) continue;
      if (draft->tensors[t].fast != fast) continue;
      buffers.push_back({network.rolling_buffer_bytes(static_cast<int>(t), draft->tensors[t].rows),
                         static_cast<int>(lives[t].begin), static_cast<int>(lives[t].end)});
      tensors.push_back(t);
    }
    const memory::Placement placement = memory::place(buffers, kAlignment);
    (fast ? draft->fast_bytes : draft->arena_bytes) = placement.peak_bytes;
    for (size_t i = 0; i < tensors.size(); ++i) {
      draft->tensors[tensors[i]].address = placement.offsets[i];
      if (fast == dedicated) {
        arena.put(lives[tensors[i]], placement.offsets[i], buffers[i].bytes);
      }
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
