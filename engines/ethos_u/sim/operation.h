// SPDX-License-Identifier: Apache-2.0
#pragma once
// One operation as described by the registers at its issue. Execution, the hazard checker and the
// timeline read only this struct, not the registers.

#include <stdint.h>

#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u::sim {

/// A feature map of up to four tiles. Sizes in elements, strides in bytes.
struct FeatureMap {
  uint8_t region = 0;
  uint8_t bits = 8;  // 8, 16, 32, 64
  bool is_signed = false;
  Format format = Format::kNhwc;
  Storage storage = Storage::kTile2x2;  // kChained: `region` is the slot of the chaining buffer
  uint32_t height = 0, width = 0, depth = 0;
  uint32_t height0 = 0, height1 = 0, width0 = 0;  // boundaries between tiles
  uint64_t base[4] = {};
  int64_t stride_y = 0, stride_x = 0, stride_c = 0;
  int32_t zero_point = 0;
};

/// A multiplier, a right shift and the rounding mode of the shift.
struct Scale {
  uint32_t multiplier = 1;
  uint8_t shift = 0;
  uint8_t double_round = 0;  // U85
  uint8_t round = 0;         // Round556 or Round85, depending on generation and register
};

struct Kernel {
  uint32_t height = 1, width = 1;  // without dilation
  uint8_t stride_y = 1, stride_x = 1;
  uint8_t dilation_y = 1, dilation_x = 1;
  bool part_kernel_first = false;
  bool decomposition_4x4 = false;
  uint32_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
};

/// A range of bytes in a region; length 0 if the register was not set.
struct Range {
  uint8_t region = 0;
  uint64_t address = 0;
  uint64_t length = 0;
};

struct KernelOperation {
  Operation code = Operation::CONV;
  uint16_t mode = 0;  // PoolMode, ElementwiseMode, ResizeMode; CONV: bit 0 = weights are IFM2
  FeatureMap ifm, ifm2, ofm;
  bool has_ifm2 = false;
  bool ifm2_scalar = false;
  int32_t scalar = 0;
  uint8_t broadcast = 0, broadcast2 = 0;  // H 1, W 2, C 4; 8 scalar (U85)
  bool ifm2_first = false;                // IFM2 is operand A
  Kernel kernel;
  Upscale upscale = Upscale::kNone;
  uint32_t block_height = 1, block_width = 1, block_depth = 1;
  Range weights[4], scales[2];
  uint8_t cores = 1;  // number of weight streams in use
  bool fast_weights = false, sparse = false;
  bool global_scale = false;               // OFM_SCALE instead of one record per channel
  Scale ofm_scale, ifm_scale, ifm2_scale;  // ifm_scale, ifm2_scale: OPA, OPB on U55 and U65
  uint8_t ifm_scale_mode = 0;              // ScaleMode556
  uint8_t accumulator = 0;                 // Accumulator
  AccumulatorInput accumulator_input = AccumulatorInput::kReset;
  bool accumulator_output = true;
  Microblock microblock = Microblock::k1x1;
  uint8_t activation = 0;  // Activation556 or Activation85
  uint8_t table = 0;       // U85; part of `activation` on the others
  uint8_t clip = 0;
  int32_t minimum = 0, maximum = 0;
  Transpose transpose = Transpose::kHwc;
  Reverse reverse = Reverse::kNone;
  uint32_t ib_end = 0, ib2_start = 0, ab_start = 0;  // SHRAM banks, U55 and U65
  uint32_t resize_n_y = 1, resize_n_x = 1;           // denominators of a position
  int32_t resize_offset_y = 0, resize_offset_x = 0;
  uint32_t resize_one_step_y = 0, resize_one_step_mod_y = 0;
  uint32_t resize_one_step_x = 0, resize_one_step_mod_x = 0;
  uint32_t resize_block_step_y = 0, resize_block_step_mod_y = 0;
  uint32_t resize_block_step_x = 0, resize_block_step_mod_x = 0;
  uint8_t blockdep = 0;
};

struct DmaOperation {
  uint8_t source_region = 0, destination_region = 0, index_region = 0;
  bool source_internal = false, destination_internal = false;  // the LUT memory
  bool gather = false, scatter = false;
  uint8_t dimensions = 1;
  uint64_t source = 0, destination = 0, length = 0;  // bytes; length of one row if dimensions > 1
  uint32_t size0 = 1, size1 = 1;
  int64_t source_stride0 = 0, source_stride1 = 0;  // U65: computed from its skips
  int64_t destination_stride0 = 0, destination_stride1 = 0;
  uint64_t index = 0;
  uint32_t index_maximum = 0;
  int64_t index_skip = 0;
};

}  // namespace thimble::ethos_u::sim
