// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/container/view.h"

namespace thimble::neutron {
namespace {

uint64_t width(int32_t stride) {
  return static_cast<uint64_t>(stride < 0 ? -int64_t{stride} : int64_t{stride});
}

/// Byte addresses of a view modulo some number: they are in [first, first + count).
struct Remainders {
  uint64_t first;
  uint64_t count;
};

Remainders remainders_of(const View& view, uint64_t modulus) {
  int64_t first = view.offset;
  uint64_t count = 1;
  for (uint32_t k = 0; k < kRankMax; ++k) {
    if (width(view.strides[k]) % modulus == 0) continue;
    const int64_t span = int64_t{view.strides[k]} * (int64_t{view.dims[k]} - 1);
    if (span < 0) first += span;
    count += static_cast<uint64_t>(span < 0 ? -span : span);
  }
  const auto signed_modulus = static_cast<int64_t>(modulus);
  const int64_t remainder = (first % signed_modulus + signed_modulus) % signed_modulus;
  return {static_cast<uint64_t>(remainder), count < modulus ? count : modulus};
}

bool apart(const View& a, const View& b, uint64_t modulus) {
  const Remainders of_a = remainders_of(a, modulus);
  const Remainders of_b = remainders_of(b, modulus);
  const uint64_t from_a_to_b = (of_b.first + modulus - of_a.first) % modulus;
  const uint64_t from_b_to_a = (of_a.first + modulus - of_b.first) % modulus;
  return from_a_to_b >= of_a.count && from_b_to_a >= of_b.count;
}

bool apart_by_strides_of(const View& from, const View& a, const View& b) {
  for (uint32_t k = 0; k < kRankMax; ++k) {
    const uint64_t modulus = width(from.strides[k]);
    if (from.dims[k] > 1 && modulus > 1 && apart(a, b, modulus)) return true;
  }
  return false;
}

}  // namespace

bool is_injective(const View& view) {
  bool done[kRankMax] = {};
  uint64_t reach = 0;  // span in bytes of the dimensions processed so far
  for (uint32_t round = 0; round < kRankMax; ++round) {
    uint32_t next = kRankMax;
    for (uint32_t k = 0; k < kRankMax; ++k) {
      if (done[k] || view.dims[k] == 1) continue;
      if (next == kRankMax || width(view.strides[k]) < width(view.strides[next])) next = k;
    }
    if (next == kRankMax) return true;
    if (width(view.strides[next]) <= reach) return false;
    reach += width(view.strides[next]) * (view.dims[next] - 1);
    done[next] = true;
  }
  return true;
}

bool are_disjoint(const View& a, const View& b) {
  if (!same_memory(a, b)) return true;
  const Extent of_a = extent_of(a);
  const Extent of_b = extent_of(b);
  if (of_a.end <= of_b.first || of_b.end <= of_a.first) return true;
  return apart_by_strides_of(a, a, b) || apart_by_strides_of(b, a, b);
}

}  // namespace thimble::neutron
