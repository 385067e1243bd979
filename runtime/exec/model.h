#pragma once
// What a loaded model is in RAM: the contents of a thimble_model, and two arrays in the caller's
// memory behind the arena (state_bytes): one pointer per row of the file's operator table, and, if
// any graph input is not planned, one per graph input. Nothing is kept per instruction or value.

#include "kernels/kernels.h"
#include "runtime/include/thimble_trace.h"
#include "runtime/program/image.h"

namespace thimble::runtime {

struct Model {
  uintptr_t magic = 0;
  Image image;
  uint8_t* arena = nullptr;
  const kernels::Kernel** resolved = nullptr;
  const void** input_data = nullptr;  // null if all inputs are planned
#if THIMBLE_TRACE
  thimble_trace_hook trace_hook = nullptr;
  void* trace_user = nullptr;
#endif
};

}  // namespace thimble::runtime
