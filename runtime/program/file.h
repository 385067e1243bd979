#pragma once
// The outermost structure of a file: flatbuffer, then segments.

#include "abi/status.h"
#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

using abi::Status;

struct ByteRegion {
  Position data = nullptr;
  uint32_t bytes = 0;
};

struct File {
  ByteRegion program;   // the flatbuffer
  ByteRegion segments;  // empty if there is no extended header
};

/// Sizes are checked first, so that the status of a cut file is kTruncated and not kCorrupt.
Status split_file(const void* data, size_t bytes, File& file);

}  // namespace thimble::runtime
