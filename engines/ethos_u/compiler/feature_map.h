#pragma once
// An operand as the registers say it: tiles, strides, what memory it touches.

#include <array>
#include <cstdint>
#include <vector>

#include "engines/ethos_u/compiler/plan.h"

namespace thimble::engine::ethos_u {

struct FeatureMap {
  uint8_t region = 0;
  Format format = Format::kNhwc;
  int64_t height = 0, width = 0, depth = 0;
  int64_t height0 = 0;  // rows before the ring begins again
  std::array<int64_t, 4> base{};
  int64_t stride_y = 0, stride_x = 0, stride_c = 0;  // bytes
};

/// Bytes that an operation reads or writes; `internal` is the table memory.
struct Access {
  uint8_t region = 0;
  bool internal = false;
  bool write = false;
  int64_t begin = 0, end = 0;
};

/// `rows` and `channels` of an operand.
[[nodiscard]] FeatureMap map_operand(const NpuProgram& program, const Schedule& schedule,
                                     const Operand& operand, Span rows, Span channels);

/// What lies between the first and the last byte of the operand, in at most two pieces.
void add_accesses(const FeatureMap& map, int bytes, bool write, std::vector<Access>* accesses);

/// True if the operand is the whole tensor, or channels of it between bricks, as it lies.
[[nodiscard]] bool is_natural(const NpuTensor& tensor, const Operand& operand);

}  // namespace thimble::engine::ethos_u
