// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/footprint.h"

namespace thimble::ethos_u::sim {
namespace {

int64_t last_byte(const Span& span, unsigned from_axis) {
  int64_t end = span.run - 1;
  for (unsigned i = from_axis; i < 3; ++i) {
    end += span.axis[i].stride * static_cast<int64_t>(span.axis[i].count - 1);
  }
  return end;
}

/// Sorts the axes from the widest stride to the narrowest; merges consecutive runs.
Span ordered(Span span) {
  for (SpanAxis& axis : span.axis) {
    if (axis.count <= 1 || axis.stride == 0) axis = {0, 1};
  }
  for (unsigned i = 0; i < 2; ++i) {
    for (unsigned j = 0; j < 2 - i; ++j) {
      if (span.axis[j].stride < span.axis[j + 1].stride) {
        const SpanAxis other = span.axis[j];
        span.axis[j] = span.axis[j + 1];
        span.axis[j + 1] = other;
      }
    }
  }
  for (unsigned i = 3; i-- > 0;) {
    SpanAxis& axis = span.axis[i];
    if (axis.count == 1) continue;
    if (axis.stride > span.run) break;
    span.run = axis.stride * static_cast<int64_t>(axis.count - 1) + span.run;
    axis = {0, 1};
  }
  return span;
}

struct View {
  const Span* span;
  int64_t first;
  unsigned axis;
  [[nodiscard]] int64_t last() const { return first + last_byte(*span, axis); }
};

/// Moves to the next axis with more than one step.
void skip_single_steps(View& view) {
  while (view.axis < 3 && view.span->axis[view.axis].count == 1) ++view.axis;
}

// Each call has one more axis than its caller; a view has three.
// NOLINTNEXTLINE(misc-no-recursion)
bool views_overlap(View a, View b, uint32_t& steps) {
  if (++steps > kSpanSteps) return true;
  skip_single_steps(a);
  skip_single_steps(b);
  const int64_t a_last = a.last();
  const int64_t b_last = b.last();
  if (a_last < b.first || b_last < a.first) return false;
  if (a.axis == 3 && b.axis == 3) return true;
  // Splits the wider of the two spans, restricted to the part that can overlap the other.
  const bool take_a = b.axis == 3 || (a.axis != 3 && a_last - a.first >= b_last - b.first);
  const View& wide = take_a ? a : b;
  const View& other = take_a ? b : a;
  const int64_t other_last = take_a ? b_last : a_last;
  const SpanAxis& axis = wide.span->axis[wide.axis];
  const int64_t inner = last_byte(*wide.span, wide.axis + 1);
  const int64_t low = other.first - inner - wide.first;  // lower bound of a step's offset
  int64_t from = low <= 0 ? 0 : (low + axis.stride - 1) / axis.stride;
  int64_t to = (other_last - wide.first) / axis.stride;
  if (to >= static_cast<int64_t>(axis.count)) to = static_cast<int64_t>(axis.count) - 1;
  for (; from <= to; ++from) {
    const View part = {wide.span, wide.first + from * axis.stride, wide.axis + 1};
    if (views_overlap(part, other, steps)) return true;
  }
  return false;
}

}  // namespace

bool overlap(const Span& a, const Span& b) {
  if (a.region != b.region || a.run <= 0 || b.run <= 0) return false;
  uint32_t steps = 0;
  return views_overlap({&a, a.first, 0}, {&b, b.first, 0}, steps);
}

void Footprint::add(const Span& span) {
  if (span.run <= 0 || count_ == kSpans) return;  // kSpans is enough for every caller
  Span positive = span;
  for (SpanAxis& axis : positive.axis) {
    if (axis.count == 0) return;
    if (axis.stride >= 0) continue;
    positive.first += axis.stride * static_cast<int64_t>(axis.count - 1);
    axis.stride = -axis.stride;
  }
  spans_[count_++] = ordered(positive);
}

void Footprint::add_bytes(uint8_t region, uint64_t address, uint64_t bytes) {
  Span span;
  span.region = region;
  span.first = static_cast<int64_t>(address);
  span.run = static_cast<int64_t>(bytes);
  add(span);
}

void Footprint::add_range(const Range& range) {
  add_bytes(range.region, range.address, range.length);
}

bool Footprint::overlaps(const Footprint& other) const {
  for (unsigned i = 0; i < count_; ++i) {
    for (unsigned j = 0; j < other.count_; ++j) {
      if (overlap(spans_[i], other.spans_[j])) return true;
    }
  }
  return false;
}

namespace {

/// Adds a box inside one tile; y and x are relative to the tile's first element.
void add_tile(const FeatureMap& map, uint32_t tile, const Box& box, Footprint* footprint) {
  if (box.empty()) return;
  const int64_t elem = map.bits / 8;
  Span span;
  span.region = map.region;
  span.axis[0] = {map.stride_y, box.y1 - box.y0};
  span.axis[1] = {map.stride_x, box.x1 - box.x0};
  const int64_t corner =
      static_cast<int64_t>(map.base[tile]) + box.y0 * map.stride_y + box.x0 * map.stride_x;
  if (map.format == Format::kNhwc) {
    span.first = corner + box.c0 * elem;
    span.run = (box.c1 - box.c0) * elem;
    footprint->add(span);
    return;
  }
  // NHCWB16: all whole bricks form one span; partial bricks at either end form separate spans.
  uint32_t c = box.c0;
  while (c < box.c1) {
    const uint32_t in_brick = c % 16;
    const bool whole_bricks = in_brick == 0 && box.c1 - c >= 16;
    const uint32_t bricks = whole_bricks ? (box.c1 - c) / 16 : 1;
    const uint32_t run = whole_bricks                 ? 16
                         : box.c1 - c < 16 - in_brick ? box.c1 - c
                                                      : 16 - in_brick;
    span.first = corner + int64_t{c / 16} * map.stride_c + in_brick * elem;
    span.run = run * elem;
    span.axis[2] = {map.stride_c, bricks};
    footprint->add(span);
    c += whole_bricks ? bricks * 16 : run;
  }
}

uint32_t at_most(uint32_t value, uint32_t limit) {
  return value < limit ? value : limit;
}

/// Clips [begin, end) of a box to [low, high) and makes it relative to `low`.
void cut(uint32_t low, uint32_t high, uint32_t* begin, uint32_t* end) {
  *begin = (*begin < low ? low : *begin) - low;
  *end = at_most(*end, high);
  *end = *end < low ? 0 : *end - low;
}

}  // namespace

void add_box(const FeatureMap& map, const Box& box, Footprint* footprint) {
  if (map.storage == Storage::kChained || map.storage == Storage::kNone) return;
  constexpr uint32_t kEnd = UINT32_MAX;
  struct Tile {
    uint32_t y0, y1, x0, x1;
  };
  const Tile square[4] = {{0, map.height0, 0, map.width0},
                          {0, map.height1, map.width0, kEnd},
                          {map.height0, kEnd, 0, map.width0},
                          {map.height1, kEnd, map.width0, kEnd}};
  const uint32_t second = map.height0 + map.height1;
  const Tile column[3] = {
      {0, map.height0, 0, kEnd}, {map.height0, second, 0, kEnd}, {second, kEnd, 0, kEnd}};
  const bool in_column = map.storage == Storage::kTile3x1;
  for (uint32_t i = 0; i < (in_column ? 3U : 4U); ++i) {
    const Tile& tile = in_column ? column[i] : square[i];
    Box part = box;
    cut(tile.y0, tile.y1, &part.y0, &part.y1);
    cut(tile.x0, tile.x1, &part.x0, &part.x1);
    add_tile(map, i, part, footprint);
  }
}

Box in_memory(const KernelOperation& operation, const Box& box) {
  Box b = box;
  const auto flip = [](uint32_t size, uint32_t* begin, uint32_t* end) {
    const uint32_t old = *begin;
    *begin = size - *end;
    *end = size - old;
  };
  if (operation.reverse == Reverse::kH) flip(operation.ofm.height, &b.y0, &b.y1);
  if (operation.reverse == Reverse::kW) flip(operation.ofm.width, &b.x0, &b.x1);
  if (operation.reverse == Reverse::kC) flip(operation.ofm.depth, &b.c0, &b.c1);
  switch (operation.transpose) {
    case Transpose::kHwc:
      return b;
    case Transpose::kWhc:
      return {b.x0, b.x1, b.y0, b.y1, b.c0, b.c1};
    case Transpose::kHcw:
      return {b.y0, b.y1, b.c0, b.c1, b.x0, b.x1};
    case Transpose::kWch:
      return {b.x0, b.x1, b.c0, b.c1, b.y0, b.y1};
    case Transpose::kChw:
      return {b.c0, b.c1, b.y0, b.y1, b.x0, b.x1};
    case Transpose::kCwh:
      return {b.c0, b.c1, b.x0, b.x1, b.y0, b.y1};
  }
  return b;
}

}  // namespace thimble::ethos_u::sim
