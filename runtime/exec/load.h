// SPDX-License-Identifier: Apache-2.0
#pragma once
// The steps of a load, the same for both representations of a program. A Loader reads one of them:
// RecordLoader in exec/record_load.cpp, FlatbufferLoader in exec/flatbuffer_load.cpp. The checks
// that both make are in program/checks.h. Members of a Loader:
//
//   model               receives the program
//   open(...)           verifies everything but values and calls, and checks inputs and outputs;
//                       sets the sizes of the arena and of the memory of delegates
//   check_values()      verifies the values that are not verified with the calls. Until the first
//                       run the arena is unused, so that decoded values can be stored there
//   find_kernel(row)    kernel of a row of the operator table; null if there is none
//   check_next_call()   decodes the arguments of the next call, and calls check() of its kernel
//   input_count(), is_input_planned(i), operator_count(), call_count()

#include "runtime/exec/executor.h"

namespace thimble::runtime {

/// Executor::load of each representation.
Status load_records(Model& model, const PteRegions& file, const kernels::KernelTable& kernels,
                    const Memory* memory, MemoryLayout& layout);
Status load_flatbuffer(Model& model, const PteRegions& file, const kernels::KernelTable& kernels,
                       const Memory* memory, MemoryLayout& layout);

/// Kernel of a row of the operator table. Until the model has memory, it is looked up each time.
template <class Loader>
THIMBLE_INLINE const kernels::Kernel& kernel_of(const Loader& loader, uint32_t row) {
  const kernels::Kernel* const* const kernel_of_op = loader.model.kernel_of_op;
  // check_calls() has found a kernel for every operator.
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
  return kernel_of_op != nullptr ? *kernel_of_op[row] : *loader.find_kernel(row);
}

/// Finds the kernel of each operator, even if no call refers to it, and checks every call.
template <class Loader>
THIMBLE_INLINE Status check_calls(Loader& loader) {
  const uint32_t operators = loader.operator_count();
  for (uint32_t row = 0; row < operators; ++row) {
    const kernels::Kernel* const kernel = loader.find_kernel(row);
    if (kernel == nullptr) return Status::kMissingKernel;
    if (loader.model.kernel_of_op != nullptr) loader.model.kernel_of_op[row] = kernel;
  }
  for (uint32_t left = loader.call_count(); left != 0; --left)
    THIMBLE_RETURN_IF_ERROR(loader.check_next_call());
  return Status::kOk;
}

/// Checks everything but the calls. Sets the addresses of the model if `memory` is not null.
template <class Loader>
THIMBLE_INLINE Status check_values(Loader& loader, const Memory* memory, MemoryLayout& layout) {
  size_t arena_bytes, delegate_bytes = 0;
  THIMBLE_RETURN_IF_ERROR(loader.open(arena_bytes, delegate_bytes));
  const uint32_t inputs = loader.input_count();
  uint32_t input_data_count = 0;
  for (uint32_t i = 0; i < inputs && input_data_count == 0; ++i) {
    if (!loader.is_input_planned(i)) input_data_count = inputs;
  }
  layout.set(arena_bytes, loader.operator_count(), delegate_bytes, input_data_count);
  if (memory != nullptr) THIMBLE_RETURN_IF_ERROR(place_arrays(loader.model, *memory, layout));
  return loader.check_values();
}

}  // namespace thimble::runtime
