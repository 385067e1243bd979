#pragma once
// Operands of mean_run: x, MeanRun constant (abi/packed_rows.h), y.

#include "kernels/kernels.h"

namespace thimble::kernels {

Status check_mean_run(const Call& call);

}  // namespace thimble::kernels
