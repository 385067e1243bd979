// SPDX-License-Identifier: Apache-2.0
// Lowers data movement: concat, slice, channel pad, copies.

#include <algorithm>
#include <cassert>

#include "engines/axon/compiler/lowering.h"

namespace thimble::engine::axon {

using ir::Op;

namespace {

int64_t& extent(Dims& dims, Axis axis) {
  return axis == Axis::kChannel ? dims.c : axis == Axis::kHeight ? dims.h : dims.w;
}

Layer slice_layer(const BufferView& from, const Dims& begin, const Dims& end, const Dims& step) {
  Layer layer;
  layer.operation = Operation::kStridedSlice;
  layer.inputs = {from};
  for (const Dims& d : {begin, end, step}) {
    for (const int64_t value : {d.c, d.h, d.w}) {
      layer.attributes.push_back(static_cast<int32_t>(value));
    }
  }
  return layer;
}

}  // namespace

Result<BufferView> Lowering::sliced(const BufferView& from, const Dims& begin, const Dims& end,
                                    const Dims& step, const Dims& dims) {
  Layer layer = slice_layer(from, begin, end, step);
  layer.output = new_map(dims, from.element_bytes, from.zero_point);
  return append(std::move(layer));
}

/// Copies the map to a new buffer with rows aligned as the NPU writes them.
Result<BufferView> Lowering::copied(const BufferView& from) {
  return sliced(from, {0, 0, 0}, from.dims, {1, 1, 1}, from.dims);
}

/// Moves all maps of the piece's buffer to `buffer` at `offset`, if the piece is the whole buffer.
/// Returns false otherwise.
bool Lowering::move_into(BufferView* piece, int buffer, int64_t offset) {
  const int old = piece->buffer;
  const Buffer& own = net_.buffers[static_cast<size_t>(old)];
  const bool whole = own.source == Source::kInterlayer && piece->offset == 0 &&
                     piece->dims.c * piece->dims.h * piece->row_stride == own.bytes;
  if (!whole || piece->producer < 0 || offset % container::kRowAlignment != 0) return false;
  const auto move = [&](BufferView& map) {
    if (map.buffer != old) return;
    map.buffer = buffer;
    map.offset += offset;
  };
  for (Layer& layer : net_.layers) {
    for (BufferView& input : layer.inputs) move(input);
    move(layer.output);
  }
  for (std::optional<BufferView>& map : maps_) {
    if (map) move(*map);
  }
  for (NetworkIo& edge : net_.outputs) move(edge.map);
  net_.buffers[static_cast<size_t>(old)].bytes = 0;
  move(*piece);
  return true;
}

/// Concatenates two maps. Along the outermost axis, the pieces are written to their final position.
Result<BufferView> Lowering::joined(const BufferView& a, const BufferView& b, Axis axis) {
  Dims dims = a.dims;
  Dims behind = b.dims;
  extent(dims, axis) += extent(behind, axis);
  Layer layer;
  layer.operation = Operation::kConcat;
  layer.axis = axis;
  layer.inputs = {a, b};
  layer.output = new_map(dims, a.element_bytes, a.zero_point);
  const auto second = outer_offset(layer.output, axis, extent(layer.inputs[0].dims, axis));
  const bool rows = a.row_stride == layer.output.row_stride || a.dims.c * a.dims.h == 1;
  // The padding after a row must not overwrite the next piece.
  const bool ends = axis != Axis::kWidth || a.row_bytes() % container::kRowAlignment == 0;
  if (second && rows && ends && a.buffer != b.buffer) {
    BufferView first = a, next = b;
    const int buffer = layer.output.buffer;
    const bool moved = move_into(&first, buffer, 0);
    if (moved) layer.inputs[0] = first;
    if (move_into(&next, buffer, *second)) layer.inputs[1] = next;
  }
  return append(std::move(layer));
}

Result<BufferView> Lowering::interlayer(const BufferView& from) {
  const Source source = net_.buffers[static_cast<size_t>(from.buffer)].source;
  const bool aligned = from.row_stride % container::kRowAlignment == 0;
  return source == Source::kInterlayer && aligned ? from : copied(from);
}

Result<BufferView> Lowering::piece_of(const BufferView& image, Axis axis, int64_t begin,
                                      int64_t count) {
  const auto offset = outer_offset(image, axis, begin);
  assert(offset && "pieces along this axis are not contiguous");
  Dims first{0, 0, 0}, last = image.dims;
  extent(first, axis) = begin;
  extent(last, axis) = begin + count;
  Layer layer = slice_layer(image, first, last, {1, 1, 1});
  layer.output = image;
  extent(layer.output.dims, axis) = count;
  layer.output.offset += *offset;
  return append(std::move(layer));
}

Result<BufferView> Lowering::joined_in_place(const std::vector<BufferView>& pieces, Axis axis) {
  BufferView joint = pieces[0];
  for (size_t i = 1; i < pieces.size();) {
    Layer layer;
    layer.operation = Operation::kConcat;
    layer.axis = axis;
    layer.inputs = {joint};
    layer.output = joint;
    for (; i < pieces.size() && layer.inputs.size() < container::kLayerInputsMax; ++i) {
      BufferView piece = pieces[i];
      extent(layer.output.dims, axis) += extent(piece.dims, axis);
      layer.inputs.push_back(piece);
    }
    THIMBLE_TRY(joint, append(std::move(layer)));
  }
  return joint;
}

Status Lowering::concat(const Op& op) {
  const auto axis = axis_of(op.output, op.get(ir::attr::dim));
  if (!axis)
    return unsupported("concat along dimension {} is not supported", op.get(ir::attr::dim));
  THIMBLE_TRY(BufferView joint, map(op.inputs[0]));
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    THIMBLE_TRY(const BufferView next, map(op.inputs[i]));
    if (next.zero_point != joint.zero_point || next.element_bytes != joint.element_bytes) {
      return unsupported("operands have zero points {} and {}; all must have the same quantization",
                         joint.zero_point, next.zero_point);
    }
    THIMBLE_TRY(joint, joined(joint, next, *axis));
  }
  set(op.output, joint);
  return ok();
}

Status Lowering::slice(const Op& op) {
  const auto axis = axis_of(op.output, op.get(ir::attr::dim));
  THIMBLE_TRY(const BufferView x, map(op.inputs[0]));
  if (!axis) return unsupported("slice of dimension {} is not supported", op.get(ir::attr::dim));
  Dims begin{0, 0, 0}, end = x.dims, step;
  extent(begin, *axis) = op.get(ir::attr::start);
  extent(end, *axis) = std::min(op.get(ir::attr::end), extent(end, *axis));
  extent(step, *axis) = op.get(ir::attr::step);
  Layer layer = slice_layer(x, begin, end, step);
  THIMBLE_TRY(const Dims dims, dims_of(op.output));
  const auto offset = outer_offset(x, *axis, op.get(ir::attr::start));
  const bool in_place = op.get(ir::attr::step) == 1 && offset &&
                        (x.offset + *offset) % container::kRowAlignment == 0 &&
                        net_.buffers[static_cast<size_t>(x.buffer)].source == Source::kInterlayer;
  if (in_place) {
    layer.output = x;
    layer.output.dims = dims;
    layer.output.offset += *offset;
  } else {
    layer.output = new_map(dims, x.element_bytes, x.zero_point);
  }
  return append_result(op, std::move(layer));
}

/// Adds channels with the zero point before or after the channels of the operand.
Status Lowering::pad(const Op& op) {
  THIMBLE_TRY(const BufferView x, map(op.inputs[0]));
  THIMBLE_TRY(const Dims dims, dims_of(op.output));
  Layer layer;
  layer.operation = Operation::kChannelPad;
  layer.pad_top = op.get(ir::attr::before)[1];
  layer.pad_bottom = op.get(ir::attr::after)[1];
  layer.inputs = {x};
  layer.output = new_map(dims, x.element_bytes, static_cast<int64_t>(op.get(ir::attr::value)));
  return append_result(op, std::move(layer));
}

}  // namespace thimble::engine::axon
