#pragma once
// The two representations of a program in a file. Records (exec/records.cpp) exist in native files
// and are executed in place. The flatbuffer (exec/stock.cpp) exists in all files. Code for the
// flatbuffer is reached only through a kernel table, so that a product whose files have records
// does not link it.

#include "runtime/exec/model.h"
#include "runtime/program/file.h"

namespace thimble::runtime {

/// Lists of a program that Reader::count() counts.
enum class ProgramList : uint8_t { kInputs, kOutputs, kInstructions };

struct Port {
  kernels::Tensor tensor;
  bool is_planned;  // true if it is in the arena
};

/// Sizes of the memory that a file needs, and the offsets of the arrays of exec/model.h in it.
struct Layout {
  size_t arena_bytes = 0;  // includes scratch of delegates that the file has not planned
  size_t kernels_at = 0;
  size_t inputs_at = 0;
  size_t end = 0;
  bool has_inputs = false;  // true if an input is not planned

  constexpr void set(size_t arena, size_t operators, size_t slot_bytes, size_t inputs) {
    arena_bytes = arena;
    kernels_at = (arena + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
    inputs_at = kernels_at + operators * sizeof(void*) + slot_bytes;
    has_inputs = inputs != 0;
    end = inputs_at + inputs * sizeof(void*);
  }
};

/// Memory of the application for the model.
struct Memory {
  uint8_t* data;
  size_t bytes;
};

struct Reader {
  /// Checks the whole file. If `memory` is given, the model can run afterwards; if it is null, only
  /// `layout` is computed.
  Status (*load)(Model& model, const File& file, const kernels::KernelTable& kernels,
                 const Memory* memory, Layout& layout);
  uint32_t (*count)(const Model& model, ProgramList part);
  Port (*port)(const Model& model, ProgramList part, uint32_t index);
  Status (*run)(const Model& model);
  const char* (*instruction_op)(const Model& model, uint32_t instruction);
};

extern const Reader record_reader;
extern const Reader stock_reader;

/// Sets the addresses of the arrays in the memory.
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
