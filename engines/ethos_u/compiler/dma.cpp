// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/dma.h"

#include "engines/ethos_u/isa/isa.h"

namespace thimble::engine::ethos_u {
namespace {

using thimble::ethos_u::find_field;

/// One axis of a copy: how often, and how far apart.
struct CopyAxis {
  int64_t count, source, destination;
};

/// Axes from the outermost, without those of one step and with those merged that are one run.
std::vector<CopyAxis> axes_of(const NpuOp& op, int64_t bytes) {
  const Shape4& shape = op.ofm.shape;
  std::vector<CopyAxis> all = {{shape.h, op.ifm.stride_h * bytes, op.ofm.stride_h * bytes},
                               {shape.w, op.ifm.stride_w * bytes, op.ofm.stride_w * bytes},
                               {shape.c, op.ifm.stride_c * bytes, op.ofm.stride_c * bytes},
                               {bytes, 1, 1}};
  std::vector<CopyAxis> axes;
  for (const CopyAxis& axis : all) {
    if (axis.count == 1) continue;
    if (!axes.empty() && axes.back().source == axis.source * axis.count &&
        axes.back().destination == axis.destination * axis.count) {
      axes.back() = {axes.back().count * axis.count, axis.source, axis.destination};
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty() || axes.back().source != 1 || axes.back().destination != 1) {
    axes.push_back({1, 1, 1});
  }
  return axes;
}

int64_t address_of(const Schedule& schedule, const Operand& operand) {
  return schedule.tensors[static_cast<size_t>(operand.tensor)].address +
         operand.offset * (operand.element.bits / 8);
}
uint8_t region_of(const Schedule& schedule, const Operand& operand) {
  return schedule.tensors[static_cast<size_t>(operand.tensor)].region;
}

/// Copies one by one over the axes that the engine cannot walk itself.
void unroll(const std::vector<CopyAxis>& axes, size_t iterated, const Copy& copy,
            std::vector<Copy>* copies) {
  if (axes.size() <= iterated + 1) {
    Copy last = copy;
    last.bytes = axes.back().count;
    for (size_t i = 0; i + 1 < axes.size(); ++i) {
      const CopyAxis& axis = axes[axes.size() - 2 - i];
      last.counts[i] = axis.count;
      last.source_strides[i] = axis.source;
      last.destination_strides[i] = axis.destination;
    }
    copies->push_back(last);
    return;
  }
  const std::vector<CopyAxis> inner(axes.begin() + 1, axes.end());
  for (int64_t i = 0; i < axes[0].count; ++i) {
    Copy at = copy;
    at.source += i * axes[0].source;
    at.destination += i * axes[0].destination;
    unroll(inner, iterated, at, copies);
  }
}

}  // namespace

int64_t Copy::source_reach() const {
  if (indexed) return (index_maximum + 1) * source_strides[0];
  return bytes + (counts[0] - 1) * source_strides[0] + (counts[1] - 1) * source_strides[1];
}
int64_t Copy::destination_reach() const {
  return bytes + (counts[0] - 1) * destination_strides[0] +
         (counts[1] - 1) * destination_strides[1];
}

void write_copy(const Config& config, const Copy& copy, CommandStream* stream) {
  const Generation generation = config.generation;
  const auto field = [&](const char* reg, const char* name, uint32_t value) {
    return find_field(reg, name, generation).put(value);
  };
  const uint32_t iterated = copy.counts[1] > 1 ? 2 : copy.counts[0] > 1 ? 1 : 0;
  stream->set(Reg0::DMA0_SRC_REGION, field("DMA0_SRC_REGION", "region", copy.source_region) |
                                         field("DMA0_SRC_REGION", "stride_mode",
                                               generation == Generation::kU85 ? iterated : 0) |
                                         field("DMA0_SRC_REGION", "indexed", copy.indexed ? 1 : 0));
  stream->set(Reg0::DMA0_DST_REGION,
              field("DMA0_DST_REGION", "region", copy.destination_region) |
                  field("DMA0_DST_REGION", "internal", copy.internal ? 1 : 0));
  stream->set_address(Reg1::DMA0_SRC, copy.source);
  stream->set_address(Reg1::DMA0_DST, copy.destination);
  stream->set_address(Reg1::DMA0_LEN, copy.bytes);
  if (generation != Generation::kU85) return;
  stream->set(Reg0::DMA0_SIZE0, copy.counts[0]);
  if (iterated >= 1 || copy.indexed) {
    stream->set_address(Reg1::DMA0_SRC_STRIDE0, copy.source_strides[0]);
    stream->set_address(Reg1::DMA0_DST_STRIDE0, copy.destination_strides[0]);
  }
  if (iterated == 2) {
    stream->set(Reg0::DMA0_SIZE1, copy.counts[1]);
    stream->set_address(Reg1::DMA0_SRC_STRIDE1, copy.source_strides[1]);
    stream->set_address(Reg1::DMA0_DST_STRIDE1, copy.destination_strides[1]);
  }
  if (copy.indexed) {
    stream->set(Reg0::DMA0_IDX_REGION, copy.index_region);
    stream->set_address(Reg1::DMA0_IDX, copy.index);
    stream->set(Reg1::DMA0_IDX_MAX, copy.index_maximum);
  }
}

Result<std::vector<Copy>> copies_of(const NpuProgram& program, const Schedule& schedule,
                                    const NpuOp& op) {
  const int64_t bytes = op.ofm.element.bits / 8;
  const Generation generation = program.config->generation;
  Copy copy;
  copy.source_region = region_of(schedule, op.ifm);
  copy.destination_region = region_of(schedule, op.ofm);
  copy.source = address_of(schedule, op.ifm);
  copy.destination = address_of(schedule, op.ofm);
  std::vector<Copy> copies;
  if (op.ifm2) {
    if (generation != Generation::kU85) {
      return unsupported("{} does not support gather", program.config->name);
    }
    // Rows of the IFM are copied in the order of the OFM's rows.
    copy.indexed = true;
    copy.bytes = op.ofm.shape.w * op.ofm.shape.c * bytes;
    copy.counts[0] = op.ofm.shape.h;
    copy.source_strides[0] = op.ifm.stride_h * bytes;
    copy.destination_strides[0] = op.ofm.stride_h * bytes;
    copy.index_region = region_of(schedule, *op.ifm2);
    copy.index = address_of(schedule, *op.ifm2);
    copy.index_maximum = op.ifm.shape.h - 1;
    copies.push_back(copy);
    return copies;
  }
  unroll(axes_of(op, bytes), generation == Generation::kU85 ? 2 : 0, copy, &copies);
  for (const Copy& one : copies) {
    const bool aligned = (one.source | one.destination | one.bytes) % 16 == 0;
    if (generation == Generation::kU55 && !aligned) {
      return unsupported("{} copies multiples of 16 bytes, not {} from {} to {}",
                         program.config->name, one.bytes, one.source, one.destination);
    }
  }
  return copies;
}

}  // namespace thimble::engine::ethos_u
