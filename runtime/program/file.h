// SPDX-License-Identifier: Apache-2.0
#pragma once
// The outermost structure of a `.pte`: flatbuffer, then segments.

#include "abi/status.h"
#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

using abi::Status;

struct ByteRegion {
  Position data = nullptr;
  uint32_t bytes = 0;
};

struct PteRegions {
  ByteRegion program;   // the flatbuffer
  ByteRegion segments;  // empty if there is no extended header
};

/// Finds the flatbuffer and the segments of a file, and checks the header. Sizes are checked before
/// the content that they bound, so that a file that ends early gives kTruncated and not kCorrupt.
Status find_regions(const void* data, size_t size, PteRegions& file);

}  // namespace thimble::runtime
