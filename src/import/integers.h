// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integers and booleans: position ids, masks, relative positions, lengths. What does not depend on
// an input is computed at import, in 64-bit integers with PyTorch's rules. A function of one
// position is a table. Everything else is computed at run time.

#include <optional>

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns the result of a node whose tensor operands are all known integers or booleans, and whose
/// result is one such tensor. Returns nothing for other nodes, and for arguments that only the
/// handler understands. A node with impossible arguments returns a bad-input error, one that
/// exceeds the limit of Builder::count_computed() a not-supported error.
[[nodiscard]] Result<std::optional<ir::Tensor>> fold_integers(Call& call, std::string_view target);

/// Same for a node whose other tensor operands are computed from one position (position.h): adds
/// the table of its results. Returns kNoValue for other nodes, and for a table that is too large.
[[nodiscard]] Result<ir::ValueId> tabulate_integers(Call& call, std::string_view target);

/// Adds the operators of a node whose result and tensor operands are integers or booleans, of which
/// one at least is computed at run time. Returns kNoValue for other nodes, and for operators whose
/// handler accepts integers.
[[nodiscard]] Result<ir::ValueId> compute_integers(Call& call, std::string_view target);

}  // namespace thimble::import_pt2
