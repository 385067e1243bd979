// SPDX-License-Identifier: Apache-2.0
// Names of kernels and functions, texts of statuses.

#include "engines/neutron/container/program.h"

namespace thimble::neutron {

const char* kernel_name(Kernel kernel) {
  switch (kernel) {
#define NEUTRON_KERNEL(name, number, operands, check, run) \
  case Kernel::k##name:                                    \
    return #name;
#include "engines/neutron/container/kernels.def"
#undef NEUTRON_KERNEL
  }
  return "?";
}

const char* function_name(Function function) {
  switch (function) {
#define NEUTRON_TABLE_FUNCTION(name, number, text) \
  case Function::k##name:                          \
    return text;
#include "engines/neutron/container/functions.def"
#undef NEUTRON_TABLE_FUNCTION
  }
  return "?";
}

const char* status_text(Status status) {
  switch (status) {
#define NEUTRON_STATUS(name, number, text) \
  case Status::k##name:                    \
    return text;
#include "engines/neutron/container/status.def"
#undef NEUTRON_STATUS
  }
  return "unknown status";
}

}  // namespace thimble::neutron
