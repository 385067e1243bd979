// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mutations of text that keep its syntax in most cases: words and lines change.

#include "tests/fuzz/mutate.h"

namespace thimble::fuzz {

/// Makes one to three changes: another number or name, a line that is removed, repeated or copied
/// from `other`, or any other character.
[[nodiscard]] Bytes mutate_text(Bytes bytes, const Bytes& other, Random& random);

}  // namespace thimble::fuzz
