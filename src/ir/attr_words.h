#pragma once
// An operator's attributes as 32-bit words, in the order of its row: how they lie in a file.
// i and b: one word. is: the count, then the items. d: the IEEE double, low word first. Defaults
// are written out, so that a file means the same after a default has changed.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {

/// Integers must fit 32 bits; an attribute that does not is an error.
[[nodiscard]] Result<std::vector<int32_t>> attr_words(const Op& op);
/// The reverse. Too few or too many words are bad input.
[[nodiscard]] Result<Attrs> attrs_from_words(OpKind kind, std::span<const int32_t> words);

}  // namespace thimble::ir
