#pragma once
// Extensions: operations that the vendor's compiler assigns to the core. The driver calls them
// between two parts of the NPU's program, with operands encoded in words. Thimble's extensions use
// the integer functions of npu/axon/model, without floating point or libm. Interface: the published
// header of the vendor's extensions (docs/nordic-axon.md).

#include "runtime/delegates/axon_vendor/driver.h"

extern "C" {
/// Each returns 0, or -1 if the operands do not have the form that the compiler generates.
int thimble_axon_ext_softmax(uint16_t count, thimble::runtime::axon_vendor::Word* words);
int thimble_axon_ext_sigmoid(uint16_t count, thimble::runtime::axon_vendor::Word* words);
int thimble_axon_ext_tanh(uint16_t count, thimble::runtime::axon_vendor::Word* words);
}
