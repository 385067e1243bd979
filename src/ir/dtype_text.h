#pragma once
// Names of element types as numpy and PyTorch have them, for what users read. (dtype_name in
// ir/type.h has those of the text form.)

#include <string_view>

#include "ir/type.h"

namespace thimble::ir {

[[nodiscard]] std::string_view dtype_text(DType dtype);  // "float32", "int8", ...

}  // namespace thimble::ir
