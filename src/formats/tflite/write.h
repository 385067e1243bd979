// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a model as the bytes of a `.tflite`. Equal models give equal bytes on every host.

#include "base/bytes.h"
#include "base/result.h"
#include "formats/tflite/model.h"

namespace thimble::formats::tflite {

/// Returns an error only if the file would exceed the size limit of a flatbuffer.
[[nodiscard]] Result<Bytes> write(const Model& model);

}  // namespace thimble::formats::tflite
