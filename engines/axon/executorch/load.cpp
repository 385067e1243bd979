// SPDX-License-Identifier: Apache-2.0
// The shared library for hosts: the integer model is the NPU.

#include "thimble_axon.h"
#include "thimble_executorch_axon.h"

extern "C" {
const thimble_axon thimble_axon_npu = {thimble_axon_model_run, thimble_axon_model_load, nullptr,
                                       nullptr, 0};
}

namespace {
[[maybe_unused]] const int registered = thimble_executorch_register_axon();
}  // namespace
