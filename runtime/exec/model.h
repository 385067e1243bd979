// SPDX-License-Identifier: Apache-2.0
#pragma once
// A loaded model. Model is the content of a thimble_model. The memory of the model contains, in
// this order: the arena; one kernel pointer per operator of the file; the slots and the persistent
// memory of the delegates, if there are any; one data pointer per graph input, if at least one is
// not planned. Nothing is stored per instruction or value.

#include "kernels/kernels.h"
#include "runtime/include/thimble_trace.h"
#include "runtime/program/flatbuffer_program.h"
#include "runtime/program/record_program.h"

namespace thimble::runtime {

struct DelegateSlot;

struct Model {
  uintptr_t magic = 0;
  const Executor* executor = nullptr;  // record_executor: `records` is valid; else `flatbuffer`
  uint8_t* arena = nullptr;
  /// Kernel of each row of the operator table. Null in thimble_size, which has no memory.
  const kernels::Kernel** kernel_of_op = nullptr;
  const void** input_data = nullptr;  // null if all inputs are planned
  Position state = nullptr;           // entry abi::kStateKey; null if the model has no states
#if THIMBLE_TRACE
  thimble_trace_hook trace_hook = nullptr;
  void* trace_user = nullptr;
#endif
  union {
    FlatbufferProgram flatbuffer = {};
    RecordProgram records;
  };
};

/// Slots of a model that runs from its flatbuffer, one per row of the plan's delegates.
inline DelegateSlot* slots_of(const Model& model) {
  return reinterpret_cast<DelegateSlot*>(model.kernel_of_op + model.flatbuffer.operators.count());
}

}  // namespace thimble::runtime
