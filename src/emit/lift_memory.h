#pragma once
// The lifter's view of memory: which IR value lies where, while instructions are walked in order.

#include <map>
#include <string>

#include "base/result.h"
#include "formats/pte/program.h"
#include "ir/graph.h"

namespace thimble::emit {

class LiftMemory {
 public:
  LiftMemory(const formats::pte::Program& program, const formats::pte::ExecutionPlan& plan,
             ir::Graph* graph)
      : program_(program), plan_(plan), graph_(graph) {}

  Status add_input(int32_t index);
  /// The tensor's place begins with this content, and keeps what is written to it.
  Status add_state(int32_t index, ByteView content);
  /// The IR value that a tensor of the value table holds now.
  Result<ir::ValueId> read(int32_t index);
  /// `value` has just been written to the tensor's place.
  Status write(int32_t index, ir::ValueId value);
  /// Type that the tensor declares; quantization is not in the file.
  Result<ir::Type> type(int32_t index) const;
  /// Bytes of a constant tensor.
  Result<const Bytes*> constant(int32_t index) const;
  /// The same bytes as a value of another shape and order.
  Result<ir::ValueId> reinterpret(ir::ValueId value, const ir::Type& as);

 private:
  /// Bytes that still are a value's, from its byte `from` on.
  struct Place {
    ir::ValueId value = ir::kNoValue;
    uint64_t bytes = 0;
    uint64_t from = 0;
  };
  Result<const formats::pte::Tensor*> tensor(int32_t index) const;
  /// A type's bytes at a place, which may be of several values, or a part of one.
  Result<ir::ValueId> gather(uint64_t begin, const ir::Type& type);
  /// The elements of a value as they lie in memory, in one dimension.
  Result<ir::ValueId> flat(ir::ValueId value);
  /// Elements in one dimension as a value of this type.
  Result<ir::ValueId> shaped(ir::ValueId flat, const ir::Type& as);

  const formats::pte::Program& program_;
  const formats::pte::ExecutionPlan& plan_;
  ir::Graph* graph_;
  /// Offsets of one memory do not meet those of another.
  static uint64_t place_of(const formats::pte::Allocation& allocation) {
    return (static_cast<uint64_t>(allocation.memory_id) << 40) + allocation.offset;
  }
  std::map<uint64_t, Place> places_;          // by place_of
  std::map<int32_t, ir::ValueId> unplanned_;  // inputs and constants, by index
};

}  // namespace thimble::emit
