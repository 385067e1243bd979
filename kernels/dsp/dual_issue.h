// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects the loops for cores that issue two instructions per cycle and have no Helium: the
// Cortex-M7. Files named *_m7.cpp define these loops; the file without the suffix defines the same
// functions for cores that issue one instruction per cycle. Both compute the same results on all
// cores.
//
// Compilers define no macro for the Cortex-M7. Only this Armv7E-M core can have an FPU with double
// precision. For an M7 with a single-precision FPU or without an FPU, the build defines
// THIMBLE_DUAL_ISSUE as 1.

#include "kernels/isa.h"

#ifndef THIMBLE_DUAL_ISSUE
#if defined(__ARM_ARCH_7EM__) && defined(__ARM_FP) && (__ARM_FP & 8)
#define THIMBLE_DUAL_ISSUE 1
#else
#define THIMBLE_DUAL_ISSUE 0
#endif
#endif

#define THIMBLE_HAS_DSP_M7 (THIMBLE_HAS_DSP && THIMBLE_DUAL_ISSUE)
#define THIMBLE_HAS_DSP_SINGLE (THIMBLE_HAS_DSP && !THIMBLE_DUAL_ISSUE)
