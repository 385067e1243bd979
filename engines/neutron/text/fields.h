// SPDX-License-Identifier: Apache-2.0
#pragma once
// Table of the numbers in a kernel record that are not views: their position, their name in the
// text, and their default value.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "engines/neutron/container/program.h"

namespace thimble::neutron::text {

enum class Number : uint8_t {
  kU8,
  kU16,
  kI32,
  kU32,
  kOffset
};  // kOffset: u32; 0xFFFFFFFF is written `none`

inline constexpr uint32_t kCountMax = 3;

struct Field {
  std::string_view name;
  size_t offset;  // in KernelRecord
  Number number;
  uint32_t count;
  int64_t default_values[kCountMax];
};

inline constexpr Field kFields[] = {
    {"window", offsetof(KernelRecord, kernel_h), Number::kU16, 2, {0, 0}},
    {"stride", offsetof(KernelRecord, stride_h), Number::kU16, 2, {1, 1}},
    {"dilation", offsetof(KernelRecord, dilation_h), Number::kU16, 2, {1, 1}},
    {"pad", offsetof(KernelRecord, pad_top), Number::kU16, 2, {0, 0}},
    {"reduced", offsetof(KernelRecord, reduced), Number::kU8, 1, {0}},
    {"rounding", offsetof(KernelRecord, rounding), Number::kU8, 1, {0}},
    {"zero", offsetof(KernelRecord, a_zero_point), Number::kI32, 3, {0, 0, 0}},
    {"min", offsetof(KernelRecord, min), Number::kI32, 1, {-128}},
    {"max", offsetof(KernelRecord, max), Number::kI32, 1, {127}},
    {"multiplier", offsetof(KernelRecord, multiplier), Number::kI32, 3, {0, 0, 0}},
    {"shift", offsetof(KernelRecord, shift), Number::kI32, 3, {0, 0, 0}},
    {"scales", offsetof(KernelRecord, scale_count), Number::kOffset, 3, {0, kAbsent, kAbsent}},
    {"weights", offsetof(KernelRecord, weights), Number::kOffset, 1, {kAbsent}},
    {"bias", offsetof(KernelRecord, bias), Number::kOffset, 1, {kAbsent}},
    {"table", offsetof(KernelRecord, table), Number::kOffset, 1, {kAbsent}},
    {"data", offsetof(KernelRecord, data), Number::kOffset, 1, {kAbsent}},
    {"fill", offsetof(KernelRecord, fill), Number::kI32, 1, {0}},
    {"prefetch", offsetof(KernelRecord, prefetch_from), Number::kU32, 3, {0, 0, 0}},
    {"macs", offsetof(KernelRecord, macs), Number::kU32, 1, {0}},
    {"cycles", offsetof(KernelRecord, cycles), Number::kU32, 1, {0}},
};

constexpr size_t bytes_of(Number number) {
  return number == Number::kU8 ? 1 : number == Number::kU16 ? 2 : 4;
}

inline int64_t load(const KernelRecord& record, const Field& field, uint32_t index) {
  uint32_t value = 0;  // little-endian, as in the format
  const size_t bytes = bytes_of(field.number);
  std::memcpy(&value, reinterpret_cast<const std::byte*>(&record) + field.offset + index * bytes,
              bytes);
  return field.number == Number::kI32 ? int64_t{static_cast<int32_t>(value)} : int64_t{value};
}

/// Stores the number; returns false if the field is too small for it.
inline bool store(KernelRecord& record, const Field& field, uint32_t index, int64_t value) {
  const size_t bytes = bytes_of(field.number);
  const int64_t low = field.number == Number::kI32 ? INT32_MIN : 0;
  const int64_t high = field.number == Number::kI32 ? INT32_MAX : (int64_t{1} << (8 * bytes)) - 1;
  if (value < low || value > high) return false;
  const auto raw = static_cast<uint32_t>(value);
  std::memcpy(reinterpret_cast<std::byte*>(&record) + field.offset + index * bytes, &raw, bytes);
  return true;
}

}  // namespace thimble::neutron::text
