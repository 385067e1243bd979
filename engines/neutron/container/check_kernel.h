// SPDX-License-Identifier: Apache-2.0
#pragma once
// The check of a single kernel, for check.cpp.

#include "engines/neutron/container/program.h"

namespace thimble::neutron {

/// `weights` must have header.weight_bytes bytes.
[[nodiscard]] Status check_kernel(const Program& program, const Header& header,
                                  const uint8_t* weights, uint32_t index);

}  // namespace thimble::neutron
