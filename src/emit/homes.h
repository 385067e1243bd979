#pragma once
// Which values share memory: homes, each with the values that lie in it and where.
//
// Values are made by calls, or are there from the start (states, planned inputs). States are there
// for good, and inputs that a value renames; those of a program that owns its inputs die when they
// have been read. Others are seen
// through them: a reshape is the same bytes, a slice some of them, a concatenation those of its
// pieces side by side; their operators need no call. And a result may take the place of an operand
// that dies. All this ties values together at fixed distances. Two made values that lie over each
// other get along if nothing of the older one is read once the younger is written, but for the
// operand that the younger one's call reads element by element at that very place.
//
// Step i is call i; outputs are read at the step after the last call.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plan/planner.h"
#include "engine/engine.h"
#include "engine/views.h"

namespace thimble::emit {

class Homes {
 public:
  /// With what must lie together: aliases, views whose operator has no call, states with what they
  /// become.
  explicit Homes(const engine::Lowered& lowered);

  /// The operator of this call becomes a view, if all that lies there gets along.
  bool drop_call(size_t step);
  /// The same of every operator, in order: whether any became one.
  bool drop_calls();
  [[nodiscard]] bool dropped(size_t step) const { return dropped_[step]; }
  /// Results take over operands that die, call by call.
  void take_over_operands();

  struct Home {
    int64_t bytes = 0;
    int first = 0, last = 0;
    ir::ValueId value = ir::kNoValue;  // the widest in it
  };
  [[nodiscard]] const std::vector<Home>& homes() const { return homes_; }
  /// -1: a constant, or an input that the runtime reads from its caller.
  [[nodiscard]] int home_of(ir::ValueId value) const { return group_[index(value)]; }
  [[nodiscard]] int64_t offset_of(ir::ValueId value) const;
  /// The value whose bytes this one renames.
  [[nodiscard]] ir::ValueId source_of(ir::ValueId value) const { return source_[index(value)]; }
  /// Pairs of homes, as plan::Overlap has them.
  [[nodiscard]] std::vector<plan::Overlap> overlaps() const;
  /// A sum that no placement of the homes and of what calls need beside them can be below.
  [[nodiscard]] int64_t live_bytes() const;

 private:
  /// Of bytes of a made value, by a call that sees them as `through`, which begins `start` bytes
  /// after the made value (or before it).
  struct Read {
    int step;
    int64_t begin, end;
    int64_t start;
    ir::ValueId through;
  };
  /// A value with bytes of its own.
  struct Made {
    ir::ValueId value;
    int step;    // -1: there from the start
    bool fixed;  // and to the end
    std::vector<Read> reads;
  };
  /// Bytes of a made value, which begins `start` bytes after the value that has them.
  struct Piece {
    int made;
    int64_t begin, end;
    int64_t start;
  };

  static size_t index(ir::ValueId value) { return static_cast<size_t>(value); }
  [[nodiscard]] int64_t bytes(ir::ValueId value) const {
    return static_cast<int64_t>(lowered_->graph.type(value).bytes());
  }
  bool build();
  void make(ir::ValueId value, int step, bool fixed = false);
  void make_planned_inputs();
  bool settle(size_t op);
  bool settle_view(size_t op);
  [[nodiscard]] bool can_drop(size_t step) const;
  bool drop(std::span<const size_t> steps);
  void find_reads();
  bool is_fixed(int group) const;
  /// b begins `distance` bytes after a, which may be below 0.
  bool tie(ir::ValueId a, ir::ValueId b, int64_t distance, bool free);
  bool get_along(const Made& a, const Made& b, int64_t distance) const;
  void roll(int step);
  void find_homes();

  /// What does not change with who lies where.
  struct OfOp {
    bool is_alias = false;
    std::optional<engine::View> view;
  };
  [[nodiscard]] const OfOp& of_op(size_t op) const { return (*of_ops_)[op]; }

  const engine::Lowered* lowered_;
  std::shared_ptr<const std::vector<OfOp>> of_ops_;
  std::vector<int> call_of_op_;  // -1: none
  std::vector<bool> dropped_;    // by call
  std::vector<Made> made_;
  std::vector<std::vector<Piece>> pieces_;  // by value, like the following
  std::vector<ir::ValueId> source_;
  std::vector<int> group_;              // -1: no memory
  std::vector<int64_t> at_;             // from the group's origin
  std::vector<std::vector<int>> tied_;  // made values by group
  std::vector<Home> homes_;             // by group; of 0 bytes where the group went into another
  std::vector<int64_t> origin_;         // by group: what its lowest value has in at_
};

/// The program without the calls whose results can be views: slices and concatenations by address.
/// Kept where the arena would need more bytes without them.
[[nodiscard]] engine::Lowered drop_moves(engine::Lowered lowered);

}  // namespace thimble::emit
