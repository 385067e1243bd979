// SPDX-License-Identifier: Apache-2.0
#include "executorch/status.h"

namespace thimble::executorch {

using abi::Status;

Error call_error(Status status) {
  switch (status) {
    case Status::kOk:
      return Error::Ok;
    case Status::kUnsupported:
      return Error::NotSupported;
    case Status::kCorrupt:
      return Error::InvalidProgram;
    default:
      return Error::InvalidArgument;
  }
}

Error payload_error(Status status) {
  switch (status) {
    case Status::kOk:
      return Error::Ok;
    case Status::kMissingDelegate:
      return Error::NotFound;
    case Status::kArenaTooSmall:
    case Status::kNoFastMemory:
      return Error::MemoryAllocationFailed;
    case Status::kUnsupported:
    case Status::kWrongNpu:
    case Status::kWrongMacs:
    case Status::kNpuVersion:
    case Status::kStaleProgram:
    case Status::kUnknownProgram:
    case Status::kDriverVersion:
    case Status::kMissingSymbol:
    case Status::kProgramMemory:
    case Status::kPayloadVersion:
    case Status::kDriverError:
      return Error::DelegateInvalidCompatibility;
    default:
      return Error::InvalidProgram;
  }
}

Error delegate_call_error(Status status) {
  switch (status) {
    case Status::kNpuFault:
    case Status::kNpuTimeout:
    case Status::kDriverError:
      return Error::Internal;
    default:
      return payload_error(status);
  }
}

}  // namespace thimble::executorch
