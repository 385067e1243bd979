// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operations that the vendor's compiler leaves to the core: the driver calls them between two
// pieces of the NPU's program, with their operands as words. Ours need no floats and no libm; they
// are those of engines/axon/model. Interface: the published header of the vendor's extensions
// (docs/nordic-axon.md).

#include "engines/axon/delegate_vendor/driver.h"

extern "C" {
/// Each returns 0, or -1 if the operands do not have the form that the compiler generates.
int thimble_axon_ext_softmax(uint16_t count, thimble::runtime::axon_vendor::Word* words);
int thimble_axon_ext_sigmoid(uint16_t count, thimble::runtime::axon_vendor::Word* words);
int thimble_axon_ext_tanh(uint16_t count, thimble::runtime::axon_vendor::Word* words);
}
