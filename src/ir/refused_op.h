#pragma once
// An operator that is not supported, for the facts of an error.

#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {

/// `kind` names an operator that the export does not name.
/// A node of an export that the compiler cannot convert.
struct RefusedNode {
  Source source;  // an input of the model: only `node`
  std::string reason;
};

[[nodiscard]] RefusedOp refused_op(const Source& source, OpKind kind, std::string_view reason);

}  // namespace thimble::ir
