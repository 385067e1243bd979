#pragma once
// The check of one kernel, for check.cpp.

#include "engines/neutron/container/program.h"

namespace thimble::neutron {

/// `weights` has header.weight_bytes.
[[nodiscard]] Status check_kernel(const Program& program, const Header& header,
                                  const uint8_t* weights, uint32_t index);

}  // namespace thimble::neutron
