#pragma once
// A loaded model in RAM: the contents of a thimble_model, and two arrays in the model's memory
// after the arena (state_bytes). The first has one pointer per operator of the file. The second
// exists if a graph input is not planned, and has one pointer per graph input. Nothing is stored
// per instruction or value.

#include "abi/records.h"
#include "kernels/kernels.h"
#include "runtime/include/thimble_trace.h"
#include "runtime/program/image.h"

namespace thimble::runtime {

/// Addresses of the parts of abi/records.h.
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
  const Reader* reader = nullptr;  // of this file; it determines which union member is valid
  uint8_t* arena = nullptr;
  const kernels::Kernel** resolved = nullptr;
  const void** input_data = nullptr;  // null if all inputs are planned
  Position state = nullptr;           // abi::StateHeader and its records; null without states
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
