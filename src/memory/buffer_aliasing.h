// SPDX-License-Identifier: Apache-2.0
#pragma once
// Buffer aliasing: finds the values that share one memory buffer, and their offsets in it.
//
// Defined values have bytes of their own: the results of calls, the states, and the planned inputs.
// All other values are views of bytes of defined values and need no call: a reshape has the same
// bytes, a slice some of them, a concatenation consists of the bytes of its operands. A result may
// also overwrite an operand whose last read is this call. Each of these cases places two values at
// a fixed distance from each other. States keep their memory until the end. Nothing overwrites an
// input that a value aliases in place; its memory is free after its last read. Inputs of a program
// that owns its inputs end at their last read, too.
//
// Two defined values that overlap can share memory if no byte of the older one is read once the
// younger one is written. Exception: the call that defines the younger value may read the older one
// itself, if KernelCall::in_place allows it and both have the same address and size.
//
// Step i is call i. Outputs are read at the step after the last call. A delegate with
// KernelCall::overlap keeps its operands and its results until the last call of the overlap.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "ir/views.h"
#include "memory/placement.h"

namespace thimble::memory {

class BufferAliasing {
 public:
  /// Merges values that must share memory: aliases, views whose operator has no call, and states
  /// with their next values.
  explicit BufferAliasing(const engine::Lowered& lowered);
  /// Returns false if operators without a call cannot be views in this order of the calls.
  [[nodiscard]] static bool views_fit(const engine::Lowered& lowered);

  /// Makes the operator of this call a view if all affected values can share memory. Returns true
  /// if it became one. Must not be called after reuse_operand_buffers().
  bool make_view(size_t step);
  /// Calls make_view() for every operator, in order. Returns true if any became a view.
  bool make_views();
  [[nodiscard]] bool is_view(size_t step) const { return is_view_[step]; }
  /// Undoes make_view(), and reuse_operand_buffers() if it was called.
  void undo_view(size_t step);
  /// Lets results overwrite operands that end at their call, call by call.
  void reuse_operand_buffers();
  /// Undoes reuse_operand_buffers().
  void undo_reuse();

  struct AliasedBuffer : Buffer {
    ir::ValueId value = ir::kNoValue;  // its largest value
  };
  [[nodiscard]] const std::vector<AliasedBuffer>& aliased_buffers() const {
    return aliased_buffers_;
  }
  /// Index of the value's buffer; -1 for a constant or an input read in the application's buffer.
  [[nodiscard]] int buffer_of(ir::ValueId value) const { return buffer_[index(value)]; }
  [[nodiscard]] int64_t offset_of(ir::ValueId value) const;
  /// The value that this one aliases; itself if none.
  [[nodiscard]] ir::ValueId source_of(ir::ValueId value) const { return source_[index(value)]; }
  /// Pairs of buffers that may overlap, for the planner.
  [[nodiscard]] std::vector<Overlap> overlaps() const;
  /// Lower bound on the arena size without the memory of delegates.
  [[nodiscard]] int64_t lower_bound_bytes() const;

 private:
  /// `fits`: result of views_fit().
  BufferAliasing(const engine::Lowered& lowered, bool* fits);
  /// A read of bytes of a defined value by a call. The call's operand is `through`. A delegate that
  /// works in the background reads until the last call that runs in the meantime.
  struct Read {
    int defined;  // index into defined_values_
    int call;     // the call that reads, or the end
    int step;     // the last step of the read: `call` unless that is such a delegate
    int64_t begin, end;
    int64_t operand_offset;  // offset of the operand from the defined value; may be negative
    ir::ValueId through;
  };
  /// A value with bytes of its own.
  struct DefinedValue {
    ir::ValueId value;
    int step;                     // -1: exists from the start
    size_t first_read, end_read;  // indices into reads_
  };
  /// Bytes of a defined value that another value contains.
  struct ByteRange {
    int defined;  // index into defined_values_
    int64_t begin, end;
    int64_t value_offset;  // offset of the defined value from the other value; may be negative
  };

  /// The values of one buffer, as a list through next_value_.
  struct BufferValues {
    ir::ValueId first = ir::kNoValue, last = ir::kNoValue;
    bool never_merged = false;  // has a state, or an input that a value aliases
  };

  static size_t index(ir::ValueId value) { return static_cast<size_t>(value); }
  [[nodiscard]] int64_t bytes(ir::ValueId value) const { return bytes_[index(value)]; }
  [[nodiscard]] std::span<const ByteRange> ranges_of(ir::ValueId value) const {
    const auto [first, end] = ranges_of_value_[index(value)];
    return std::span(ranges_).subspan(first, end - first);
  }
  [[nodiscard]] std::span<const Read> reads_of(const DefinedValue& defined) const {
    return std::span(reads_).subspan(defined.first_read, defined.end_read - defined.first_read);
  }
  bool build();
  [[nodiscard]] std::vector<size_t> views_without_call() const;
  void define(ir::ValueId value, int step, bool never_merged = false);
  void define_planned_inputs();
  void add_to_buffer(ir::ValueId value, int buffer, int64_t unshifted_offset);
  bool compute_ranges(size_t op);
  bool place_view(size_t op);
  [[nodiscard]] bool can_be_view(size_t step) const;
  bool make_views(std::span<const size_t> steps);
  void find_reads();
  void sort_reads();
  [[nodiscard]] bool is_never_merged(int buffer) const {
    return values_of_buffer_[static_cast<size_t>(buffer)].never_merged;
  }
  /// Places b `distance` bytes (may be negative) after a, and merges their buffers. Returns false
  /// if one of them has no buffer, or if they are already in one buffer at another distance.
  bool merge(ir::ValueId a, ir::ValueId b, int64_t distance);
  /// Calls merge() if all values of the two buffers can then share memory. Else returns false.
  bool try_merge(ir::ValueId a, ir::ValueId b, int64_t distance);
  bool may_overwrite(const engine::KernelCall& call, ir::ValueId operand) const;
  bool can_share_memory(const DefinedValue& a, const DefinedValue& b, int64_t distance) const;
  void reuse_line_buffer(int step);
  /// Returns true if a delegate that works during this call reads the buffer.
  [[nodiscard]] bool is_read_in_background(int buffer, int step) const;
  void compute_buffers();
  void compute_buffer(int buffer);

  /// Facts about an operator that do not depend on placement.
  struct OpFacts {
    bool is_alias = false;
    std::optional<ir::View> view;
  };
  [[nodiscard]] const OpFacts& facts_of(size_t op) const { return (*op_facts_)[op]; }

  bool views_fit_ = false;  // result of the first build()
  const engine::Lowered* lowered_;
  std::shared_ptr<const std::vector<OpFacts>> op_facts_;
  std::vector<int64_t> bytes_;   // by value
  std::vector<int> call_of_op_;  // -1: no call
  std::vector<bool> is_view_;    // by call: it was removed, because its result is a view
  // build() fills the rest. It runs for each view that is tried, so no member is a vector of
  // vectors.
  std::vector<DefinedValue> defined_values_;
  std::vector<ByteRange> ranges_;
  std::vector<Read> reads_;                                 // by defined value
  std::vector<Read> unsorted_reads_;                        // of find_reads()
  std::vector<std::pair<size_t, size_t>> ranges_of_value_;  // first and end in ranges_
  std::vector<ir::ValueId> source_;                         // by value, as are the next four
  std::vector<int> defined_;                                // -1: not a defined value
  std::vector<int> buffer_;                                 // -1: no memory
  std::vector<int64_t> unshifted_offset_;                   // origin_ is not subtracted
  std::vector<ir::ValueId> next_value_;                     // of the same buffer
  std::vector<BufferValues> values_of_buffer_;
  std::vector<AliasedBuffer> aliased_buffers_;  // 0 bytes if merged into another buffer
  std::vector<int64_t> origin_;  // by buffer: the smallest unshifted_offset_ of its values
};

/// Returns a lower bound on the arena size, without the memory of delegates.
[[nodiscard]] int64_t lower_bound_bytes(const engine::Lowered& lowered);

/// Removes the calls of slices and concatenations whose result can be a view of their operands, as
/// long as the arena needs no more bytes.
[[nodiscard]] engine::Lowered remove_copies(engine::Lowered lowered);

}  // namespace thimble::memory
