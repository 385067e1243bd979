#pragma once
// The form of an operator against its row of ops.def: number of operands, names and kinds of
// attributes. Shared by Graph::add and the verifier; types are checked by ir/infer.h.

#include <span>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {

/// Are there as many operands as the row names, and only optional ones absent?
[[nodiscard]] Status check_operands(OpKind kind, std::span<const ValueId> inputs);

/// The attributes in the order of the row, without those that equal their default. Unknown names,
/// missing values, wrong kinds and NaN are errors.
[[nodiscard]] Result<Attrs> normalized(OpKind kind, const Attrs& attrs);

/// The same error with `kws.py:31: conv2d: ` before its message.
[[nodiscard]] Error located(const Source& source, OpKind kind, const Error& error);

}  // namespace thimble::ir
