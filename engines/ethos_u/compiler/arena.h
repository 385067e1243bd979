#pragma once
// Address assignment: tensors first, as low as the planner can place them, then weight buffers in
// the gaps.

#include <vector>

#include "engines/ethos_u/compiler/draft.h"
#include "engines/ethos_u/compiler/program_analysis.h"

namespace thimble::engine::ethos_u {

/// The allocated address ranges of one memory over the kernels of a schedule.
class Arena {
 public:
  explicit Arena(int64_t limit) : limit_(limit) {}
  /// Records an existing allocation.
  void put(Span kernels, int64_t address, int64_t bytes) {
    taken_.push_back({kernels, address, bytes});
  }
  /// Allocates the lowest address at which `bytes` bytes are free during the kernels [begin, end].
  /// Returns -1 if no such address exists below the limit.
  int64_t take(Span kernels, int64_t bytes);
  /// Frees the allocation that take() returned for these kernels.
  void release(Span kernels, int64_t address);
  /// Returns true if an allocation other than `own` overlaps the range during a kernel.
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

/// Assigns addresses to the tensors of a draft that contains only kernels as steps. Returns the
/// arena of the memory in which weights are buffered, of at most `limit` bytes, with the tensors
/// allocated.
[[nodiscard]] Arena place_tensors(const ProgramAnalysis& network, MemoryMode mode, int64_t limit,
                                  Draft* draft);

}  // namespace thimble::engine::ethos_u
