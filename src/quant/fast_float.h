// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels that run the float graph fast enough for calibration. Results equal those of
// eval::evaluate within 1e-5, because sums are float32 and in another order. They are bit-identical
// on every x86-64 machine.
//
//   Engine engine(graph, float_kernels());
//   engine.run(inputs, [](const ir::Op& op, const ir::Tensor& result) { ... });

#include "quant/fast/executor.h"

namespace thimble::quant {
[[nodiscard]] const KernelTable& float_kernels();
}
