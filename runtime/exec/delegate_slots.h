#pragma once
// Where the slots of the delegates are in a loaded model's memory.

#include "runtime/exec/delegates.h"
#include "runtime/exec/model.h"

namespace thimble::runtime {

/// The slots of a loaded model.
inline DelegateSlot* slots_of(const Model& model) {
  return reinterpret_cast<DelegateSlot*>(model.resolved + model.image.operators.count());
}

}  // namespace thimble::runtime
