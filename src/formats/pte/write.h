// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a program as the bytes of a `.pte`. Equal programs give equal bytes on every host.
//
// The file is stored in flash, so it must be small: equal vectors, strings, tables and blobs are
// stored once and shared. Segments follow the flatbuffer in the order constants, mutable data,
// delegate blobs, named data. Each is at a multiple of its alignment (16 for constants) from the
// start of the file, because it is executed in place. An entry with records (records.h) comes
// before all others.

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// Returns an error only if the program violates `check` (check.h) or its tables exceed 2 GiB.
[[nodiscard]] Result<Bytes> write(const Program& program);

}  // namespace thimble::formats::pte
