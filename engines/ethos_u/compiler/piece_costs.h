// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cache of the costs of a program's pieces. A piece is a single operation or a cascade. The
// searches of one program differ only in the memories of tensors, so most results can be reused.

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "engines/ethos_u/compiler/block_chooser.h"
#include "engines/ethos_u/compiler/cascade.h"

namespace thimble::engine::ethos_u {

/// Cost of one operation of a piece, with weights in SRAM and with weights in region 0 (external).
struct PartCost {
  const OpDraft* from_sram = nullptr;
  const OpDraft* from_external = nullptr;
  double from_sram_cycles = 0, from_external_cycles = 0;
  int64_t weight_bytes = 0;  // with the blocks of `from_sram`
};

class PieceCosts {
 public:
  PieceCosts(const ProgramAnalysis& network, const ScheduleOptions& options, BlockChooser* chooser)
      : network_(network), options_(options), chooser_(*chooser) {}

  /// Operations [first, end) that are scheduled together: a single operation, or a cascade.
  class Piece {
   public:
    /// Returns null for a single operation.
    [[nodiscard]] const Cascade* cascade() const { return cascade_ ? &*cascade_ : nullptr; }

   private:
    friend class PieceCosts;
    /// Kernels of one operation with the same number of rows: their count, and the rows of the
    /// last.
    struct Kernels {
      int64_t count = 0;
      IndexRange rows{0, 0};
    };
    struct Part {
      std::vector<Kernels> kernels;
      int64_t most = 0;                                 // most frequent number of rows
      std::array<std::optional<PartCost>, 8> by_place;  // by memories of IFM, IFM2 and OFM
    };
    std::optional<Cascade> cascade_;
    std::vector<Part> parts_;
  };

  /// Returns the piece with tiles of `tile_rows` rows; `tile_rows` 0: the single operation
  /// `first`. Returns null if the operations cannot form such a cascade.
  [[nodiscard]] Piece* find(int first, int end, int64_t tile_rows);
  /// Returns the cost of an operation of the piece that is not a copy. `from_sram` is null if no
  /// block is legal.
  [[nodiscard]] const PartCost& cost(Piece* piece, int first, int op, OpMemories where);
  /// Returns the additional cost of a kernel's accesses to the external memory, in cycles.
  [[nodiscard]] double traffic(const KernelCost& cost) const;
  /// Returns the same for a copy from the external memory.
  [[nodiscard]] double copy_traffic(int64_t bytes) const;
  /// Returns the cycles of a copy that waits for the latency of the external memory, U85.
  [[nodiscard]] double waiting_copy(int64_t bytes) const;

 private:
  void count_kernels(Piece* piece, int first, int end) const;
  [[nodiscard]] PartCost work_out(const Piece::Part& part, int op, OpMemories where);

  const ProgramAnalysis& network_;
  const ScheduleOptions& options_;
  BlockChooser& chooser_;
  std::map<std::tuple<int, int, int64_t>, std::optional<Piece>> pieces_;
};

/// Cycles to write a kernel's registers and start it.
inline constexpr double kKernelStart = 60;

}  // namespace thimble::engine::ethos_u
