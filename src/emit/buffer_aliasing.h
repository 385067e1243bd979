#pragma once
// Buffer aliasing: finds the values that share one memory buffer, and their offsets in it.
//
// A value is defined by a call or exists from the start (a state, a planned input). States keep
// their memory until the end, and so do inputs that a value aliases. Inputs of a program that owns
// its inputs end at their last read. Other values are views of these bytes and need no call: a
// reshape has the same bytes, a slice some of them, a concatenation consists of the bytes of its
// operands. A result may also overwrite an operand whose last read is this call. Each of these
// cases places two values at a fixed distance from each other.
//
// Two defined values that overlap can share memory if no byte of the older one is read once the
// younger one is written. One read is excepted: the call that defines the younger one reads that
// operand, element by element, at the same address.
//
// Step i is call i. Outputs are read at the step after the last call.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/views.h"
#include "plan/planner.h"

namespace thimble::emit {

class BufferAliasing {
 public:
  /// Merges values that must share memory: aliases, views whose operator has no call, and states
  /// with their next values.
  explicit BufferAliasing(const engine::Lowered& lowered);

  /// Makes the operator of this call a view if all affected values can share memory. Returns true
  /// if it became one.
  bool drop_call(size_t step);
  /// Calls drop_call() for every operator, in order. Returns true if any became a view.
  bool drop_calls();
  [[nodiscard]] bool dropped(size_t step) const { return dropped_[step]; }
  /// Lets results overwrite operands that end at their call, call by call.
  void reuse_operand_buffers();

  struct AliasedBuffer {
    int64_t bytes = 0;
    int first = 0, last = 0;
    ir::ValueId value = ir::kNoValue;  // its largest value
  };
  [[nodiscard]] const std::vector<AliasedBuffer>& aliased_buffers() const {
    return aliased_buffers_;
  }
  /// Index of the value's buffer; -1 for a constant or an input read in the application's buffer.
  [[nodiscard]] int buffer_of(ir::ValueId value) const { return group_[index(value)]; }
  [[nodiscard]] int64_t offset_of(ir::ValueId value) const;
  /// The value that this one aliases; itself if none.
  [[nodiscard]] ir::ValueId source_of(ir::ValueId value) const { return source_[index(value)]; }
  /// Pairs of buffers that may overlap, for the planner.
  [[nodiscard]] std::vector<plan::Overlap> overlaps() const;
  /// Lower bound on the arena size: the buffers and the scratch of calls.
  [[nodiscard]] int64_t live_bytes() const;

 private:
  /// A read of bytes of a defined value by a call. The call's operand is `through`, which begins
  /// `start` bytes after the defined value (before it if negative).
  struct Read {
    int step;
    int64_t begin, end;
    int64_t start;
    ir::ValueId through;
  };
  /// A value with bytes of its own.
  struct DefinedValue {
    ir::ValueId value;
    int step;    // -1: exists from the start
    bool fixed;  // keeps its memory until the end
    std::vector<Read> reads;
  };
  /// Bytes of a defined value that another value contains. The defined value begins `start` bytes
  /// after that value. `made` is an index into defined_values_.
  struct ByteRange {
    int made;
    int64_t begin, end;
    int64_t start;
  };

  static size_t index(ir::ValueId value) { return static_cast<size_t>(value); }
  [[nodiscard]] int64_t bytes(ir::ValueId value) const {
    return static_cast<int64_t>(lowered_->graph.type(value).bytes());
  }
  bool build();
  void define(ir::ValueId value, int step, bool fixed = false);
  void define_planned_inputs();
  bool compute_ranges(size_t op);
  bool place_view(size_t op);
  [[nodiscard]] bool can_drop(size_t step) const;
  bool drop(std::span<const size_t> steps);
  void find_reads();
  bool is_fixed(int group) const;
  /// Places b `distance` bytes (may be negative) after a, and merges their groups. If `free`, only
  /// where all their values can share memory. Returns false if they cannot be placed so.
  bool coalesce(ir::ValueId a, ir::ValueId b, int64_t distance, bool free);
  bool can_share_memory(const DefinedValue& a, const DefinedValue& b, int64_t distance) const;
  void reuse_line_buffer(int step);
  void compute_buffers();

  /// Facts about an operator that do not depend on placement.
  struct OpFacts {
    bool is_alias = false;
    std::optional<engine::View> view;
  };
  [[nodiscard]] const OpFacts& facts_of(size_t op) const { return (*op_facts_)[op]; }

  const engine::Lowered* lowered_;
  std::shared_ptr<const std::vector<OpFacts>> op_facts_;
  std::vector<int> call_of_op_;  // -1: no call
  std::vector<bool> dropped_;    // by call
  std::vector<DefinedValue> defined_values_;
  std::vector<std::vector<ByteRange>> ranges_;  // by value, as are the next three
  std::vector<ir::ValueId> source_;
  std::vector<int> group_;                         // -1: no memory
  std::vector<int64_t> offset_in_group_;           // offset from the group's origin
  std::vector<std::vector<int>> values_of_group_;  // defined values, by group
  std::vector<AliasedBuffer> aliased_buffers_;     // by group; 0 bytes if merged into another group
  std::vector<int64_t> origin_;  // by group: the smallest offset_in_group_ of its values
};

/// Returns the program without the calls whose results can be views: slices and concatenations. A
/// call is kept if the arena would need more bytes without it.
[[nodiscard]] engine::Lowered elide_moves(engine::Lowered lowered);

}  // namespace thimble::emit
