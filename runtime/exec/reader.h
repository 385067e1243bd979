#pragma once
// The two ways in which a file says what its program is: records (exec/records.cpp), which native
// files have and which are executed in place, and the flatbuffer (exec/stock.cpp), which all have.
// Everything about the flatbuffer is reached through a table of kernels, so that a product whose
// files have records links none of it.

#include "runtime/exec/model.h"
#include "runtime/program/file.h"

namespace thimble::runtime {

/// The parts of the interface that are counted.
enum class Part : uint8_t { kInputs, kOutputs, kInstructions };

struct Port {
  kernels::Tensor tensor;
  bool is_planned;  // in the arena
};

/// How much memory a file asks for, and where in it the arrays of exec/model.h are.
struct Layout {
  size_t arena_bytes = 0;  // with the scratch of delegates that the file has not planned
  size_t kernels_at = 0;
  size_t inputs_at = 0;
  size_t end = 0;
  bool has_inputs = false;  // inputs that are not planned

  constexpr void set(size_t arena, size_t operators, size_t slot_bytes, size_t inputs) {
    arena_bytes = arena;
    kernels_at = (arena + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
    inputs_at = kernels_at + operators * sizeof(void*) + slot_bytes;
    has_inputs = inputs != 0;
    end = inputs_at + inputs * sizeof(void*);
  }
};

/// What the caller has for the model.
struct Memory {
  uint8_t* data;
  size_t bytes;
};

struct Reader {
  /// Checks the whole file. With memory, the model may run then; without (null), it is only
  /// measured.
  Status (*load)(Model& model, const File& file, const kernels::KernelTable& kernels,
                 const Memory* memory, Layout& layout);
  uint32_t (*count)(const Model& model, Part part);
  Port (*port)(const Model& model, Part part, uint32_t index);
  Status (*run)(const Model& model);
  const char* (*instruction_op)(const Model& model, uint32_t instruction);
};

extern const Reader record_reader;
extern const Reader stock_reader;

/// Gives the arrays their places in the caller's memory.
inline Status place_arrays(Model& model, const Memory& memory, const Layout& layout) {
  if (layout.end > memory.bytes) return Status::kArenaTooSmall;
  model.arena = memory.data;
  model.resolved = reinterpret_cast<const kernels::Kernel**>(memory.data + layout.kernels_at);
  if (layout.has_inputs) {
    model.input_data = reinterpret_cast<const void**>(memory.data + layout.inputs_at);
  }
  return Status::kOk;
}

}  // namespace thimble::runtime
