#pragma once
// A model as the bytes of a `.tflite`. The same model gives the same bytes on every host.

#include "base/bytes.h"
#include "base/result.h"
#include "formats/tflite/model.h"

namespace thimble::formats::tflite {

/// An error only if the file would exceed what a flatbuffer can hold.
[[nodiscard]] Result<Bytes> write(const Model& model);

}  // namespace thimble::formats::tflite
