// SPDX-License-Identifier: Apache-2.0
#pragma once
// The generated header.

#include <string>

#include "emit/c/c_program.h"

namespace thimble::emit::c {

/// Returns the text of the generated header.
[[nodiscard]] std::string header(const CProgram& program);

}  // namespace thimble::emit::c
