// SPDX-License-Identifier: Apache-2.0
#pragma once
// Defines the object that a row of kernels.def declares. Name and argument letters come only from
// abi/ops/<family>.h, which the kernel's file includes.

#include "abi/pte_op.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"

namespace thimble::kernels {

constexpr NormalizeArg* normalizer_for(const char* letters) {
  for (; *letters != 0; ++letters) {
    if (is_multi_type(*letters)) return normalize_multi_type_arg;
  }
  return nullptr;
}

constexpr bool has_list(const char* letters) {
  for (; *letters != 0; ++letters) {
    if (*letters == 'R' || *letters == 'w') return true;
  }
  return false;
}

/// Call::list_item for calls from C, where the context is an array of lists indexed by argument.
Tensor list_item_of_c(const Call& call, uint32_t arg, uint32_t index);

template <bool kHasList>
Call call_of_c(const Arg* args, const Tensor* const* lists) {
  return {args, lists, kHasList ? list_item_of_c : nullptr};
}

/// run() of a kernel that has run_bare(): passes the addresses of the operands.
template <auto kRunBare, uint32_t kCount>
void run_with_addresses(const Call& call) {
  void* operands[kCount];
  for (uint32_t i = 0; i < kCount; ++i) operands[i] = call.args[i].tensor.data;
  kRunBare(operands);
}

}  // namespace thimble::kernels

/// Defines a kernel. Models compiled to C call it by name, without its check:
/// thimble_call_<variant>_<op> (kernels/c_call.h).
#define THIMBLE_DEFINE_KERNEL(variant, op, check, run)                                         \
  extern "C" void thimble_call_##variant##_##op(const Arg* args, const Tensor* const* lists) { \
    run(call_of_c<has_list(abi::op_info::op.arguments)>(args, lists));                         \
  }                                                                                            \
  extern const Kernel variant##_##op;                                                          \
  constexpr Kernel variant##_##op = {abi::op_info::op.name,                                    \
                                     abi::op_info::op.arguments,                               \
                                     abi::word_of(abi::op_info::op.key),                       \
                                     check,                                                    \
                                     run,                                                      \
                                     normalizer_for(abi::op_info::op.arguments)}

/// Defines a kernel that needs only the addresses of its operands; `bare` is void(void* const*).
/// Models compiled to C call it by name, without its check: thimble_run_<variant>_<op>.
#define THIMBLE_DEFINE_BARE_KERNEL(variant, op, check, bare)                                   \
  extern "C" void thimble_run_##variant##_##op(void* const* operands) {                        \
    bare(operands);                                                                            \
  }                                                                                            \
  extern const Kernel variant##_##op;                                                          \
  constexpr Kernel variant##_##op = {                                                          \
      abi::op_info::op.name,                                                                   \
      abi::op_info::op.arguments,                                                              \
      abi::word_of(abi::op_info::op.key),                                                      \
      check,                                                                                   \
      run_with_addresses<thimble_run_##variant##_##op, length_of(abi::op_info::op.arguments)>, \
      nullptr,                                                                                 \
      thimble_run_##variant##_##op}
