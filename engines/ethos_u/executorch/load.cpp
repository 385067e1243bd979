// SPDX-License-Identifier: Apache-2.0
// The shared library for hosts, with the simulator.

#include "thimble_executorch_ethos_u.h"

namespace {
[[maybe_unused]] const int registered = thimble_executorch_register_ethos_u();
}  // namespace
