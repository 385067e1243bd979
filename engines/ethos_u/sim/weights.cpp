// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/weights.h"

#include <string.h>

namespace thimble::ethos_u::sim {
namespace {

constexpr uint32_t kRecordBytes = 10;
constexpr uint64_t kNone = UINT64_MAX;

uint64_t times(uint64_t a, uint64_t b) {
  return a != 0 && b > kNone / a ? kNone : a * b;
}

uint32_t block_channels(const KernelOperation& operation, uint32_t first) {
  const uint32_t left = operation.ofm.depth - first;
  return left < operation.block_depth ? left : operation.block_depth;
}

uint64_t elements(const KernelOperation& operation, uint32_t channels) {
  const uint64_t in = operation.code == Operation::DEPTHWISE ? 1 : operation.ifm.depth;
  return times(times(times(channels, operation.kernel.height), operation.kernel.width), in);
}

/// Stores each weight of a stream at its index in the dense array.
struct Filler {
  const WeightLoops* loops = nullptr;
  MlwStream* mlw = nullptr;
  FwdStream* fwd = nullptr;
  int16_t* dense = nullptr;
  WeightStatus status = WeightStatus::kOk;
  uint32_t in_group = 0, used_in_group = 0;  // state of 2:4 sparsity
};

/// Checks 2:4 sparsity: of every four weights along the depth at most two are nonzero, and these
/// fit in eight bits.
bool sparse(Filler* filler, int32_t weight) {
  if (weight != 0) ++filler->used_in_group;
  if (weight < -127 || weight > 127 || filler->used_in_group > 2) return false;
  if (++filler->in_group == 4) filler->in_group = filler->used_in_group = 0;
  return true;
}

bool fill(void* user, const WeightPlace& at) {
  auto* filler = static_cast<Filler*>(user);
  int32_t weight = 0;
  filler->status = filler->mlw != nullptr ? filler->mlw->next(&weight) : filler->fwd->next(&weight);
  if (filler->status != WeightStatus::kOk) return false;
  if (!at.inside) {
    if (weight != 0) filler->status = WeightStatus::kBadPadding;
    if (filler->loops->sparse) {
      if (++filler->in_group == 4) filler->in_group = filler->used_in_group = 0;
    }
    return weight == 0;
  }
  const WeightLoops& loops = *filler->loops;
  const uint64_t index =
      ((uint64_t{at.out} * loops.height + at.y) * loops.width + at.x) * loops.in + at.in;
  filler->dense[index] = static_cast<int16_t>(weight);
  if (loops.sparse && !sparse(filler, weight)) filler->status = WeightStatus::kNotSparse;
  return filler->status == WeightStatus::kOk;
}

int64_t bias_of(const uint8_t* record, uint32_t bytes) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) value |= uint64_t{record[i]} << (8 * i);
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  return static_cast<int64_t>((value ^ sign) - sign);
}

uint32_t multiplier_of(const uint8_t* record, uint32_t bytes) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) value |= uint32_t{record[i]} << (8 * i);
  return value;
}

}  // namespace

uint64_t block_elements(const KernelOperation& operation) {
  return elements(operation, block_channels(operation, 0));
}

WeightStatus WeightDecoder::begin(const Config& config, const KernelOperation& operation,
                                  const Bytes* streams) {
  operation_ = &operation;
  channel_ = 0;
  if (!weight_loops(config, operation, &loops_)) return WeightStatus::kBadOperation;
  fast_ = operation.fast_weights && loops_.u85;
  for (uint32_t core = 0; core < loops_.cores; ++core) {
    if (!fast_) {
      mlw_[core].begin(streams[core]);
      continue;
    }
    const WeightStatus status =
        fwd_[core].begin(streams[0], core, loops_.cores, shared_piece(loops_));
    if (status != WeightStatus::kOk) return status;
  }
  return WeightStatus::kOk;
}

WeightStatus WeightDecoder::next(int16_t* dense, uint64_t capacity) {
  if (channel_ >= operation_->ofm.depth) return WeightStatus::kTruncated;
  const uint32_t channels = block_channels(*operation_, channel_);
  const uint64_t count = elements(*operation_, channels);
  if (count > capacity) return WeightStatus::kCapacity;
  for (uint32_t core = 0; core < loops_.cores; ++core) {
    Filler filler;
    filler.loops = &loops_;
    filler.mlw = fast_ ? nullptr : &mlw_[core];
    filler.fwd = &fwd_[core];
    filler.dense = dense;
    const WeightVisitor visitor = {&filler, fill};
    if (!traverse_weights(loops_, core, channel_ / operation_->block_depth, channels, visitor)) {
      return filler.status;
    }
  }
  channel_ += channels;
  return WeightStatus::kOk;
}

WeightStatus WeightDecoder::finish() {
  for (uint32_t core = 0; core < loops_.cores; ++core) {
    const WeightStatus status = fast_ ? fwd_[core].finish() : mlw_[core].finish();
    if (status != WeightStatus::kOk) return status;
  }
  return WeightStatus::kOk;
}

WeightStatus scale_record(const Config& config, const KernelOperation& operation,
                          const Bytes* streams, uint32_t channel, ScaleRecord* record) {
  const bool u85 = config.generation == Generation::kU85;
  const uint32_t cores = u85 ? 1 : operation.cores;
  if (cores < 1 || cores > config.cores) return WeightStatus::kBadOperation;
  const Bytes stream = streams[channel % cores];
  const uint64_t first = uint64_t{channel / cores} * kRecordBytes;
  if (stream.size < kRecordBytes || first > stream.size - kRecordBytes) {
    return WeightStatus::kTruncated;
  }
  const uint8_t* bytes = stream.data + first;
  if (!u85) {
    *record = {bias_of(bytes, 5), multiplier_of(bytes + 5, 4),
               static_cast<uint8_t>(bytes[9] & 0x3F)};
  } else if (operation.accumulator == 0) {
    *record = {bias_of(bytes, 4), multiplier_of(bytes + 4, 4) & 0x7FFFFFFF,
               static_cast<uint8_t>(bytes[8] & 0x3F)};
  } else {
    *record = {bias_of(bytes, 6), multiplier_of(bytes + 6, 2) & 0x7FFF,
               static_cast<uint8_t>(bytes[8] & 0x3F)};
  }
  return WeightStatus::kOk;
}

}  // namespace thimble::ethos_u::sim
