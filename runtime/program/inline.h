// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the compiler translates single functions of the runtime, which is built with -Os.

// Inlining short functions halves the instructions of a load and costs a few hundred bytes of code.
// With -Os alone the compiler would not inline them.
#if defined(__GNUC__)
#define THIMBLE_INLINE [[gnu::always_inline]] inline
#define THIMBLE_OUT_OF_LINE [[gnu::noinline]]
#else
#define THIMBLE_INLINE inline
#define THIMBLE_OUT_OF_LINE
#endif

// Functions that handle every operand of every call from records. With -Os they would execute 25 %
// more instructions, so GCC builds them with -O2.
#if defined(__GNUC__) && !defined(__clang__)
#define THIMBLE_FAST [[gnu::optimize("O2")]]
#else
#define THIMBLE_FAST
#endif
