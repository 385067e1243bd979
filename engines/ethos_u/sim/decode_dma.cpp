// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/decode_parts.h"

namespace thimble::ethos_u::sim {
namespace {

Fault decode_dma_shape(const Config& config, const Registers& registers, DmaOperation* operation) {
  const bool u85 = config.generation == Generation::kU85;
  const bool indexed = operation->gather || operation->scatter;
  if (operation->dimensions > 1 || (u85 && indexed)) {
    operation->size0 = registers.get(Reg0::DMA0_SIZE0);
  }
  if (operation->dimensions > 2) operation->size1 = registers.get(Reg0::DMA0_SIZE1);
  if (operation->size0 == 0 || operation->size1 == 0) return bad("a DMA with 0 rows");
  const auto length = static_cast<int64_t>(operation->length);
  if (!u85) {
    operation->source_stride0 = length;
    operation->source_stride1 = length * operation->size0;
    if (operation->dimensions > 1) {
      operation->destination_stride0 = length + registers.stride(Reg1::DMA0_SKIP0);
    }
    if (operation->dimensions > 2) {
      operation->destination_stride1 =
          length * operation->size0 + registers.stride(Reg1::DMA0_SKIP1);
    }
    return {};
  }
  operation->source_stride0 = registers.stride(Reg1::DMA0_SRC_STRIDE0);
  operation->destination_stride0 = registers.stride(Reg1::DMA0_DST_STRIDE0);
  operation->source_stride1 = registers.stride(Reg1::DMA0_SRC_STRIDE1);
  operation->destination_stride1 = registers.stride(Reg1::DMA0_DST_STRIDE1);
  if (!indexed) return {};
  operation->index_region = static_cast<uint8_t>(registers.get(Reg0::DMA0_IDX_REGION));
  operation->index = registers.address(Reg1::DMA0_IDX);
  operation->index_maximum = registers.word(Reg1::DMA0_IDX_MAX);
  operation->index_skip = registers.stride(Reg1::DMA0_IDX_SKIP1);
  return operation->index % 4 == 0 ? Fault{} : misaligned("the indices of a DMA");
}

}  // namespace

Fault decode_dma(const Config& config, const Registers& registers, DmaOperation* operation) {
  *operation = {};
  operation->source_region =
      static_cast<uint8_t>(ETHOS_U_FIELD(registers, DMA0_SRC_REGION, region));
  operation->destination_region =
      static_cast<uint8_t>(ETHOS_U_FIELD(registers, DMA0_DST_REGION, region));
  operation->source_internal = ETHOS_U_FIELD(registers, DMA0_SRC_REGION, internal) != 0;
  operation->destination_internal = ETHOS_U_FIELD(registers, DMA0_DST_REGION, internal) != 0;
  operation->gather = ETHOS_U_FIELD(registers, DMA0_SRC_REGION, indexed) != 0;
  operation->scatter = ETHOS_U_FIELD(registers, DMA0_DST_REGION, indexed) != 0;
  operation->source = registers.address(Reg1::DMA0_SRC);
  operation->destination = registers.address(Reg1::DMA0_DST);
  operation->length = registers.address(Reg1::DMA0_LEN);
  const uint32_t source_mode = ETHOS_U_FIELD(registers, DMA0_SRC_REGION, stride_mode);
  const uint32_t destination_mode = ETHOS_U_FIELD(registers, DMA0_DST_REGION, stride_mode);
  const uint32_t mode = config.generation == Generation::kU65 ? destination_mode : source_mode;
  if (mode > 2 || (config.generation == Generation::kU55 && (mode != 0 || destination_mode != 0)) ||
      (config.generation == Generation::kU65 && source_mode != 0)) {
    return bad("a DMA of an unknown mode");
  }
  operation->dimensions = static_cast<uint8_t>(1 + mode);
  if (operation->gather && operation->scatter) return bad("a DMA that gathers and scatters");
  if (operation->length == 0) return bad("a DMA with 0 bytes");
  if (config.generation == Generation::kU55 &&
      (operation->source % 16 != 0 || operation->destination % 16 != 0 ||
       operation->length % 16 != 0)) {
    return misaligned("a DMA address or size that is not a multiple of 16 bytes");
  }
  if ((operation->destination_internal && operation->destination % 16 != 0) ||
      (operation->source_internal && operation->source % 16 != 0) ||
      ((operation->source_internal || operation->destination_internal) &&
       operation->length % 16 != 0)) {
    return misaligned("a LUT DMA address or size that is not a multiple of 16 bytes");
  }
  return decode_dma_shape(config, registers, operation);
}

}  // namespace thimble::ethos_u::sim
