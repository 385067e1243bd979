// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/decode_parts.h"

namespace thimble::ethos_u::sim {
namespace {

struct MapRegisters {
  Reg0 precision, region, zero_point, width0, height0, height1;
  Reg1 base, stride_x, stride_y, stride_c;
  Place is_signed, bits, format, storage;
};

// The registers of the three maps have the same names after the prefix IFM, IFM2 or OFM.
#define THIMBLE_MAP(name)                                                                         \
  {                                                                                               \
    Reg0::name##_PRECISION, Reg0::name##_REGION, Reg0::name##_ZERO_POINT, Reg0::name##_WIDTH0_M1, \
        Reg0::name##_HEIGHT0_M1, Reg0::name##_HEIGHT1_M1, Reg1::name##_BASE0,                     \
        Reg1::name##_STRIDE_X, Reg1::name##_STRIDE_Y, Reg1::name##_STRIDE_C,                      \
        place(#name "_PRECISION", "signed"), place(#name "_PRECISION", "precision"),              \
        place(#name "_PRECISION", "format"), place(#name "_PRECISION", "storage")                 \
  }
constexpr MapRegisters kMaps[] = {THIMBLE_MAP(IFM), THIMBLE_MAP(IFM2), THIMBLE_MAP(OFM)};
#undef THIMBLE_MAP

}  // namespace

int32_t narrow_value(uint16_t value, const FeatureMap& map) {
  if (map.bits == 16 && !map.is_signed) return value;
  return static_cast<int16_t>(value);
}

Fault decode_map(const Registers& registers, MapName name, FeatureMap* map) {
  const MapRegisters& codes = kMaps[static_cast<unsigned>(name)];
  map->region = static_cast<uint8_t>(registers.get(codes.region));
  map->bits = static_cast<uint8_t>(8U << registers.get(codes.precision, codes.bits));
  map->is_signed = registers.get(codes.precision, codes.is_signed) != 0;
  const uint32_t format = registers.get(codes.precision, codes.format);
  if (format > 1) return bad("a feature map of an unknown format");
  map->format = static_cast<Format>(format);
  map->storage = static_cast<Storage>(registers.get(codes.precision, codes.storage));
  map->width0 = registers.get(codes.width0) + 1U;
  map->height0 = registers.get(codes.height0) + 1U;
  map->height1 = registers.get(codes.height1) + 1U;
  map->zero_point = narrow_value(registers.get(codes.zero_point), *map);
  for (uint16_t i = 0; i < 4; ++i) {
    map->base[i] = registers.address(static_cast<Reg1>(static_cast<uint16_t>(codes.base) + i));
  }
  map->stride_x = registers.stride(codes.stride_x);
  map->stride_y = registers.stride(codes.stride_y);
  map->stride_c = registers.stride(codes.stride_c);
  return {};
}

Fault check_map(const FeatureMap& map, uint32_t rows, uint32_t columns) {
  if (map.storage == Storage::kChained) {
    if (map.region >= 6) return bad("a chaining buffer that does not exist");
    return {};
  }
  if (map.storage == Storage::kNone) return {};
  const uint32_t grid = map.format == Format::kNhcwb16 ? 16 : map.bits / 8U;
  const bool used[4] = {true, columns > map.width0, rows > map.height0,
                        columns > map.width0 && rows > map.height1};
  for (int i = 0; i < 4; ++i) {
    if (used[i] && map.base[i] % grid != 0) return misaligned("the base of a feature map");
  }
  if (map.stride_y % static_cast<int64_t>(grid) != 0 ||
      map.stride_x % static_cast<int64_t>(grid) != 0) {
    return misaligned("a stride of a feature map");
  }
  if (map.format == Format::kNhcwb16 && map.stride_c % 16 != 0) {
    return misaligned("the channel stride of a feature map in bricks");
  }
  return {};
}

}  // namespace thimble::ethos_u::sim
