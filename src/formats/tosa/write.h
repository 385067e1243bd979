// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a TOSA program as the bytes of a `.tosa`. Equal programs give equal bytes on every host.

#include "base/bytes.h"
#include "base/result.h"
#include "formats/tosa/program.h"

namespace thimble::formats::tosa {

/// Returns an error only if the file would exceed the size limit of a flatbuffer.
[[nodiscard]] Result<Bytes> write(const Program& program);

}  // namespace thimble::formats::tosa
