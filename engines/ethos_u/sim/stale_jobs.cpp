// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/stale_jobs.h"

#include <string.h>

#include "engines/ethos_u/sim/exec/maps.h"
#include "engines/ethos_u/sim/execute.h"

namespace thimble::ethos_u::sim {
namespace {

bool lies_in_memory(const FeatureMap& map) {
  return map.storage == Storage::kTile2x2 || map.storage == Storage::kTile3x1;
}

uint64_t element_address(const FeatureMap& map, uint32_t y, uint32_t x, uint32_t c) {
  const uint32_t elem = map.bits / 8U;
  const uint64_t pixel = pixel_address(map, y, x);
  if (map.format == Format::kNhwc) return pixel + uint64_t{c} * elem;
  return pixel + static_cast<uint64_t>(int64_t{c / 16} * map.stride_c) + uint64_t{c % 16} * elem;
}

/// Returns the address at which element (y, x, c) of the OFM is written.
uint64_t ofm_address(const KernelOperation& operation, uint32_t y, uint32_t x, uint32_t c) {
  const Box at = in_memory(operation, {y, y + 1, x, x + 1, c, c + 1});
  return element_address(operation.ofm, at.y0, at.x0, at.c0);
}

/// Calls visit(y, x, c) for every element of a map.
template <typename Visit>
void each(const FeatureMap& map, const Visit& visit) {
  for (uint32_t y = 0; y < map.height; ++y) {
    for (uint32_t x = 0; x < map.width; ++x) {
      for (uint32_t c = 0; c < map.depth; ++c) visit(y, x, c);
    }
  }
}

void mark(uint8_t* shadow, uint64_t size, uint64_t address, uint32_t elem, uint8_t value) {
  for (uint32_t i = 0; i < elem && address + i < size; ++i) shadow[address + i] = value;
}

}  // namespace

bool StaleJobs::prepare(const Config& config, const KernelOperation& before,
                        const KernelOperation& operation) {
  depth_ = operation.blockdep;
  if (depth_ == 0 || !lies_in_memory(before.ofm) || !lies_in_memory(operation.ofm) ||
      !before.accumulator_output || !operation.accumulator_output || continues_chain(operation)) {
    return false;
  }
  const Jobs jobs(config, operation);
  const Jobs jobs_before(config, before);
  slices_ = jobs.jobs_per_block();
  blocks_ = jobs.blocks();
  before_region_ = before.ofm.region;
  own_region_ = operation.ofm.region;
  memset(memory_, 0, static_cast<size_t>(kShadows * bytes_));
  each(before.ofm, [&](uint32_t y, uint32_t x, uint32_t c) {
    const uint64_t back = jobs_before.blocks() - 1 - jobs_before.block_of(y, x, c);
    if (back >= depth_) return;
    mark(writer(), bytes_, ofm_address(before, y, x, c), before.ofm.bits / 8U,
         static_cast<uint8_t>(back + 1));
  });
  bool overlaps = false;
  const auto look = [&](const FeatureMap& map, uint32_t slice_depth) {
    if (!lies_in_memory(map) || map.region != before_region_) return;
    each(map, [&](uint32_t y, uint32_t x, uint32_t c) {
      const uint64_t address = element_address(map, y, x, c);
      if (address >= bytes_ || writer()[address] == 0) return;
      overlaps = true;
      const uint32_t index = slice_depth == 0 ? 0 : c / slice_depth;
      mark(slice(), bytes_, address, map.bits / 8U,
           static_cast<uint8_t>(index < 255 ? index : 255));
    });
  };
  if (operation.broadcast != 8) look(operation.ifm, jobs.slice_depth());
  if (operation.has_ifm2 && !operation.ifm2_scalar) look(operation.ifm2, 0);
  if (!overlaps) return false;
  each(operation.ofm, [&](uint32_t y, uint32_t x, uint32_t c) {
    const uint64_t block = jobs.block_of(y, x, c);
    if (block * slices_ >= depth_) return;
    mark(owner(), bytes_, ofm_address(operation, y, x, c), operation.ofm.bits / 8U,
         static_cast<uint8_t>(block + 1));
  });
  return true;
}

bool StaleJobs::choose(uint32_t block) {
  block_ = block;
  return block < blocks_ && block * slices_ < depth_;
}

WriteLog::Filter StaleJobs::seen() {
  return {this, [](void* user, uint8_t region, uint64_t address) {
            auto* self = static_cast<StaleJobs*>(user);
            if (region != self->before_region_ || address >= self->bytes_) return true;
            const uint32_t writer = self->writer()[address];
            if (writer == 0) return true;
            const uint32_t job = self->block_ * self->slices_ + self->slice()[address];
            return writer - 1 + job >= self->depth_;
          }};
}

WriteLog::Filter StaleJobs::own() {
  return {this, [](void* user, uint8_t region, uint64_t address) {
            auto* self = static_cast<StaleJobs*>(user);
            return region == self->own_region_ && address < self->bytes_ &&
                   self->owner()[address] == self->block_ + 1;
          }};
}

}  // namespace thimble::ethos_u::sim
