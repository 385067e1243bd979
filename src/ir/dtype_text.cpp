// SPDX-License-Identifier: Apache-2.0
#include "ir/dtype_text.h"

namespace thimble::ir {

std::string_view dtype_text(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "float32";
    case DType::kI8:
      return "int8";
    case DType::kU8:
      return "uint8";
    case DType::kI16:
      return "int16";
    case DType::kI32:
      return "int32";
    case DType::kI64:
      return "int64";
    case DType::kBool:
      return "bool";
  }
  return "unknown";
}

}  // namespace thimble::ir
