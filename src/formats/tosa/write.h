#pragma once
// A TOSA program as the bytes of a `.tosa`. The same program gives the same bytes on every host.

#include "base/bytes.h"
#include "base/result.h"
#include "formats/tosa/program.h"

namespace thimble::formats::tosa {

/// An error only if the file would exceed what a flatbuffer can hold.
[[nodiscard]] Result<Bytes> write(const Program& program);

}  // namespace thimble::formats::tosa
