#pragma once
// Defines the object that a row of kernels.def declares. Name and argument letters come from
// abi/pte_ops.def alone.

#include "abi/pte_ops.h"
#include "kernels/kernels.h"

#define THIMBLE_DEFINE_KERNEL(variant, op, check, run)                                      \
  constinit const Kernel variant##_##op = {abi::info(abi::PteOp::op).name,                  \
                                           abi::info(abi::PteOp::op).arguments, check, run, \
                                           settle_for(abi::info(abi::PteOp::op).arguments)}
