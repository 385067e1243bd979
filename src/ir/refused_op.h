// SPDX-License-Identifier: Apache-2.0
#pragma once
// An operator that is not supported, for the facts of an error.

#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {

/// A node of an export that the compiler cannot convert.
struct RefusedNode {
  Source source;  // an input of the model: only `node`
  std::string reason;
};

/// Returns the facts of an operator. `kind` names it if the export does not.
[[nodiscard]] RefusedOp refused_op(const Source& source, OpKind kind, std::string_view reason);

}  // namespace thimble::ir
