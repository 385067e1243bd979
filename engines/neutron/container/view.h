// SPDX-License-Identifier: Apache-2.0
#pragma once
// Address ranges of views, and tests whether two views overlap.

#include "engines/neutron/container/program.h"

namespace thimble::neutron {

/// A byte range [first, end) of a memory that contains all bytes of a view.
struct Extent {
  int64_t first;
  int64_t end;
};

inline Extent extent_of(const View& view) {
  Extent extent = {view.offset, int64_t{view.offset} + 1};
  for (uint32_t k = 0; k < kRankMax; ++k) {
    const int64_t span = int64_t{view.strides[k]} * (int64_t{view.dims[k]} - 1);
    (span < 0 ? extent.first : extent.end) += span;
  }
  return extent;
}

/// Returns a * b, limited to kBytesMax + 1.
constexpr uint64_t limited_product(uint64_t a, uint64_t b) {
  const uint64_t product = a * b;  // both are below 2^29
  return product > kBytesMax ? uint64_t{kBytesMax} + 1 : product;
}

inline uint64_t elements_of(const View& view) {
  uint64_t elements = 1;
  for (uint32_t k = 0; k < kRankMax; ++k) elements = limited_product(elements, view.dims[k]);
  return elements;
}

inline bool same_dims(const View& a, const View& b) {
  return a.rank == b.rank && memcmp(a.dims, b.dims, sizeof a.dims) == 0;
}

inline bool same_memory(const View& a, const View& b) {
  return a.memory == b.memory && a.index == b.index;
}

/// Returns true if both access the same bytes in the same order.
inline bool same_elements(const View& a, const View& b) {
  if (!same_memory(a, b) || a.offset != b.offset || !same_dims(a, b)) return false;
  for (uint32_t k = 0; k < kRankMax; ++k) {
    if (a.dims[k] > 1 && a.strides[k] != b.strides[k]) return false;
  }
  return true;
}

/// Returns true if the view provably accesses no byte twice. The proof requires that each stride is
/// greater than the span of all smaller strides together. This holds for tensors, their slices and
/// their transposes.
bool is_injective(const View& view);

/// Returns true if the views provably have no byte in common. The proof uses their extents, or
/// remainders: modulo a stride, no address of A equals one of B. Example: two pieces of a concat
/// along channels; their ranges overlap, but modulo the bytes of a pixel they do not.
bool are_disjoint(const View& a, const View& b);

}  // namespace thimble::neutron
