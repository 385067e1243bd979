// SPDX-License-Identifier: Apache-2.0
// Adds overlapping patches to an image (col2im), the reverse of im2col. It is a transposed
// convolution whose weights are 1 for one position of the window per channel.

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

struct Overlap {
  Ints size, kernel, dilation, padding, stride;
  Ints counts, rest;  // number of windows; rows and columns that no window covers
};

Result<Overlap> read_overlap(Call& call) {
  Overlap overlap;
  THIMBLE_TRY(overlap.size, call.spatial("output_size", 2, 1));
  THIMBLE_TRY(overlap.kernel, call.spatial("kernel_size", 2, 1));
  THIMBLE_TRY(overlap.dilation, call.spatial("dilation", 2, 1));
  THIMBLE_TRY(overlap.padding, call.spatial("padding", 2, 0));
  THIMBLE_TRY(overlap.stride, call.spatial("stride", 2, 1));
  for (size_t side = 0; side < 2; ++side) {
    const auto bad = [](int64_t value, int64_t least) { return value < least || value > 65535; };
    if (bad(overlap.size[side], 1) || bad(overlap.kernel[side], 1) ||
        bad(overlap.dilation[side], 1) || bad(overlap.stride[side], 1) ||
        bad(overlap.padding[side], 0)) {
      return bad_input("the window is out of range");
    }
    const int64_t reach = (overlap.kernel[side] - 1) * overlap.dilation[side] + 1;
    const int64_t room = overlap.size[side] + 2 * overlap.padding[side] - reach;
    if (room < 0) return bad_input("the window does not fit");
    overlap.counts.push_back(room / overlap.stride[side] + 1);
    overlap.rest.push_back(room % overlap.stride[side]);
  }
  return overlap;
}

}  // namespace

namespace handlers {

Status col2im(Call& call) {
  THIMBLE_TRY(ValueId x, call.tensor("self"));
  THIMBLE_TRY(const Overlap overlap, read_overlap(call));
  const ir::Shape shape = call.shape(x);
  const bool has_batch = shape.size() == 3;
  const int64_t taps = overlap.kernel[0] * overlap.kernel[1];
  const int64_t windows = overlap.counts[0] * overlap.counts[1];
  if ((!has_batch && shape.size() != 2) || shape.back() != windows ||
      shape[shape.size() - 2] % taps != 0) {
    return bad_input("the input has shape {} for {} windows of {} elements", ir::list_text(shape),
                     windows, taps);
  }
  const int64_t rows = shape[shape.size() - 2];
  THIMBLE_TRY(
      x, call.reshape(x, {has_batch ? shape[0] : 1, rows, overlap.counts[0], overlap.counts[1]}));
  THIMBLE_TRY(ir::Tensor ones,
              call.new_constant(ir::DType::kF32, {rows, 1, overlap.kernel[0], overlap.kernel[1]}));
  for (int64_t i = 0; i < rows; ++i) {
    ones.data<float>()[static_cast<size_t>(i * taps + i % taps)] = 1;
  }
  const ValueId w = call.constant_value("ones", std::move(ones));
  const Ints& p = overlap.padding;
  THIMBLE_TRY(ValueId y, call.add(OpKind::conv_transpose2d, {x, w, ir::kNoValue},
                                  {{ir::attr::stride, overlap.stride},
                                   {ir::attr::padding, Ints{p[0], p[1], p[0], p[1]}},
                                   {ir::attr::output_padding, overlap.rest},
                                   {ir::attr::dilation, overlap.dilation},
                                   {ir::attr::groups, rows / taps}}));
  if (!has_batch) {
    const ir::Shape& batched = call.shape(y);
    THIMBLE_TRY(y, call.reshape(y, ir::Shape(batched.begin() + 1, batched.end())));
  }
  return call.result(y);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
