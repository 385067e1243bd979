// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models of the firmware tests, as program structs.

#include "formats/pte/program.h"

namespace thimble::firmware_test {

namespace pte = formats::pte;

inline pte::Tensor tensor_of(pte::ScalarType type, uint64_t offset) {
  pte::Tensor tensor;
  tensor.scalar_type = type;
  tensor.sizes = {1, 4};
  tensor.dim_order = {0, 1};
  tensor.allocation = pte::Allocation{1, offset};
  return tensor;
}

/// y = copy(x), int8 [1, 4]. x is not in the arena. The faults image implements test::copy.out.
inline pte::Program copy_program() {
  pte::Program program;
  pte::ExecutionPlan plan;
  plan.values = {tensor_of(pte::ScalarType::kChar, 0), tensor_of(pte::ScalarType::kChar, 0)};
  std::get<pte::Tensor>(plan.values[0]).allocation.reset();
  plan.inputs = {0};
  plan.outputs = {1};
  plan.operators = {{"test::copy", "out"}};
  plan.chains[0].instructions = {pte::KernelCall{0, {0, 1, 1}}};
  plan.memory_sizes = {0, 16};
  program.plans = {plan};
  // Named data, so that the file has the header that states its length.
  program.named_data = {{"padding", 16, Bytes(16)}};
  return program;
}

/// y = dequantize(quantize(x)), float [1, 4], scale 0.5, zero point 3, int8.
inline pte::Program round_program() {
  pte::Program program;
  pte::ExecutionPlan plan;
  plan.values = {tensor_of(pte::ScalarType::kFloat, 0),
                 tensor_of(pte::ScalarType::kChar, 16),
                 tensor_of(pte::ScalarType::kFloat, 32),
                 pte::Double{0.5},
                 pte::Int{3},
                 pte::Int{-128},
                 pte::Int{127},
                 pte::Int{static_cast<int64_t>(pte::ScalarType::kChar)}};
  plan.inputs = {0};
  plan.outputs = {2, 1};
  plan.operators = {{"cortex_m::quantize_per_tensor", "out"},
                    {"cortex_m::dequantize_per_tensor", "out"}};
  plan.chains[0].instructions = {pte::KernelCall{0, {0, 3, 4, 5, 6, 7, 1, 1}},
                                 pte::KernelCall{1, {1, 3, 4, 5, 6, 7, 2, 2}}};
  plan.memory_sizes = {0, 48};
  program.plans = {plan};
  return program;
}

}  // namespace thimble::firmware_test
