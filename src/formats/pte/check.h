// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rules for the content of the tables, in addition to the flatbuffer verifier: indices are inside
// their lists, sizes are not negative, and data is as long as the tensors that use it.

#include <string_view>

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

[[nodiscard]] Status check(const Program& program, std::string_view label);

}  // namespace thimble::formats::pte
