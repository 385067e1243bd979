#pragma once
// The float graph, fast enough to calibrate on: the meaning of eval::evaluate within 1e-5 (sums are
// added up in float32, in another order), the same bytes on every x86-64 machine.
//
//   Engine engine(graph, float_kernels());
//   engine.run(inputs, [](const ir::Op& op, const ir::Tensor& result) { ... });

#include "quant/fast/executor.h"

namespace thimble::quant {
[[nodiscard]] const KernelTable& float_kernels();
}
