// SPDX-License-Identifier: Apache-2.0
// RESIZE (U85): output position x reads input position (x * d + offset) / n of each axis.

#include "engines/ethos_u/sim/exec/exec.h"

namespace thimble::ethos_u::sim {
namespace {

/// Two neighbouring input positions, and the fraction between them in units of 1/n.
struct Position {
  uint32_t low = 0, high = 0;
  int64_t fraction = 0, n = 1;
};

uint32_t clamp(int64_t value, uint32_t size) {
  if (value < 0) return 0;
  return value >= int64_t{size} ? size - 1 : static_cast<uint32_t>(value);
}

Position position_of(uint32_t out, uint32_t step, uint32_t step_mod, uint32_t n, int32_t offset,
                     uint32_t size) {
  const int64_t d = int64_t{step} * n + step_mod;
  const int64_t at = out * d + offset;
  int64_t whole = at / n;
  if (at - whole * n < 0) --whole;
  Position position;
  position.fraction = at - whole * n;
  position.n = n;
  position.low = clamp(whole, size);
  position.high = clamp(whole + 1, size);
  return position;
}

/// NEAREST rounds to a neighbour; REPLICATE always uses the lower one.
uint32_t pick(const Position& position, bool rounds) {
  return rounds && position.fraction >= position.n / 2 ? position.high : position.low;
}

bool bilinear(Reader& reader, const Position& y, const Position& x, uint32_t c, uint32_t n,
              int64_t zero, int64_t* result) {
  const uint32_t rows[2] = {y.low, y.high};
  const uint32_t columns[2] = {x.low, x.high};
  const int64_t of_row[2] = {y.n - y.fraction, y.fraction};
  const int64_t of_column[2] = {x.n - x.fraction, x.fraction};
  for (uint32_t i = 0; i < n; ++i) result[i] = 0;
  for (int j = 0; j < 2; ++j) {
    for (int k = 0; k < 2; ++k) {
      int32_t values[kRow];
      if (!reader.row(rows[j], columns[k], c, n, values)) return false;
      const int64_t weight = of_row[j] * of_column[k];
      for (uint32_t i = 0; i < n; ++i) result[i] += (values[i] - zero) * weight;
    }
  }
  return true;
}

bool one_row(Reader& reader, const Position& y, const Position& x, uint32_t c, uint32_t n,
             bool rounds, int64_t* result) {
  int32_t values[kRow];
  if (!reader.row(pick(y, rounds), pick(x, rounds), c, n, values)) return false;
  const int64_t zero = reader.map().zero_point;
  for (uint32_t i = 0; i < n; ++i) result[i] = values[i] - zero;
  return true;
}

}  // namespace

Fault execute_resize(const Context& context) {
  const KernelOperation& operation = context.operation;
  const FeatureMap& ifm = operation.ifm;
  const FeatureMap& ofm = operation.ofm;
  Reader reader(ifm, context.memory);
  Output output(context.config, operation, context.memory);
  if (!output.ready()) return context.memory.fault();
  if (ifm.depth != ofm.depth) {
    return fault_of(FaultKind::kBadRegister, "a resize whose depths differ");
  }
  const auto mode = static_cast<ResizeMode>(operation.mode);
  for (uint32_t y = 0; y < ofm.height; ++y) {
    const Position row =
        position_of(y, operation.resize_one_step_y, operation.resize_one_step_mod_y,
                    operation.resize_n_y, operation.resize_offset_y, ifm.height);
    for (uint32_t x = 0; x < ofm.width; ++x) {
      const Position column =
          position_of(x, operation.resize_one_step_x, operation.resize_one_step_mod_x,
                      operation.resize_n_x, operation.resize_offset_x, ifm.width);
      for (uint32_t c = 0; c < ofm.depth; c += kRow) {
        const uint32_t n = ofm.depth - c < kRow ? ofm.depth - c : kRow;
        int64_t values[kRow];
        const bool read =
            mode == ResizeMode::kBilinear
                ? bilinear(reader, row, column, c, n, ifm.zero_point, values)
                : one_row(reader, row, column, c, n, mode == ResizeMode::kNearest, values);
        if (!read) return context.memory.fault();
        // The result has 16 fractional bits for the scale.
        for (uint32_t i = 0; i < n; ++i) values[i] *= 0x10000;
        if (!output.global_row(y, x, c, n, values)) return context.memory.fault();
      }
    }
  }
  return {};
}

}  // namespace thimble::ethos_u::sim
