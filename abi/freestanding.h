// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replaces the few parts of the C++ standard library that device code needs. Device code is C++17
// and includes only <cstdint>, <cstddef> and headers of C, of which it calls memcpy, memset and
// memcmp. It thus compiles with toolchains without a C++ library, such as Zephyr's minimal one.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__has_builtin)
#if __has_builtin(__builtin_bit_cast)
#define THIMBLE_HAS_BIT_CAST 1
#endif
#endif
#ifndef THIMBLE_HAS_BIT_CAST
#define THIMBLE_HAS_BIT_CAST 0
#endif

namespace thimble::abi {

/// Returns the bits of `from` as a value of type To. Without the compiler's built-in function
/// (GCC 10), no constant expression may call it.
template <class To, class From>
constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
#if THIMBLE_HAS_BIT_CAST
  return __builtin_bit_cast(To, from);
#else
  To to{};
  memcpy(&to, &from, sizeof to);
  return to;
#endif
}

template <class A, class B>
inline constexpr bool kIsSame = false;
template <class A>
inline constexpr bool kIsSame<A, A> = true;

/// The number of elements of an array.
template <class T, size_t kCount>
constexpr size_t count_of(const T (&)[kCount]) {
  return kCount;
}

/// The address of an object that `new (Place{address}) T` constructs.
struct Place {
  void* address;
};

}  // namespace thimble::abi

/// Not noexcept: the compiler then assumes that the address is not null, as it does for <new>.
inline void* operator new(size_t, thimble::abi::Place place) {
  return place.address;
}
inline void operator delete(void*, thimble::abi::Place) {}
