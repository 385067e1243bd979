// SPDX-License-Identifier: Apache-2.0
#pragma once
// States: the ranges of the arena that survive a run (abi::StateHeader).

#include "runtime/exec/model.h"
#include "runtime/program/file.h"

namespace thimble::runtime {

/// Verifies the entry abi::kStateKey: every range is inside the arena, and its initial content
/// inside the entry.
Status check_state(ByteRegion entry, uint32_t arena_bytes);

/// Total size in bytes of the states of a verified entry; 0 if `state` is null.
uint32_t total_state_bytes(Position state);

/// Sets each state to its initial content.
void reset_state(const Model& model);

/// Copy all states to or from a buffer. `bytes` must equal total_state_bytes().
Status save_state(const Model& model, void* to, size_t bytes);
Status restore_state(const Model& model, const void* from, size_t bytes);

}  // namespace thimble::runtime
