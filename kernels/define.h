#pragma once
// Defines the object that a row of kernels.def declares. Name and argument letters come from
// abi/pte_ops.def alone.

#include "abi/pte_ops.h"
#include "kernels/kernels.h"

#define THIMBLE_DEFINE_KERNEL(variant, op, check, run)                                      \
  constinit const Kernel variant##_##op = {abi::info(abi::PteOp::op).name,                  \
                                           abi::info(abi::PteOp::op).arguments, check, run, \
                                           settle_for(abi::info(abi::PteOp::op).arguments)}

namespace thimble::kernels {

/// run() of a kernel that has run_bare(): hands over the places of the operands.
template <auto kRunBare, uint32_t kCount>
void run_with_places(const Call& call) {
  void* operands[kCount];
  for (uint32_t i = 0; i < kCount; ++i) operands[i] = call.args[i].tensor.data;
  kRunBare(operands);
}

}  // namespace thimble::kernels

/// As above, for a kernel that needs no more than the places of its operands; `bare` is
/// void(void* const*). It is also linked by name, without its check, by models that are C:
/// thimble_run_<variant>_<op>.
#define THIMBLE_DEFINE_BARE_KERNEL(variant, op, check, bare)                                   \
  extern "C" void thimble_run_##variant##_##op(void* const* operands) { bare(operands); }      \
  constinit const Kernel variant##_##op = {                                                    \
      abi::info(abi::PteOp::op).name,                                                          \
      abi::info(abi::PteOp::op).arguments,                                                     \
      check,                                                                                   \
      run_with_places<thimble_run_##variant##_##op,                                            \
                      length_of(abi::info(abi::PteOp::op).arguments)>,                         \
      nullptr,                                                                                 \
      thimble_run_##variant##_##op}
