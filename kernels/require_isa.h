// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ends the compilation of a model with one sentence if the compiler's flags do not select the
// instructions that the file needs. The model's source defines before:
//
//   #define THIMBLE_FILE "net.pte is for cortex-m55"
//   #define THIMBLE_NEEDS_mve

#include "kernels/isa.h"

#if defined(__arm__) && defined(THIMBLE_NEEDS_mve)
static_assert(THIMBLE_HAS_MVE, THIMBLE_FILE
              " and needs Helium: give -mcpu=cortex-m55 (or -mcpu=cortex-m85) and "
              "-mfloat-abi=hard or softfp");
#elif defined(__arm__) && defined(THIMBLE_NEEDS_dsp)
static_assert(THIMBLE_HAS_DSP, THIMBLE_FILE
              " and needs the DSP extension: give the core's -mcpu, such as "
              "-mcpu=cortex-m4, without +nodsp");
#elif defined(__arm__) && defined(THIMBLE_NEEDS_thumb2)
static_assert(THIMBLE_HAS_V7M,
              THIMBLE_FILE " and needs Thumb-2: give the core's -mcpu, such as -mcpu=cortex-m3");
#elif defined(__arm__) && defined(THIMBLE_NEEDS_thumb1)
static_assert(THIMBLE_HAS_V6M, THIMBLE_FILE
              " and needs an Armv6-M core: give -mcpu=cortex-m0plus, or compile the "
              "model for this core");
#endif
