// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interface of the two executors of a program. A native file without delegate calls and with one
// memory has records (exec/record_executor.cpp). Every file has the flatbuffer
// (exec/flatbuffer_executor.cpp). The flatbuffer executor is reached only through a kernel table,
// so that a product whose files have records does not link it.

#include "runtime/exec/model.h"
#include "runtime/program/file.h"

namespace thimble::runtime {

/// Lists of a program that Executor::count() counts.
enum class ProgramList : uint8_t { kInputs, kOutputs, kInstructions };

/// An input or output of the graph.
struct GraphTensor {
  kernels::Tensor tensor;
  bool is_planned;  // true if it is in the arena
};

/// Size of the memory that a file needs, and the offsets of the arrays of exec/model.h in it.
struct MemoryLayout {
  size_t arena_bytes = 0;  // includes scratch of delegates that the file has not planned
  size_t kernel_of_op_at = 0;
  size_t input_data_at = 0;
  size_t end = 0;

  /// Returns true if at least one input is in a caller's buffer. Model::input_data then has an
  /// entry for every input.
  constexpr bool has_input_data() const { return end != input_data_at; }
  /// `delegate_bytes`: slots and persistent memory of the delegates. `input_data_count`: number of
  /// inputs, or 0 if all are planned.
  constexpr void set(size_t arena, size_t operator_count, size_t delegate_bytes,
                     size_t input_data_count) {
    arena_bytes = arena;
    kernel_of_op_at = (arena + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
    input_data_at = kernel_of_op_at + operator_count * sizeof(void*) + delegate_bytes;
    end = input_data_at + input_data_count * sizeof(void*);
  }
};

/// Memory of the application for the model: the arena, followed by the arrays of exec/model.h. If
/// `arrays` is not null, the arrays are stored there, and methods of one file can share the arena.
struct Memory {
  uint8_t* data;
  size_t bytes;
  uint8_t* arrays = nullptr;
  size_t arrays_bytes = 0;
};

/// Loads and runs the programs of one representation.
struct Executor {
  /// Checks the whole file. If `memory` is given, the model can run afterwards; if it is null, only
  /// `layout` is computed.
  Status (*load)(Model& model, const PteRegions& file, const kernels::KernelTable& kernels,
                 const Memory* memory, MemoryLayout& layout);
  uint32_t (*count)(const Model& model, ProgramList list);
  GraphTensor (*graph_tensor)(const Model& model, ProgramList list, uint32_t index);
  Status (*run)(const Model& model);
  const char* (*instruction_op)(const Model& model, uint32_t instruction);
};

extern const Executor record_executor;
extern const Executor flatbuffer_executor;

/// Sets arena and kernel_of_op of the model. Returns kArenaTooSmall if the memory is too small.
inline Status place_arrays(Model& model, const Memory& memory, const MemoryLayout& layout) {
  model.arena = memory.data;
  uint8_t* arrays = memory.arrays;
  if (arrays != nullptr) {
    const bool fits = layout.arena_bytes <= memory.bytes &&
                      layout.end - layout.kernel_of_op_at <= memory.arrays_bytes;
    if (!fits) return Status::kArenaTooSmall;
  } else {
    if (layout.end > memory.bytes) return Status::kArenaTooSmall;
    arrays = memory.data + layout.kernel_of_op_at;
  }
  model.kernel_of_op = reinterpret_cast<const kernels::Kernel**>(arrays);
  return Status::kOk;
}

}  // namespace thimble::runtime
