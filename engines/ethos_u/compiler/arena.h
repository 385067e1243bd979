#pragma once
// Addresses: tensors first, as low as the planner gets them, then buffers of weights into the gaps.

#include <vector>

#include "engines/ethos_u/compiler/draft.h"
#include "engines/ethos_u/compiler/network.h"

namespace thimble::engine::ethos_u {

/// Bytes of one memory over the kernels of a schedule.
class Arena {
 public:
  explicit Arena(int64_t limit) : limit_(limit) {}
  /// What lies there already.
  void put(Span kernels, int64_t address, int64_t bytes) {
    taken_.push_back({kernels, address, bytes});
  }
  /// The lowest address at which so much is free during the kernels [begin, end]; -1: none below
  /// the limit. Taken afterwards.
  int64_t take(Span kernels, int64_t bytes);
  /// Undoes the take() that gave this address over these kernels.
  void release(Span kernels, int64_t address);
  /// True if something else than `own` lies there during a kernel.
  [[nodiscard]] bool busy(int64_t kernel, int64_t address, int64_t bytes, Span own) const;
  [[nodiscard]] int64_t peak() const;

 private:
  struct Taken {
    Span kernels;
    int64_t address, bytes;
  };
  int64_t limit_;
  std::vector<Taken> taken_;
};

/// Gives addresses to the tensors of a draft whose steps are kernels alone. The arena of the memory
/// in which weights are buffered, up to `limit`, with the tensors in it.
[[nodiscard]] Arena place_tensors(const Network& network, MemoryMode mode, int64_t limit,
                                  Draft* draft);

}  // namespace thimble::engine::ethos_u
