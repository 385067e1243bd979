// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/feature_map.h"

#include <algorithm>

namespace thimble::engine::ethos_u {

bool is_natural(const NpuTensor& tensor, const Operand& operand) {
  const Shape4& shape = tensor.shape;
  const int64_t first_channel = operand.offset % shape.c;
  const bool steps = (operand.shape.h == 1 || operand.stride_h == shape.w * shape.c) &&
                     (operand.shape.w == 1 || operand.stride_w == shape.c) &&
                     (operand.shape.c == 1 || operand.stride_c == 1);
  const bool inside = operand.shape.w + operand.offset / shape.c % shape.w <= shape.w &&
                      operand.shape.c + first_channel <= shape.c;
  const bool last = first_channel + operand.shape.c == shape.c;
  return steps && inside && operand.element.bits == tensor.element.bits &&
         first_channel % 16 == 0 && (last || operand.shape.c % 16 == 0);
}

FeatureMap map_operand(const NpuProgram& program, const Schedule& schedule, const Operand& operand,
                       IndexRange rows, IndexRange channels) {
  const NpuTensor& tensor = program.tensors[static_cast<size_t>(operand.tensor)];
  const TensorPlace& place = schedule.tensors[static_cast<size_t>(operand.tensor)];
  const int64_t bytes = operand.element.bits / 8;
  FeatureMap map;
  map.region = place.region;
  map.format = place.format;
  map.height = map.height0 = rows.size();
  map.width = operand.shape.w;
  map.depth = channels.size();
  const bool ring = place.rows < tensor.shape.h;
  const Shape4& shape = tensor.shape;
  if (place.format == Format::kNhwc && !ring) {
    map.stride_y = operand.stride_h * bytes;
    map.stride_x = operand.stride_w * bytes;
    map.stride_c = operand.stride_c * bytes;
    map.base[0] = place.address + operand.offset * bytes + rows.begin * map.stride_y +
                  channels.begin * map.stride_c;
    return map;
  }
  const int64_t row = operand.offset / (shape.w * shape.c) + rows.begin;
  const int64_t column = operand.offset / shape.c % shape.w;
  const int64_t channel = operand.offset % shape.c + channels.begin;
  int64_t within = 0;  // offset in a row
  if (place.format == Format::kNhcwb16) {
    map.stride_x = 16 * bytes;
    map.stride_c = shape.w * map.stride_x;
    map.stride_y = (shape.c + 15) / 16 * map.stride_c;
    within = channel / 16 * map.stride_c + column * map.stride_x + channel % 16 * bytes;
  } else {
    map.stride_c = bytes;
    map.stride_x = shape.c * bytes;
    map.stride_y = shape.w * map.stride_x;
    within = column * map.stride_x + channel * bytes;
  }
  map.base[0] = place.address + row % place.rows * map.stride_y + within;
  map.height0 = std::min(rows.size(), place.rows - row % place.rows);
  if (map.height0 < rows.size()) map.base[2] = place.address + within;
  return map;
}

namespace {

void add_piece(const FeatureMap& map, int64_t base, int64_t height, int bytes, bool write,
               std::vector<Access>* accesses) {
  const auto reach = [&](int64_t count, int64_t stride) {
    return std::pair{std::min<int64_t>(0, (count - 1) * stride),
                     std::max<int64_t>(0, (count - 1) * stride)};
  };
  const auto [y0, y1] = reach(height, map.stride_y);
  const auto [x0, x1] = reach(map.width, map.stride_x);
  const bool bricks = map.format == Format::kNhcwb16;
  const auto [c0, c1] =
      bricks ? reach((map.depth + 15) / 16, map.stride_c) : reach(map.depth, map.stride_c);
  const int64_t last = bricks ? 16 * bytes : bytes;
  accesses->push_back({map.region, false, write, base + y0 + x0 + c0, base + y1 + x1 + c1 + last});
}

}  // namespace

void add_accesses(const FeatureMap& map, int bytes, bool write, std::vector<Access>* accesses) {
  add_piece(map, map.base[0], map.height0, bytes, write, accesses);
  if (map.height0 < map.height) {
    add_piece(map, map.base[2], map.height - map.height0, bytes, write, accesses);
  }
}

}  // namespace thimble::engine::ethos_u
