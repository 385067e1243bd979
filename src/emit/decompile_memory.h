// SPDX-License-Identifier: Apache-2.0
#pragma once
// The decompiler's model of memory: which IR value each range holds after each instruction.

#include <map>
#include <string>

#include "base/result.h"
#include "formats/pte/program.h"
#include "ir/graph.h"

namespace thimble::emit {

class DecompilerMemory {
 public:
  DecompilerMemory(const formats::pte::Program& program, const formats::pte::ExecutionPlan& plan,
                   ir::Graph* graph)
      : program_(program), plan_(plan), graph_(graph) {}

  Status add_input(int32_t index);
  /// Adds a state: the tensor's range starts with `content` and survives a run.
  Status add_state(int32_t index, ByteView content);
  /// Returns the IR value that tensor `index` of the value table holds now.
  Result<ir::ValueId> read(int32_t index);
  /// Records that `value` has been written to the tensor's range.
  Status write(int32_t index, ir::ValueId value);
  /// Declared type of the tensor. The file has no quantization.
  Result<ir::Type> type(int32_t index) const;
  /// Bytes of a constant tensor.
  Result<const Bytes*> constant(int32_t index) const;
  /// Returns a value with the bytes of `value` in the shape and memory order of `type`. The element
  /// types must be equal.
  Result<ir::ValueId> view_as(ir::ValueId value, const ir::Type& type);

 private:
  /// A range that still holds bytes of `value`, from its byte `from` on.
  struct Range {
    ir::ValueId value = ir::kNoValue;
    uint64_t bytes = 0;
    uint64_t from = 0;
  };
  Result<const formats::pte::Tensor*> tensor(int32_t index) const;
  /// Returns the bytes from `begin` as a value of this type. They may belong to several values, or
  /// be a part of one.
  Result<ir::ValueId> gather(uint64_t begin, const ir::Type& type);
  /// Returns the elements of a value in memory order, as one dimension.
  Result<ir::ValueId> flat(ir::ValueId value);
  /// Returns a value of this type. The elements of `ordered` are in memory order; its shape is
  /// ignored.
  Result<ir::ValueId> shaped(ir::ValueId ordered, const ir::Type& type);
  static constexpr int kOffsetBits = 40;
  /// Key of an address. The memory id is in the high bits, so that memories do not overlap.
  static uint64_t address_key(const formats::pte::Allocation& allocation) {
    return (static_cast<uint64_t>(allocation.memory_id) << kOffsetBits) + allocation.offset;
  }

  const formats::pte::Program& program_;
  const formats::pte::ExecutionPlan& plan_;
  ir::Graph* graph_;
  std::map<uint64_t, Range> ranges_;          // by address_key
  std::map<int32_t, ir::ValueId> unplanned_;  // inputs and constants, by index
};

}  // namespace thimble::emit
