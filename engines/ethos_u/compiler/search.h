// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for cascades under a memory budget.
//
// A program is divided into pieces of consecutive operations: single operations, or cascades with a
// given step height. A piece needs memory for its rolling buffers and for all tensors that live
// while it runs. This does not depend on the division of the rest. The best division under a budget
// is therefore a shortest path over the positions between operations (a few thousand edges, each
// costed once).

#include <optional>
#include <vector>

#include "engines/ethos_u/compiler/piece_costs.h"
#include "engines/ethos_u/compiler/prefetch.h"

namespace thimble::engine::ethos_u {

class Search {
 public:
  /// `counted`: tensors that count against the budget unless they are rolling buffers. `cascades`:
  /// false uses only single operations.
  Search(const ProgramAnalysis& network, const ScheduleOptions& options, BlockChooser* chooser,
         PieceCosts* costs, std::vector<bool> counted, bool cascades);

  struct Piece;
  struct Found {
    Draft draft;
    double cycles = 0;
    /// Cycles plus a penalty for the busy cycles of the external memory. Of two equally fast
    /// schedules, the one with less external traffic has the lower score.
    double score = 0;
    std::vector<double> op_cycles;
    std::vector<const Piece*> piece_of;  // indexed by operation
  };
  /// Returns the fastest schedule that uses at most `budget` bytes at a time; nullopt if none
  /// exists.
  [[nodiscard]] std::optional<Found> solve(int64_t budget) const;
  /// Plans the memory of a schedule again after the sizes of slices have changed.
  void replan_memory(Found* found, int64_t budget) const;
  /// Returns a lower bound: no smaller budget has a schedule.
  [[nodiscard]] int64_t smallest() const;
  /// Returns the largest memory of a single operation without weights.
  [[nodiscard]] int64_t whole() const { return whole_; }
  /// Same as whole(), including the weights of operations that would read them more than once, and
  /// up to `some` bytes of the weights of other operations. Includes also the weights of `ahead`
  /// operations after it, which can be copied at that time.
  [[nodiscard]] int64_t with_weights(int64_t some, size_t ahead) const;

 private:
  /// Weights of one part that cost fewer cycles if they are copied to SRAM.
  struct Bufferable {
    size_t part = 0;
    int64_t least_bytes = 0;  // of its buffer
    double gain = 0;          // in cycles
  };

 public:
  struct Piece {
    int first = 0, end = 0;
    int64_t tile_rows = 0;  // rows of a tile of the cascade; 0: a single operation
    int64_t held = 0;       // bytes of rolling buffers and live tensors
    const Cascade* cascade = nullptr;
    std::vector<PartCost> parts;
    double external_cycles = 0;          // if no weights are copied
    std::vector<Bufferable> bufferable;  // sorted by descending gain per byte
  };

 private:
  void add_pieces(int first);
  void add_piece(int first, int end, int64_t tile_rows);
  [[nodiscard]] int64_t held(int first, int end, const Cascade* cascade) const;
  [[nodiscard]] OpMemories memories(int op, int first, int end, bool from_sram) const;
  [[nodiscard]] Memory memory_of(int tensor, int first, int end) const;
  /// Returns true if the operation is an input copy that is omitted because its destination does
  /// not fit. Its readers then read the input.
  [[nodiscard]] bool is_omitted_copy(const NpuOp& op) const {
    return op.stages_input && !counted_[static_cast<size_t>(op.ofm.tensor)];
  }
  [[nodiscard]] bool may_buffer() const { return options_.mode != MemoryMode::kSramOnly; }
  [[nodiscard]] double copy(int64_t bytes) const;
  void list_bufferable(Piece* piece) const;
  /// Returns the cycles of the piece; infinite if it does not fit. `buffered`, if not null,
  /// receives for each part whether its weights are copied to SRAM.
  [[nodiscard]] double cost(const Piece& piece, int64_t budget, std::vector<bool>* buffered) const;
  [[nodiscard]] Found build(const std::vector<const Piece*>& path, int64_t budget) const;
  double place_weight_copies(const std::vector<const Piece*>& piece_of, int64_t budget,
                             Draft* draft) const;
  void count(Found* found) const;
  void estimate_slices(int op, OpDraft* draft) const;
  void slice_weights(int op, const Piece& piece, int64_t room, OpDraft* draft) const;
  void shorten_first_slice(const Piece& piece, int64_t room, OpDraft* draft) const;
  /// Divides the operation into slices of at most `depth` channels, or one block if that is deeper.
  /// Returns false if no block is legal.
  bool cut(int op, const OpMemories& where, IndexRange rows, int64_t depth, OpDraft* draft) const;
  /// Returns for each step the cycles to copy its LUT; 0 if it has none or the LUT is still loaded.
  [[nodiscard]] std::vector<double> table_cycles(const std::vector<Step>& steps) const;
  /// Returns the cycles of each step. `traffic` receives the sum of traffic() over all steps.
  [[nodiscard]] std::vector<double> step_cycles(const Draft& draft,
                                                const std::vector<const Piece*>& piece_of,
                                                double* traffic) const;

  const ProgramAnalysis& network_;
  const ScheduleOptions& options_;
  BlockChooser& chooser_;
  PieceCosts& costs_;
  std::vector<bool> counted_;
  std::vector<std::vector<Piece>> pieces_;  // indexed by their first operation
  int64_t whole_ = 0;
};

}  // namespace thimble::engine::ethos_u
