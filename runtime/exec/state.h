#pragma once
// The pieces of the arena that survive a run (abi::StateHeader).

#include "runtime/exec/model.h"
#include "runtime/program/file.h"

namespace thimble::runtime {

/// Proves that every piece lies in the arena, and its first content in the entry.
Status check_state(Region entry, uint32_t arena_bytes);

/// Of the arena: all pieces of a checked entry; 0 if there is none.
uint32_t kept_bytes(Position state);

/// The first content of each piece.
void reset_state(const Model& model);

/// Copies all pieces out, or back in. `bytes` is right if it is kept_bytes().
Status save_state(const Model& model, void* to, size_t bytes);
Status restore_state(const Model& model, const void* from, size_t bytes);

}  // namespace thimble::runtime
