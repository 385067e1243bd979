// SPDX-License-Identifier: Apache-2.0
// The shared library for hosts: the integer model is the NPU.

#include "engines/neutron/container/driver.h"
#include "thimble_executorch_neutron.h"
#include "thimble_neutron.h"

extern "C" {
const thimble_neutron thimble_neutron_npu = {};
}

namespace {
[[maybe_unused]] const int registered =
    neutronInit() == NEUTRON_NO_ERROR ? thimble_executorch_register_neutron() : -1;
}  // namespace
