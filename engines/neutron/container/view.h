#pragma once
// Where the elements of a view lie, and whether two views can meet.

#include "engines/neutron/container/program.h"

namespace thimble::neutron {

/// Bytes [first, end) of a memory that a view touches, or more.
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

/// At most kBytesMax + 1, which stands for everything above.
constexpr uint64_t limited_product(uint64_t a, uint64_t b) {
  const uint64_t product = a * b;  // both below 2^29
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

/// Whether both meet the same bytes in the same order.
inline bool same_elements(const View& a, const View& b) {
  if (!same_memory(a, b) || a.offset != b.offset || !same_dims(a, b)) return false;
  for (uint32_t k = 0; k < kRankMax; ++k) {
    if (a.dims[k] > 1 && a.strides[k] != b.strides[k]) return false;
  }
  return true;
}

/// Whether no byte is met twice. Proven where each stride is wider than all smaller ones together
/// reach, as tensors, their slices and transposes have it; else the answer is no.
bool is_injective(const View& view);

/// Whether the views have no byte in common. Proven by their extents, or by a modulus: where A's
/// bytes have only remainders that none of B's has. Two pieces of one concatenation along channels
/// lie like this: extents cross, remainders by the bytes of a pixel do not.
bool are_disjoint(const View& a, const View& b);

}  // namespace thimble::neutron
