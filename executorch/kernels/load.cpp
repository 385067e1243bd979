// SPDX-License-Identifier: Apache-2.0
// The shared library of the kernels for hosts. It registers the kernels when it is loaded, so that
// Python needs only ctypes.CDLL(path, ctypes.RTLD_GLOBAL).

#include "thimble_executorch.h"

namespace {
[[maybe_unused]] const int registered = thimble_executorch_register(thimble_all_kernels(), nullptr);
}  // namespace
