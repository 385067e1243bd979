// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constants of a configuration that determine block sizes and their cost; rows in costs.def. Only
// the compiler uses them; the simulator's timeline has its own constants.

#include "engines/ethos_u/isa/config.h"

namespace thimble::ethos_u {

/// Allocation granules of the SHRAM in banks, by content of the buffer.
struct Granules {
  const char* config;
  uint8_t ifm8, ifm16, elementwise8, elementwise16, wide32, accumulator32, accumulator40;
};
inline constexpr Granules kGranules[] = {
#define ETHOS_U_GRANULES(name, i8, i16, e8, e16, w32, a32, a40) \
  {name, i8, i16, e8, e16, w32, a32, a40},
#include "engines/ethos_u/isa/costs.def"
};

/// Kinds of operation for which a microblock can be used; MicroblockUse holds sets of them.
enum BlockUser : uint16_t {
  kUseConv = 1,  // kernels larger than 1x1, and 1x1 part-kernel-first
  kUseConv1x1 = 2,
  kUseMatmul = 4,
  kUseDepthwise = 8,
  kUsePool = 16,
  kUseReduceSum = 32,
  kUseElementwise = 64,
  kUseResize = 128,
  kUseMacs = kUseConv | kUseConv1x1,
};
struct MicroblockUse {
  const char* config;
  uint8_t height, width;
  uint16_t depth;
  uint16_t users8, users16, users32;  // by bits of the IFM
};
inline constexpr MicroblockUse kMicroblockUses[] = {
#define ETHOS_U_MICROBLOCK_USE(name, h, w, d, u8, u16, u32) {name, h, w, d, u8, u16, u32},
#include "engines/ethos_u/isa/costs.def"
};

/// Cycles of the output stage per element of the OFM, U55 and U65.
struct OutputCycles556 {
  const char* config;
  double unary32, binary32, mul32, mul, add, max_pool, other, table;
};
inline constexpr OutputCycles556 kOutputCycles556[] = {
#define ETHOS_U_OUTPUT_556(name, u32, b32, m32, mul, add, pool, other, table) \
  {name, u32, b32, m32, mul, add, pool, other, table},
#include "engines/ethos_u/isa/costs.def"
};
/// Cycles of the output stage per element of the OFM, U85, by bits of the OFM.
struct OutputCycles85 {
  const char* config;
  double ofm8, ofm16, ofm32, ofm64, narrowed32, binary32, table;
};
inline constexpr OutputCycles85 kOutputCycles85[] = {
#define ETHOS_U_OUTPUT_85(name, o8, o16, o32, o64, n32, b32, table) \
  {name, o8, o16, o32, o64, n32, b32, table},
#include "engines/ethos_u/isa/costs.def"
};

/// Returns the row of a configuration. Each table has a row for every configuration of its
/// generations.
template <typename Row, size_t kCount>
[[nodiscard]] constexpr const Row* find_row(const Row (&rows)[kCount], const char* config) {
  for (const Row& row : rows) {
    if (same_text(row.config, config)) return &row;
  }
  return nullptr;
}

}  // namespace thimble::ethos_u
