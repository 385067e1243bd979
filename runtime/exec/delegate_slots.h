#pragma once
// Computes the places of the delegates' slots in a loaded model's memory.

#include "runtime/exec/delegates.h"
#include "runtime/exec/model.h"

namespace thimble::runtime {

/// The slots of a loaded model.
inline DelegateSlot* slots_of(const Model& model) {
  return reinterpret_cast<DelegateSlot*>(model.resolved + model.image.operators.count());
}

}  // namespace thimble::runtime
