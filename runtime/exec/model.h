#pragma once
// What a loaded model is in RAM: the contents of a thimble_model, and two arrays in the caller's
// memory behind the arena (state_bytes): one pointer per operator of the file, and, if any graph
// input is not planned, one per graph input. Nothing is kept per instruction or value.

#include "abi/records.h"
#include "kernels/kernels.h"
#include "runtime/include/thimble_trace.h"
#include "runtime/program/image.h"

namespace thimble::runtime {

/// Where the parts of abi/records.h are.
struct RecordImage {
  const abi::Records* head;
  const uint32_t* places;
  const abi::RecordTensor* tensors;
  const uint32_t* shapes;
  const int32_t* lists;
  const uint16_t* inputs;
  const uint16_t* outputs;
  const uint16_t* calls;
  Position constants;
};

struct Model {
  uintptr_t magic = 0;
  const Reader* reader = nullptr;  // of this file; it says which of the two at the end there is
  uint8_t* arena = nullptr;
  const kernels::Kernel** resolved = nullptr;
  const void** input_data = nullptr;  // null if all inputs are planned
  Position state = nullptr;           // abi::StateHeader and its records; null if there are none
#if THIMBLE_TRACE
  thimble_trace_hook trace_hook = nullptr;
  void* trace_user = nullptr;
#endif
  union {
    Image image = {};
    RecordImage records;
  };
};

}  // namespace thimble::runtime
