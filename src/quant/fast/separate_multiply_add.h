// SPDX-License-Identifier: Apache-2.0
#pragma once
// Included before every file of this folder on aarch64. Eigen's products use fused multiply-add
// there, whatever -ffp-contract says, and round once where other machines round twice: ranges of
// the calibration would differ in their last bits, and with them the bytes of a `.pte`.

#if defined(__aarch64__)
#include <arm_neon.h>

// Eigen's PacketMath.h uses vmlaq without it.
#undef __ARM_FEATURE_FMA
#undef vfmaq_f32
#define vfmaq_f32(c, a, b) vaddq_f32(c, vmulq_f32(a, b))
#undef vfmaq_f64
#define vfmaq_f64(c, a, b) vaddq_f64(c, vmulq_f64(a, b))
#undef vfma_f32
#define vfma_f32(c, a, b) vadd_f32(c, vmul_f32(a, b))
#undef vfmaq_n_f32
#define vfmaq_n_f32(c, a, b) vaddq_f32(c, vmulq_n_f32(a, b))
#undef vfmaq_n_f64
#define vfmaq_n_f64(c, a, b) vaddq_f64(c, vmulq_n_f64(a, b))
#undef vfmaq_laneq_f32
#define vfmaq_laneq_f32(c, a, b, lane) vaddq_f32(c, vmulq_laneq_f32(a, b, lane))
#undef vfmaq_laneq_f64
#define vfmaq_laneq_f64(c, a, b, lane) vaddq_f64(c, vmulq_laneq_f64(a, b, lane))
#endif
