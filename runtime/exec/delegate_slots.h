#pragma once
// Finds the slots of the delegates in the memory of a loaded model.

#include "runtime/exec/delegates.h"
#include "runtime/exec/model.h"

namespace thimble::runtime {

/// Returns the slots of a loaded model, one per row of the plan's delegates.
inline DelegateSlot* slots_of(const Model& model) {
  return reinterpret_cast<DelegateSlot*>(model.resolved + model.image.operators.count());
}

}  // namespace thimble::runtime
