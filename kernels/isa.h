// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel variants that exist in this build: those that the compile target supports. A file of
// kernels/<variant>/ begins with `#if THIMBLE_HAS_<VARIANT>`, so that any build system may compile
// all of them. A row of kernels.def expands to nothing if its variant does not exist.
//
//   mve       M55, M85: Helium
//   dsp       M4, M7, M33 and up: the DSP extension
//   v7m       M3 and up: Thumb-2, multiply-accumulate
//   v6m       M0, M0+, M23: 16-bit Thumb, a 32-bit multiply
//   portable  everywhere: C++, the reference for the other variants

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define THIMBLE_HAS_MVE 1
#define THIMBLE_IF_mve(...) __VA_ARGS__
#else
#define THIMBLE_HAS_MVE 0
#define THIMBLE_IF_mve(...)
#endif

#if defined(__ARM_FEATURE_DSP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define THIMBLE_HAS_DSP 1
#define THIMBLE_IF_dsp(...) __VA_ARGS__
#else
#define THIMBLE_HAS_DSP 0
#define THIMBLE_IF_dsp(...)
#endif

#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2 && defined(__ARM_ARCH_PROFILE) && \
    __ARM_ARCH_PROFILE == 'M' && !defined(__ARM_ARCH_8M_BASE__)
#define THIMBLE_HAS_V7M 1
#define THIMBLE_IF_v7m(...) __VA_ARGS__
#else
#define THIMBLE_HAS_V7M 0
#define THIMBLE_IF_v7m(...)
#endif

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && !THIMBLE_HAS_V7M
#define THIMBLE_HAS_V6M 1
#define THIMBLE_IF_v6m(...) __VA_ARGS__
#else
#define THIMBLE_HAS_V6M 0
#define THIMBLE_IF_v6m(...)
#endif

#define THIMBLE_IF_portable(...) __VA_ARGS__
