// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element types and memory orders: between IR and `.pte`.

#include <optional>

#include "formats/pte/program.h"
#include "ir/type.h"

namespace thimble::emit {

[[nodiscard]] formats::pte::ScalarType scalar_type(ir::DType dtype);
/// Returns the IR's element type; none if the IR does not have it.
[[nodiscard]] std::optional<ir::DType> dtype_of(formats::pte::ScalarType type);
/// Returns `order` with all dimensions: the identity if it is empty (contiguous).
[[nodiscard]] ir::DimOrder full_order(const ir::DimOrder& order, size_t rank);

}  // namespace thimble::emit
