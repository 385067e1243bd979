// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/weights/fast.h"

#include <algorithm>
#include <array>

#include "engines/ethos_u/compiler/weights/mlw_writer.h"

namespace thimble::engine::ethos_u {
namespace {

constexpr size_t kTable = 16;
constexpr size_t kFastAlign = 32;

/// Returns the offset that moves the weights to the range of signed bytes; nullopt if there is
/// none.
std::optional<int> adjustment(std::span<const int16_t> weights) {
  const auto [low, high] = std::minmax_element(weights.begin(), weights.end());
  if (*high - *low > 255) return std::nullopt;
  if (*low < -128) return -128 - *low;
  return std::min(0, 127 - *high);
}

/// Returns the distinct weights in order of appearance; stops after kTable + 1.
std::vector<int16_t> distinct(std::span<const int16_t> weights) {
  std::vector<int16_t> table;
  for (const int16_t weight : weights) {
    if (std::find(table.begin(), table.end(), weight) != table.end()) continue;
    table.push_back(weight);
    if (table.size() > kTable) break;
  }
  return table;
}

void write_header(bool raw, bool small, int adjust, const std::vector<int16_t>& table,
                  mlw::BitWriter* bits) {
  bits->put(raw ? 1 : 0, 1);
  bits->put(small ? 1 : 0, 1);
  for (int i = 0; i < 102; i += 6) bits->put(0, 6);
  bits->put(static_cast<uint32_t>(adjust) & 0xFFU, 8);
  for (size_t i = 0; i < kTable; ++i) bits->put(i < table.size() ? mlw::fold(table[i]) : 0, 9);
}

}  // namespace

std::optional<std::vector<std::byte>> encode_fast(std::span<const int16_t> weights, bool raw) {
  if (weights.empty()) return std::nullopt;
  std::vector<int16_t> table = distinct(weights);
  raw = raw || table.size() > kTable;
  const bool small = !raw && table.size() <= 4;
  std::optional<int> adjust = 0;
  if (raw) {
    table.clear();
    adjust = adjustment(weights);
    if (!adjust) return std::nullopt;
  }
  mlw::BitWriter bits;
  write_header(raw, small, *adjust, table, &bits);
  for (const int16_t weight : weights) {
    if (raw) {
      bits.put(static_cast<uint32_t>(weight + *adjust) & 0xFFU, 8);
    } else {
      const auto at = std::find(table.begin(), table.end(), weight) - table.begin();
      bits.put(static_cast<uint32_t>(at), small ? 2 : 4);
    }
  }
  return bits.finish(kFastAlign, std::byte{0});
}

int64_t fast_bytes(std::span<const int16_t> weights, bool raw) {
  const size_t values = raw ? kTable + 1 : distinct(weights).size();
  const size_t width = values > kTable ? 8 : values > 4 ? 4 : 2;
  const size_t bytes = kFastAlign + (weights.size() * width + 7) / 8;
  return static_cast<int64_t>((bytes + kFastAlign - 1) / kFastAlign * kFastAlign);
}

}  // namespace thimble::engine::ethos_u
