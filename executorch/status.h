// SPDX-License-Identifier: Apache-2.0
#pragma once
// ExecuTorch's error codes for the statuses of Thimble.

#include <executorch/runtime/core/error.h>

#include "abi/status.h"

namespace thimble::executorch {

using ::executorch::runtime::Error;

/// Returns the error of a kernel call.
Error call_error(abi::Status status);

/// Returns the error of a delegate's payload: InvalidProgram if the bytes are invalid,
/// DelegateInvalidCompatibility if they are for another NPU, version or driver.
Error payload_error(abi::Status status);

/// Returns the error of a delegate call. Tensors that differ from those of the payload are an error
/// of the program, because both are in it.
Error delegate_call_error(abi::Status status);

}  // namespace thimble::executorch
