// SPDX-License-Identifier: Apache-2.0
#pragma once
// The delegate AbacusModel. The program is checked when the model is loaded. A call passes the
// driver pointers to the program, inputs, outputs and scratch.

#include "engines/abacus/container/program.h"
#include "runtime/exec/delegates.h"

namespace thimble::runtime::abacus {

/// Executes programs: silicon, or the model.
struct Driver {
  void (*run)(const thimble::abacus::Job& job);
};

/// Returns a row for delegates_of().
DelegateBackend backend(const Driver* driver);

Status open(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);

}  // namespace thimble::runtime::abacus

/// Defined by the product; the kernel table of the product refers to it.
extern const thimble::runtime::abacus::Driver abacus_npu;
