// SPDX-License-Identifier: Apache-2.0
#pragma once
// A decoded kernel call, and the trace hook around a call.

#include "runtime/exec/model.h"

namespace thimble::runtime {

/// Call::context: the model, and the operands of the call as the program refers to them.
template <class Operands>
struct CallContext {
  kernels::Call call;
  const Model* model;
  Operands operands;
};

/// A decoded call with space for kArguments arguments: the largest object on the stack. It is plain
/// bytes, and only the fields that an argument's letter makes valid are written: clearing all
/// arguments would cost more than decoding the three of a native call.
template <class Operands, uint32_t kArguments>
struct DecodedCall : CallContext<Operands> {
  using ListItem = decltype(kernels::Call::list_item);
  THIMBLE_INLINE DecodedCall(const Model& of_model, Operands of_call, ListItem list_item)
      : CallContext<Operands>{{args(), this, list_item}, &of_model, of_call} {}
  THIMBLE_INLINE kernels::Arg* args() { return reinterpret_cast<kernels::Arg*>(storage); }
  alignas(kernels::Arg) unsigned char storage[kArguments * sizeof(kernels::Arg)];
};

/// Calls `body`, between two calls of the trace hook if there is one.
template <class Body>
THIMBLE_INLINE void traced([[maybe_unused]] const Model& model,
                           [[maybe_unused]] const char* const& name,
                           [[maybe_unused]] uint32_t index, Body body) {
#if THIMBLE_TRACE
  const thimble_trace_hook hook = model.trace_hook;
  if (hook != nullptr) {
    hook(model.trace_user, index, name, 0);
    body();
    hook(model.trace_user, index, name, 1);
    return;
  }
#endif
  body();
}

}  // namespace thimble::runtime
