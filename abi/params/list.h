// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of integers in parameter structs.

#include <cstdint>

namespace thimble::abi {

/// A list of known length. A file whose `count` is not N is invalid.
template <int32_t N>
struct IntList {
  int32_t count;
  int32_t items[N];

  constexpr bool is_complete() const { return count == N; }
};
static_assert(sizeof(IntList<2>) == 12);

/// The last member of a struct with a list of any length: `count` int32 follow the struct.
struct IntTail {
  int32_t count;

  const int32_t* items() const { return reinterpret_cast<const int32_t*>(this + 1); }
};
static_assert(sizeof(IntTail) == 4);

}  // namespace thimble::abi
