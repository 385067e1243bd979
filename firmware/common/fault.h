// SPDX-License-Identifier: Apache-2.0
#pragma once
// What follows a fault.

namespace thimble::firmware {

/// Called in thread mode, with an empty stack, after a fault was printed; must not return. Null:
/// the program ends with kExitFault or kExitStackOverflow.
extern void (*after_fault)();

}  // namespace thimble::firmware
