// SPDX-License-Identifier: Apache-2.0
// Decodes registers to operations. Every field is read once here and checked for values without a
// meaning. Later stages do not read registers.

#include "engines/ethos_u/sim/decode_parts.h"

namespace thimble::ethos_u::sim {
namespace {

Scale decode_scale(const Registers& registers, Reg1 code, const Place& shift,
                   const Place& double_round, const Place& round) {
  Scale scale;
  scale.multiplier = registers.word(code);
  scale.shift = static_cast<uint8_t>(registers.parameter(code, shift));
  scale.double_round = static_cast<uint8_t>(registers.parameter(code, double_round));
  scale.round = static_cast<uint8_t>(registers.parameter(code, round));
  return scale;
}

void decode_kernel_shape(const Registers& registers, Kernel* kernel) {
  kernel->stride_x =
      static_cast<uint8_t>(1 + ETHOS_U_FIELD(registers, KERNEL_STRIDE, stride_x_lsb) +
                           2 * ETHOS_U_FIELD(registers, KERNEL_STRIDE, stride_x_msb));
  kernel->stride_y =
      static_cast<uint8_t>(1 + ETHOS_U_FIELD(registers, KERNEL_STRIDE, stride_y_lsb) +
                           2 * ETHOS_U_FIELD(registers, KERNEL_STRIDE, stride_y_msb));
  kernel->dilation_x =
      static_cast<uint8_t>(1 + ETHOS_U_FIELD(registers, KERNEL_STRIDE, dilation_x));
  kernel->dilation_y =
      static_cast<uint8_t>(1 + ETHOS_U_FIELD(registers, KERNEL_STRIDE, dilation_y));
  kernel->part_kernel_first = ETHOS_U_FIELD(registers, KERNEL_STRIDE, weight_order) != 0;
  kernel->decomposition_4x4 = ETHOS_U_FIELD(registers, KERNEL_STRIDE, decomposition) != 0;
  kernel->width = registers.get(Reg0::KERNEL_WIDTH_M1) / kernel->dilation_x + 1U;
  kernel->height = registers.get(Reg0::KERNEL_HEIGHT_M1) / kernel->dilation_y + 1U;
  kernel->pad_top = registers.get(Reg0::IFM_PAD_TOP);
  kernel->pad_left = registers.get(Reg0::IFM_PAD_LEFT);
  kernel->pad_bottom = registers.get(Reg0::IFM_PAD_BOTTOM);
  kernel->pad_right = registers.get(Reg0::IFM_PAD_RIGHT);
}

bool has_second_operand(ElementwiseMode mode) {
  return mode != ElementwiseMode::kLrelu && mode != ElementwiseMode::kAbs &&
         mode != ElementwiseMode::kClz && mode != ElementwiseMode::kNot;
}

bool known_elementwise(uint16_t mode, Generation generation) {
  if (mode <= static_cast<uint16_t>(ElementwiseMode::kShl)) return true;
  if (generation != Generation::kU85) return false;
  return mode <= 11 || (mode >= 16 && mode <= 19) || (mode >= 33 && mode <= 36) || mode == 42;
}

Fault check_mode(Operation code, uint16_t mode, Generation generation) {
  const bool u85 = generation == Generation::kU85;
  const bool known = code == Operation::CONV          ? mode <= (u85 ? 1 : 0)
                     : code == Operation::DEPTHWISE   ? mode == 0
                     : code == Operation::POOL        ? mode <= (u85 ? 7 : 2)
                     : code == Operation::ELEMENTWISE ? known_elementwise(mode, generation)
                                                      : mode <= 2;
  return known ? Fault{} : bad("an operation of an unknown mode");
}

Range range_of(const Registers& registers, Reg0 region, Reg1 base, Reg1 length) {
  Range range;
  range.region = static_cast<uint8_t>(registers.get(region));
  range.address = registers.address(base);
  range.length = registers.word(length);
  return range;
}

/// Sets the number of weight streams (U65: and of scale streams) that are read in parallel.
Fault decode_cores(const Config& config, const Registers& registers, KernelOperation* operation) {
  operation->cores = config.generation == Generation::kU85 ? config.cores : 1;
  if (config.generation == Generation::kU65 && registers.get(Reg0::PARALLEL_MODE) != 0) {
    if (config.cores < 2) return bad("PARALLEL_MODE on an NPU with one core");
    operation->cores = 2;
  }
  return {};
}

Fault decode_weights(const Registers& registers, KernelOperation* operation) {
  constexpr Reg1 kBases[4] = {Reg1::WEIGHT_BASE, Reg1::WEIGHT1_BASE, Reg1::WEIGHT2_BASE,
                              Reg1::WEIGHT3_BASE};
  constexpr Reg1 kLengths[4] = {Reg1::WEIGHT_LENGTH, Reg1::WEIGHT1_LENGTH, Reg1::WEIGHT2_LENGTH,
                                Reg1::WEIGHT3_LENGTH};
  operation->fast_weights = ETHOS_U_FIELD(registers, WEIGHT_FORMAT, fast) != 0;
  operation->sparse = ETHOS_U_FIELD(registers, WEIGHT_FORMAT, sparse) != 0;
  for (uint32_t i = 0; i < operation->cores; ++i) {
    operation->weights[i] = range_of(registers, Reg0::WEIGHT_REGION, kBases[i], kLengths[i]);
    if (operation->weights[i].length == 0) continue;
    if (operation->weights[i].address % 16 != 0) return misaligned("the base of weights");
  }
  return {};
}

Fault decode_scales(const Registers& registers, KernelOperation* operation) {
  operation->scales[0] =
      range_of(registers, Reg0::SCALE_REGION, Reg1::SCALE_BASE, Reg1::SCALE_LENGTH);
  if (registers.generation() == Generation::kU65 && operation->cores == 2) {
    operation->scales[1] =
        range_of(registers, Reg0::SCALE_REGION, Reg1::SCALE1_BASE, Reg1::SCALE1_LENGTH);
  }
  for (const Range& range : operation->scales) {
    if (range.length != 0 && range.address % 16 != 0) return misaligned("the base of scales");
  }
  return {};
}

Fault decode_output(const Registers& registers, KernelOperation* operation) {
  const bool u85 = registers.generation() == Generation::kU85;
  operation->global_scale = ETHOS_U_FIELD(registers, OFM_PRECISION, scale_mode) != 0;
  operation->ofm_scale = decode_scale(
      registers, Reg1::OFM_SCALE, ETHOS_U_FIELD_POSITION(OFM_SCALE, shift),
      ETHOS_U_FIELD_POSITION(OFM_SCALE, double_round), ETHOS_U_FIELD_POSITION(OFM_SCALE, round));
  if (!u85)
    operation->ofm_scale.round =
        static_cast<uint8_t>(ETHOS_U_FIELD(registers, OFM_PRECISION, round));
  if (operation->ofm_scale.round > (u85 ? 5 : 2)) return bad("an unknown rounding");
  operation->reverse = static_cast<Reverse>(ETHOS_U_FIELD(registers, OFM_PRECISION, reverse));
  const uint32_t transpose = ETHOS_U_FIELD(registers, OFM_PRECISION, transpose);
  if (transpose == 4 || transpose == 5) return bad("an unknown transposition");
  operation->transpose = static_cast<Transpose>(transpose);
  operation->activation = static_cast<uint8_t>(ETHOS_U_FIELD(registers, ACTIVATION, function));
  operation->clip = static_cast<uint8_t>(ETHOS_U_FIELD(registers, ACTIVATION, clip));
  operation->table = static_cast<uint8_t>(ETHOS_U_FIELD(registers, ACTIVATION, table));
  constexpr uint32_t kClips556 = 1U << 0 | 1U << 2 | 1U << 3 | 1U << 5;
  if (!u85 && (kClips556 >> operation->clip & 1) == 0) return bad("an unknown clip range");
  operation->minimum = narrow_value(registers.get(Reg0::ACTIVATION_MIN), operation->ofm);
  operation->maximum = narrow_value(registers.get(Reg0::ACTIVATION_MAX), operation->ofm);
  return {};
}

Fault decode_accumulator(const Registers& registers, KernelOperation* operation) {
  const bool u85 = registers.generation() == Generation::kU85;
  operation->accumulator = static_cast<uint8_t>(ETHOS_U_FIELD(registers, ACC_FORMAT, format));
  const uint32_t input = ETHOS_U_FIELD(registers, ACC_FORMAT, input);
  const uint32_t microblock = ETHOS_U_FIELD(registers, ACC_FORMAT, microblock);
  if (operation->accumulator > (u85 ? 1 : 2) || input > 2 || microblock > 5) {
    return bad("an unknown format of accumulators");
  }
  operation->accumulator_input = static_cast<AccumulatorInput>(input);
  operation->accumulator_output = ETHOS_U_FIELD(registers, ACC_FORMAT, output) == 0;
  operation->microblock = static_cast<Microblock>(microblock);
  return {};
}

void decode_resize(const Registers& registers, KernelOperation* operation) {
  const auto offset = [](uint16_t value) {
    return static_cast<int32_t>(static_cast<uint32_t>(value) << 20) >> 20;
  };
  operation->resize_n_x = registers.get(Reg0::RESIZE_X_SCALE_N_M1) + 1U;
  operation->resize_n_y = registers.get(Reg0::RESIZE_Y_SCALE_N_M1) + 1U;
  operation->resize_offset_x = offset(registers.get(Reg0::RESIZE_X_OFFSET));
  operation->resize_offset_y = offset(registers.get(Reg0::RESIZE_Y_OFFSET));
  operation->resize_one_step_x = ETHOS_U_PAYLOAD_FIELD(registers, RESIZE_X, one_step);
  operation->resize_block_step_x = ETHOS_U_PAYLOAD_FIELD(registers, RESIZE_X, block_step);
  operation->resize_one_step_y = ETHOS_U_PAYLOAD_FIELD(registers, RESIZE_Y, one_step);
  operation->resize_block_step_y = ETHOS_U_PAYLOAD_FIELD(registers, RESIZE_Y, block_step);
  const uint32_t x = registers.word(Reg1::RESIZE_X);
  const uint32_t y = registers.word(Reg1::RESIZE_Y);
  operation->resize_one_step_mod_x = x & 0x7FF;
  operation->resize_block_step_mod_x = x >> 16 & 0x7FF;
  operation->resize_one_step_mod_y = y & 0x7FF;
  operation->resize_block_step_mod_y = y >> 16 & 0x7FF;
}

/// Returns the number of rows (or columns) that the kernel windows read, in the upscaled grid,
/// without padding.
int64_t window(uint32_t out, uint32_t stride, uint32_t kernel, uint32_t dilation, uint32_t pads) {
  return int64_t{out - 1} * stride + int64_t{kernel - 1} * dilation + 1 - int64_t{pads};
}

Fault size_ifm(const Registers& registers, KernelOperation* operation) {
  FeatureMap& ifm = operation->ifm;
  const FeatureMap& ofm = operation->ofm;
  const Kernel& kernel = operation->kernel;
  ifm.depth = registers.get(Reg0::IFM_DEPTH_M1) + 1U;
  if (operation->code == Operation::RESIZE) {
    ifm.height = registers.get(Reg0::KERNEL_HEIGHT_M1) + 1U;
    ifm.width = registers.get(Reg0::KERNEL_WIDTH_M1) + 1U;
    return {};
  }
  if (operation->code == Operation::ELEMENTWISE) {
    ifm.height = (operation->broadcast & 1) != 0 ? 1 : ofm.height;
    ifm.width = (operation->broadcast & 2) != 0 ? 1 : ofm.width;
    ifm.depth = (operation->broadcast & 4) != 0 ? 1 : ofm.depth;
    return {};
  }
  int64_t height = window(ofm.height, kernel.stride_y, kernel.height, kernel.dilation_y,
                          kernel.pad_top + kernel.pad_bottom);
  int64_t width = window(ofm.width, kernel.stride_x, kernel.width, kernel.dilation_x,
                         kernel.pad_left + kernel.pad_right);
  if (height < 1 || width < 1) return bad("a kernel window that contains only padding");
  if (operation->upscale != Upscale::kNone) height = (height + 1) / 2, width = (width + 1) / 2;
  if (height > 0x10000 || width > 0x10000) return bad("an input that is larger than 65536");
  ifm.height = static_cast<uint32_t>(height);
  ifm.width = static_cast<uint32_t>(width);
  return {};
}

Fault decode_second(const Registers& registers, KernelOperation* operation) {
  const bool u85 = registers.generation() == Generation::kU85;
  const bool elementwise = operation->code == Operation::ELEMENTWISE;
  const bool binary =
      elementwise && has_second_operand(static_cast<ElementwiseMode>(operation->mode));
  if (elementwise && u85) {
    operation->broadcast = static_cast<uint8_t>(registers.get(Reg0::IFM_BROADCAST));
    operation->scalar = static_cast<int32_t>(registers.word(Reg1::OP_SCALAR));
    if (operation->broadcast > 8) return bad("an unknown broadcast");
  }
  operation->has_ifm2 = binary || (operation->code == Operation::CONV && operation->mode == 1) ||
                        operation->accumulator_input == AccumulatorInput::kIfm2;
  if (!operation->has_ifm2) return {};
  if (const Fault fault = decode_map(registers, MapName::kIfm2, &operation->ifm2); !fault.none()) {
    return fault;
  }
  FeatureMap& ifm2 = operation->ifm2;
  ifm2.height = operation->ofm.height;
  ifm2.width = operation->ofm.width;
  ifm2.depth = operation->ofm.depth;
  if (operation->code == Operation::CONV && operation->mode == 1) {
    ifm2.height = 1;
    ifm2.width = operation->ofm.depth;
    ifm2.depth = registers.get(Reg0::IFM_DEPTH_M1) + 1U;
  }
  if (!binary) return {};
  const uint16_t word = registers.get(Reg0::IFM2_BROADCAST);
  operation->broadcast2 = static_cast<uint8_t>(word & (u85 ? 15 : 7));
  if (u85) {
    if (operation->broadcast2 > 8) return bad("an unknown broadcast");
    operation->ifm2_scalar = operation->broadcast2 == 8;
  } else {
    operation->ifm2_scalar = ETHOS_U_FIELD(registers, IFM2_BROADCAST, constant) != 0;
    operation->ifm2_first = ETHOS_U_FIELD(registers, IFM2_BROADCAST, operand_order) != 0;
    operation->scalar = ifm2.is_signed ? static_cast<int16_t>(registers.get(Reg0::IFM2_SCALAR))
                                       : registers.get(Reg0::IFM2_SCALAR);
  }
  if ((operation->broadcast2 & 1) != 0) ifm2.height = 1;
  if ((operation->broadcast2 & 2) != 0) ifm2.width = 1;
  if ((operation->broadcast2 & 4) != 0) ifm2.depth = 1;
  return {};
}

Fault check_output(const KernelOperation& operation) {
  const FeatureMap& ofm = operation.ofm;
  const uint32_t sizes[3] = {ofm.height, ofm.width, ofm.depth};
  // Axes of the operation that become rows and columns in memory, indexed by Transpose.
  constexpr uint8_t kRows[8] = {0, 1, 0, 1, 0, 0, 2, 2};
  constexpr uint8_t kColumns[8] = {1, 0, 2, 2, 0, 0, 0, 1};
  const auto transpose = static_cast<unsigned>(operation.transpose);
  return check_map(ofm, sizes[kRows[transpose]], sizes[kColumns[transpose]]);
}

/// Rejects combinations of registers that have no meaning.
Fault check_operation(const KernelOperation& operation, Generation generation) {
  const FeatureMap& ifm = operation.ifm;
  const FeatureMap& ifm2 = operation.ifm2;
  const FeatureMap& ofm = operation.ofm;
  const bool reads_ifm = operation.broadcast != 8;
  if (reads_ifm) {
    if (const Fault fault = check_map(ifm, ifm.height, ifm.width); !fault.none()) return fault;
    if (ifm.storage == Storage::kNone) return bad("an input with storage NONE");
  }
  if (operation.has_ifm2 && !operation.ifm2_scalar) {
    if (const Fault fault = check_map(ifm2, ifm2.height, ifm2.width); !fault.none()) return fault;
    if (ifm2.storage == Storage::kNone) return bad("an input with storage NONE");
  }
  if (const Fault fault = check_output(operation); !fault.none()) return fault;
  if (ifm.bits == 64) return bad("a 64-bit input that does not initialize accumulators");
  if (ifm.bits == 32 && !ifm.is_signed) return bad("a feature map of unsigned 32 bits");
  if (operation.code == Operation::DEPTHWISE && ifm.depth != ofm.depth) {
    return bad("a depthwise convolution whose depths differ");
  }
  if (ofm.storage == Storage::kChained &&
      (operation.transpose != Transpose::kHwc || operation.reverse != Reverse::kNone)) {
    return bad("a chained output that is transposed or reversed");
  }
  if (generation != Generation::kU85 && operation.upscale != Upscale::kNone &&
      operation.code == Operation::ELEMENTWISE) {
    return bad("an elementwise operation that upscales");
  }
  return {};
}

}  // namespace

Fault decode_kernel(const Config& config, const Registers& registers, Operation code,
                    uint16_t parameter, KernelOperation* operation) {
  *operation = {};
  operation->code = code;
  operation->mode = parameter;
  const bool u85 = config.generation == Generation::kU85;
  Fault fault = check_mode(code, parameter, config.generation);
  if (fault.none()) fault = decode_map(registers, MapName::kIfm, &operation->ifm);
  if (fault.none()) fault = decode_map(registers, MapName::kOfm, &operation->ofm);
  if (!fault.none()) return fault;
  operation->ofm.height = registers.get(Reg0::OFM_HEIGHT_M1) + 1U;
  operation->ofm.width = registers.get(Reg0::OFM_WIDTH_M1) + 1U;
  operation->ofm.depth = registers.get(Reg0::OFM_DEPTH_M1) + 1U;
  operation->block_height = registers.get(Reg0::OFM_BLK_HEIGHT_M1) + 1U;
  operation->block_width = registers.get(Reg0::OFM_BLK_WIDTH_M1) + 1U;
  operation->block_depth = registers.get(Reg0::OFM_BLK_DEPTH_M1) + 1U;
  operation->blockdep = static_cast<uint8_t>(registers.get(Reg0::BLOCKDEP));
  const uint16_t upscale = code == Operation::ELEMENTWISE ? 0 : registers.get(Reg0::IFM_UPSCALE);
  if (upscale > 2) return bad("an unknown upscaling");
  operation->upscale = static_cast<Upscale>(upscale);
  if (code != Operation::ELEMENTWISE && code != Operation::RESIZE) {
    decode_kernel_shape(registers, &operation->kernel);
  }
  fault = decode_accumulator(registers, operation);
  if (fault.none()) fault = decode_second(registers, operation);
  if (fault.none()) fault = size_ifm(registers, operation);
  if (fault.none()) fault = decode_output(registers, operation);
  if (fault.none()) fault = decode_cores(config, registers, operation);
  if (fault.none() && (code == Operation::CONV || code == Operation::DEPTHWISE) &&
      !(code == Operation::CONV && parameter == 1)) {
    fault = decode_weights(registers, operation);
  }
  if (fault.none() && !operation->global_scale && code != Operation::ELEMENTWISE) {
    fault = decode_scales(registers, operation);
  }
  if (!fault.none()) return fault;
  if (u85) {
    operation->ifm_scale = decode_scale(
        registers, Reg1::IFM_SCALE, ETHOS_U_FIELD_POSITION(IFM_SCALE, shift),
        ETHOS_U_FIELD_POSITION(IFM_SCALE, double_round), ETHOS_U_FIELD_POSITION(IFM_SCALE, round));
    operation->ifm2_scale =
        decode_scale(registers, Reg1::IFM2_SCALE, ETHOS_U_FIELD_POSITION(IFM2_SCALE, shift),
                     ETHOS_U_FIELD_POSITION(IFM2_SCALE, double_round),
                     ETHOS_U_FIELD_POSITION(IFM2_SCALE, round));
    if (code == Operation::RESIZE) decode_resize(registers, operation);
  } else {
    operation->ifm_scale = decode_scale(registers, Reg1::OPA_SCALE,
                                        ETHOS_U_FIELD_POSITION(OPA_SCALE, shift), Place{}, Place{});
    operation->ifm_scale.round =
        static_cast<uint8_t>(ETHOS_U_FIELD(registers, IFM_PRECISION, round));
    operation->ifm2_scale.multiplier = registers.word(Reg1::OPB_SCALE) & 0xFFFF;
    operation->ifm_scale_mode =
        static_cast<uint8_t>(ETHOS_U_FIELD(registers, IFM_PRECISION, scale_mode));
    if (operation->ifm_scale.round > 2 || operation->ifm_scale_mode > 2) {
      return bad("an unknown scaling of an input");
    }
    operation->ib_end = registers.get(Reg0::IFM_IB_END);
    operation->ib2_start = registers.get(Reg0::IFM2_IB_START);
    operation->ab_start = registers.get(Reg0::AB_START);
  }
  return check_operation(*operation, config.generation);
}

}  // namespace thimble::ethos_u::sim
