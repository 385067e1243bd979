// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/limits.h"

#include <algorithm>

#include "engine/engine.h"

namespace thimble::engine::axon {
namespace {

// --- layer types of AXON_LIMIT, by their names in ops.def ----------------------------------------

bool is_one_dimensional(const Layer& layer) {
  return layer.inputs[0].dims.h == 1 || layer.inputs[0].dims.w == 1;
}
bool is_vector(const BufferView& map) {
  return map.dims.c == 1 && map.dims.h == 1;
}

/// Each function returns true for the layers of its type.
namespace layer_type {
bool any(const Layer& /*layer*/) {
  return true;
}
bool vector(const Layer& layer) {
  return is_vector(layer.inputs[0]) && is_vector(layer.output);
}
bool picture(const Layer& layer) {
  return !vector(layer);
}
bool conv1d(const Layer& layer) {
  return layer.operation == Operation::kConv2d && is_one_dimensional(layer);
}
bool conv2d(const Layer& layer) {
  return layer.operation == Operation::kConv2d && !is_one_dimensional(layer);
}
template <Operation kOperation>
bool is(const Layer& layer) {
  return layer.operation == kOperation;
}
constexpr auto average_pool = is<Operation::kAveragePool>;
constexpr auto channel_pad = is<Operation::kChannelPad>;
constexpr auto depthwise = is<Operation::kDepthwise>;
constexpr auto fully_connected = is<Operation::kFullyConnected>;
constexpr auto max_pool = is<Operation::kMaxPool>;
constexpr auto pointwise = is<Operation::kPointwise>;
constexpr auto strided_slice = is<Operation::kStridedSlice>;
}  // namespace layer_type

// --- quantities, by their names in ops.def -----------------------------------------------------

template <typename F>
int64_t largest(const Layer& layer, F f) {
  int64_t most = f(layer.output.dims);
  for (const BufferView& input : layer.inputs) most = std::max(most, f(input.dims));
  return most;
}

int64_t height(const Layer& l) {
  return largest(l, [](const Dims& d) { return d.h; });
}
int64_t width(const Layer& l) {
  return largest(l, [](const Dims& d) { return d.w; });
}
int64_t channels(const Layer& l) {
  return largest(l, [](const Dims& d) { return d.c; });
}
int64_t inputs(const Layer& l) {
  return l.inputs[0].dims.elements();
}
int64_t outputs(const Layer& l) {
  return l.output.dims.elements();
}
int64_t kernel_height(const Layer& l) {
  return l.kernel_h;
}
int64_t kernel_width(const Layer& l) {
  return l.kernel_w;
}
int64_t stride_height(const Layer& l) {
  return l.operation == Operation::kStridedSlice ? l.attributes[7] : l.stride_y;
}
int64_t stride_width(const Layer& l) {
  return l.operation == Operation::kStridedSlice ? l.attributes[8] : l.stride_x;
}
int64_t stride_channels(const Layer& l) {
  return l.attributes[6];
}
int64_t dilation(const Layer& l) {
  return std::max(l.dilation_y, l.dilation_x);
}
int64_t dilation_height(const Layer& l) {
  return l.dilation_y;
}
/// Returns the dilation, but not the vertical one if the output is one column wide.
int64_t dilation_without_line(const Layer& l) {
  return l.output.dims.w == 1 ? l.dilation_x : dilation(l);
}
int64_t padding(const Layer& l) {
  return std::max(std::max(l.pad_top, l.pad_bottom), std::max(l.pad_left, l.pad_right));
}

struct Row {
  bool (*applies)(const Layer&);
  std::string_view name;
  int64_t (*quantity)(const Layer&);
  int64_t lowest, highest;
  std::string_view source;
};
constexpr Row kRows[] = {
#define AXON_LIMIT(kind, quantity, lowest, highest, source) \
  {layer_type::kind, #quantity, quantity, lowest, highest, source},
#include "engines/axon/compiler/ops.def"
};

}  // namespace

Status check_limits(const Layer& layer) {
  for (const Row& row : kRows) {
    if (!row.applies(layer)) continue;
    const int64_t value = row.quantity(layer);
    if (value >= row.lowest && value <= row.highest) continue;
    return unsupported("{}: {} is {}, expected {} to {}; nearest supported value {} ({})",
                       operation_name(layer.operation), words_of_name(row.name), value, row.lowest,
                       row.highest, std::clamp(value, row.lowest, row.highest), row.source);
  }
  return ok();
}

}  // namespace thimble::engine::axon
