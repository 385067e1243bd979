#pragma once
// The rules that tables must keep beyond their own form: indices inside their lists, sizes not
// negative, data as long as the tensors that use it.

#include <string_view>

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

[[nodiscard]] Status check(const Program& program, std::string_view label);

}  // namespace thimble::formats::pte
