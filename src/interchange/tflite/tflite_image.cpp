// SPDX-License-Identifier: Apache-2.0
// Resizing and mirror padding of images: LiteRT operators in place of the graph's index tables.

#include <algorithm>
#include <cmath>

#include "interchange/tflite/tflite_lowering.h"

namespace thimble::interchange {

using formats::tflite::ResizeOptions;
using ir::DimOrder;
using ir::Shape;

namespace {

std::optional<std::vector<int64_t>> index_of(const ir::Graph& graph, const ir::Op& gather) {
  const ir::Value& index = graph.value(gather.inputs[1]);
  if (!index.constant || index.type.shape.size() != 1) return std::nullopt;
  std::vector<int64_t> list;
  for (int64_t i = 0; i < index.type.shape[0]; ++i) {
    const auto at = static_cast<size_t>(i);
    list.push_back(index.type.dtype == ir::DType::kI64 ? index.constant->data<int64_t>()[at]
                                                       : index.constant->data<int32_t>()[at]);
  }
  return list;
}

/// Returns the source position as LiteRT's kernel computes it, in float32.
int64_t nearest(int64_t i, int64_t in, int64_t out, bool half_pixel_centers) {
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  const float offset = half_pixel_centers ? 0.5F : 0.0F;
  const auto at = static_cast<int64_t>(std::floor((static_cast<float>(i) + offset) * scale));
  return std::clamp<int64_t>(at, 0, in - 1);
}

int64_t mirrored(int64_t at, int64_t size) {
  return at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
}

/// Returns true if the tables equal the positions of docs/numerics.md, "Bilinear resizing".
bool is_bilinear(const ir::Tensor& low, const ir::Tensor& weight, int64_t in,
                 const ResizeOptions& options) {
  constexpr double kOne = 2048;
  const int64_t out = low.shape[0];
  const double step = !options.align_corners ? static_cast<double>(in) / static_cast<double>(out)
                      : out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1)
                                : 0;
  const double centre = options.half_pixel_centers ? 0.5 : 0;
  for (int64_t i = 0; i < out; ++i) {
    const double source = std::max((static_cast<double>(i) + centre) * step - centre, 0.0);
    const double first = std::min(std::floor(source), static_cast<double>(in - 1));
    const double part = std::floor(std::min(source - first, 1.0) * kOne + 0.5);
    const auto at = static_cast<size_t>(i);
    if (low.data<int32_t>()[at] != first || weight.data<int32_t>()[at] != part) return false;
  }
  return true;
}

}  // namespace

/// Recognizes nearest-neighbor resizing along H or W of an image, and mirror padding along any
/// dimension.
std::optional<TfliteLowering::IndexPattern> TfliteLowering::index_pattern(
    const ir::Op& gather) const {
  const Shape& from = graph_.type(gather.inputs[0]).shape;
  const int64_t dim = gather.get(ir::attr::dim), in = from[static_cast<size_t>(dim)];
  const auto list = index_of(graph_, gather);
  if (!list || from.size() > 4 || graph_.value(gather.inputs[0]).constant) return std::nullopt;
  const auto count = static_cast<int64_t>(list->size());
  const auto is = [&](auto rule) {
    for (int64_t i = 0; i < count; ++i) {
      if ((*list)[static_cast<size_t>(i)] != rule(i)) return false;
    }
    return true;
  };
  IndexPattern found;
  found.dims = {dim};
  if (from.size() == 4 && dim >= 2) {
    for (const bool half : {false, true}) {
      found.half_pixel_centers = half;
      if (is([&](int64_t i) { return nearest(i, in, count, half); })) return found;
    }
  }
  const int64_t before = list->front(), after = count - in - before;
  if (before < 0 || after < 0 || before >= in || after >= in) return std::nullopt;
  found.mirrors = true;
  found.before = {before};
  found.after = {after};
  if (is([&](int64_t i) { return mirrored(i - before, in); })) return found;
  return std::nullopt;
}

/// Returns true if the only reader is a gather of the same kind along another dimension. Both
/// become one LiteRT operator, written at the second gather.
bool TfliteLowering::is_deferred_to_reader(const IndexPattern& index_pattern) {
  if (readers_.empty()) readers_ = graph_.consumers();
  const ir::ValueId y = op_->output;
  const std::vector<int>& readers = readers_[static_cast<size_t>(y)];
  const auto& outputs = graph_.outputs();
  if (readers.size() != 1 || std::ranges::find(outputs, y) != outputs.end()) return false;
  const ir::Op& next = graph_.ops()[static_cast<size_t>(readers[0])];
  if (next.kind != ir::OpKind::gather || next.inputs[0] != y) return false;
  const auto other = this->index_pattern(next);
  return other && other->mirrors == index_pattern.mirrors &&
         other->dims[0] != index_pattern.dims[0] &&
         other->half_pixel_centers == index_pattern.half_pixel_centers;
}

/// Writes RESIZE_NEAREST_NEIGHBOR or MIRROR_PAD if the gather is one, or is a part of one.
bool TfliteLowering::resize_or_mirror_pad() {
  auto found = index_pattern(*op_);
  if (!found) return false;
  ir::ValueId source = operand(0);
  if (const auto before = deferred_.find(source); before != deferred_.end()) {
    const IndexPattern& first = before->second;
    source = first.source;
    found->dims.insert(found->dims.end(), first.dims.begin(), first.dims.end());
    found->before.insert(found->before.end(), first.before.begin(), first.before.end());
    found->after.insert(found->after.end(), first.after.begin(), first.after.end());
  }
  found->source = source;
  if (is_deferred_to_reader(*found)) {
    deferred_.emplace(op_->output, *found);
    return true;
  }
  if (!found->mirrors) {
    const Shape out = result_shape_in(Layouts::image());
    const int size = constants({2}, {static_cast<int32_t>(out[1]), static_cast<int32_t>(out[2])});
    layouts_.put(op_->output, Layouts::image(),
                 emit(Op::kResizeNearest, ResizeOptions{false, found->half_pixel_centers},
                      {layouts_.get(source, Layouts::image()), size}, make_result(out)));
    return true;
  }
  const DimOrder order = layouts_.existing(source);
  std::vector<int32_t> pairs(2 * order.size(), 0);
  for (size_t i = 0; i < found->dims.size(); ++i) {
    const auto at = static_cast<size_t>(2 * Layouts::position(order, found->dims[i]));
    pairs[at] = static_cast<int32_t>(found->before[i]);
    pairs[at + 1] = static_cast<int32_t>(found->after[i]);
  }
  layouts_.put(
      op_->output, order,
      emit(Op::kMirrorPad, formats::tflite::MirrorPadOptions{},
           {layouts_.get(source, order), constants({static_cast<int64_t>(order.size()), 2}, pairs)},
           make_result(result_shape_in(order))));
  return true;
}

/// LiteRT has 10 fractional bits per position, the graph has 11, and LiteRT rounds halves away from
/// 0. The results are equal except for halves below 0 if both sides grow by powers of two.
Status TfliteLowering::resize_bilinear() {
  for (size_t i = 1; i <= 4; ++i) THIMBLE_CHECK(check_constant(i));
  const auto table = [&](size_t i) -> const ir::Tensor& {
    return *graph_.value(operand(i)).constant;
  };
  const Shape out = result_shape_in(Layouts::image());
  for (const auto& [align, half] : {std::pair(false, true), {true, false}, {false, false}}) {
    const ResizeOptions options{align, half};
    if (!is_bilinear(table(1), table(2), shape(0)[2], options)) continue;
    if (!is_bilinear(table(3), table(4), shape(0)[3], options)) continue;
    const int size = constants({2}, {static_cast<int32_t>(out[1]), static_cast<int32_t>(out[2])});
    return put(emit(Op::kResizeBilinear, options, {image(0), size}, make_result(out)),
               Layouts::image());
  }
  return refuse("RESIZE_BILINEAR computes its positions only from the sizes");
}

}  // namespace thimble::interchange
