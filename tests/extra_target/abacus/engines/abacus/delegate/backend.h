#pragma once
// The delegate AbacusModel: the program is checked when the model is loaded; a call hands the
// driver pointers to it, to inputs, outputs and scratch.

#include "engines/abacus/container/program.h"
#include "runtime/exec/delegates.h"

namespace thimble::runtime::abacus {

/// What executes programs: silicon, or the model.
struct Driver {
  void (*run)(const thimble::abacus::Job& job);
};

/// A row for delegates_of().
Delegate backend(const Driver* driver);

Status open(const Delegate& self, const DelegateSource& source, DelegateSlot& slot,
            uint32_t& scratch_bytes);
Status check(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
Status run(const DelegateSlot& slot, const DelegateArgs& args);

}  // namespace thimble::runtime::abacus

/// Of a product: what its table of kernels names.
extern const thimble::runtime::abacus::Driver abacus_npu;
