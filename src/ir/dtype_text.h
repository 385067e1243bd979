// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element type names of numpy and PyTorch, for user-visible text. (dtype_name() in ir/type.h
// returns the names of the text form.)

#include <string_view>

#include "ir/type.h"

namespace thimble::ir {

[[nodiscard]] std::string_view dtype_text(DType dtype);  // "float32", "int8", ...

}  // namespace thimble::ir
