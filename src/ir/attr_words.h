#pragma once
// An operator's attributes as 32-bit words, in the order of the operator's row in ops.def. Files
// store attributes in this form. Kinds i and b: one word. Kind is: the count, then the items.
// Kind d: the IEEE double, low word first. Default values are written explicitly, so the meaning of
// a file does not change when a default changes.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {

/// Returns the words. An integer that does not fit 32 bits is an error.
[[nodiscard]] Result<std::vector<int32_t>> attr_words(const Op& op);
/// Inverse of attr_words(). Returns a bad-input error if there are too few or too many words.
[[nodiscard]] Result<Attrs> attrs_from_words(OpKind kind, std::span<const int32_t> words);

}  // namespace thimble::ir
