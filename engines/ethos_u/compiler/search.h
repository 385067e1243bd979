#pragma once
// The search for cascades under a budget of memory.
//
// A program is cut into pieces of neighbouring operations: single ones, or cascades of some stripe
// height. What a piece needs is its rings and whatever else lives while it runs, which does not
// depend on how the rest is cut; so the best cut under a budget is a shortest path over the
// positions (a few thousand edges, each costed once).

#include <optional>
#include <vector>

#include "engines/ethos_u/compiler/pieces.h"
#include "engines/ethos_u/compiler/prefetch.h"

namespace thimble::engine::ethos_u {

class Search {
 public:
  /// `counted`: tensors in the memory that the budget is of, where they are no rings; `cascades`:
  /// false looks at single operations alone.
  Search(const Network& network, const ScheduleOptions& options, Chooser* chooser, Pieces* costs,
         std::vector<bool> counted, bool cascades);

  struct Piece;
  struct Found {
    Draft draft;
    double cycles = 0;
    /// Cycles, and some of those that the external memory is busy: of schedules as fast the one
    /// that leaves it alone.
    double score = 0;
    std::vector<double> op_cycles;
    std::vector<const Piece*> piece_of;  // per operation
  };
  /// The fastest schedule that holds at most `budget` bytes at a time; nothing if there is none.
  [[nodiscard]] std::optional<Found> solve(int64_t budget) const;
  /// Plans the memory of a schedule again, after sizes of slices have changed.
  void settle(Found* found, int64_t budget) const;
  /// No budget below this one has a schedule.
  [[nodiscard]] int64_t smallest() const;
  /// What the largest piece holds if nothing is cascaded, without weights.
  [[nodiscard]] int64_t whole() const { return whole_; }
  /// The same with the weights of operations that would read theirs more than once, and of others
  /// up to `some` bytes.
  [[nodiscard]] int64_t with_weights(int64_t some) const;

 private:
  struct Costed {
    double cycles = 0;
    std::vector<bool> buffered;
  };

 public:
  struct Piece {
    int first = 0, end = 0;
    int64_t stripe = 0;  // 0: a single operation as a whole
    int64_t held = 0;    // rings and whatever else lives
    const Stripes* stripes = nullptr;
    std::vector<PartCost> parts;
  };

 private:
  void add_pieces(int first);
  void add_piece(int first, int end, int64_t stripe);
  [[nodiscard]] int64_t held(int first, int end, const Stripes* stripes) const;
  [[nodiscard]] OpMemories memories(int op, int first, int end, bool near) const;
  [[nodiscard]] Memory memory_of(int tensor, int first, int end) const;
  /// A copy of an input to where there was no room for it: what reads it reads the input.
  [[nodiscard]] bool left_out(const NpuOp& op) const {
    return op.stages_input && !counted_[static_cast<size_t>(op.ofm.tensor)];
  }
  [[nodiscard]] bool may_buffer() const { return options_.mode != MemoryMode::kSramOnly; }
  [[nodiscard]] double copy(int64_t bytes) const;
  [[nodiscard]] Costed cost(const Piece& piece, int64_t budget) const;
  [[nodiscard]] Found build(const std::vector<const Piece*>& path, int64_t budget) const;
  double bring_weights(const std::vector<const Piece*>& piece_of, int64_t budget,
                       Draft* draft) const;
  void count(Found* found) const;
  void estimate_slices(int op, OpDraft* draft) const;
  void cut_weights(int op, const Piece& piece, int64_t room, OpDraft* draft) const;
  /// Slices of at most `depth` channels, or of one block. False if there is no block.
  bool cut(int op, const OpMemories& where, Span rows, int64_t depth, OpDraft* draft) const;
  /// Of each step, cycles of the copy of its table; 0 if there is none, or if it is there still.
  [[nodiscard]] std::vector<double> table_cycles(const std::vector<Step>& steps) const;
  /// Cycles of each step; what traffic() says of all of them.
  [[nodiscard]] std::vector<double> step_cycles(const Draft& draft,
                                                const std::vector<const Piece*>& piece_of,
                                                double* traffic) const;

  const Network& network_;
  const ScheduleOptions& options_;
  Chooser& chooser_;
  Pieces& costs_;
  std::vector<bool> counted_;
  std::vector<std::vector<Piece>> pieces_;  // by their first operation
  int64_t whole_ = 0;
};

}  // namespace thimble::engine::ethos_u
