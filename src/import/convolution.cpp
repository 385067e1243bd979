// SPDX-License-Identifier: Apache-2.0
// Convolutions become conv2d or conv_transpose2d. A weight that the model computes from parameters
// (weight norm, standardized or binary weights) becomes a constant in the float passes. A 1-D
// convolution becomes a 2-D convolution of height 1. An input without a batch dimension gets one
// for the operator. Zero padding before a convolution is merged into its padding; models express
// asymmetric ("TensorFlow same") padding this way.

#include "import/handlers.h"
#include "import/image.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

struct Convolution {
  Image image;
  ValueId w = ir::kNoValue, b = ir::kNoValue;
  Ints stride, dilation;
  int64_t groups = 1;
};

/// Merges a `pad` by zeros of height and width into the padding.
void merge_pad(Builder& builder, ValueId& x, Ints& padding) {
  const ir::Op* pad = builder.producer(x);
  if (pad == nullptr || pad->kind != OpKind::pad || pad->get(ir::attr::value) != 0) return;
  const Ints before = pad->get(ir::attr::before);
  const Ints after = pad->get(ir::attr::after);
  if (before.size() != 4 || before[0] + before[1] + after[0] + after[1] != 0) return;
  const Ints sides = {before[2], before[3], after[2], after[3]};
  for (size_t i = 0; i < 4; ++i) padding[i] += sides[i];
  x = pad->inputs[0];
}

/// Reads the padding. `same` keeps the size; if the total is odd, the larger half is after the
/// image.
Result<Ints> read_padding(Call& call, const ir::Shape& weight, const Ints& dilation, size_t rank) {
  Ints before(rank, 0);
  if (!call.is_string("padding")) {
    THIMBLE_TRY(before, call.spatial("padding", rank, 0));
    Ints both = before;
    both.insert(both.end(), before.begin(), before.end());
    return both;
  }
  THIMBLE_TRY(const std::string mode, call.text("padding"));
  Ints after(rank, 0);
  if (mode == "same") {
    for (size_t i = 0; i < rank; ++i) {
      const int64_t total = dilation[i] * (weight[2 + i] - 1);
      before[i] = total / 2;
      after[i] = total - before[i];
    }
  } else if (mode != "valid") {
    return unsupported("padding '{}'", mode);
  }
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

/// Reads everything except the padding. `stride` and `dilation` are per spatial dimension.
Result<Convolution> read_convolution(Call& call, size_t rank) {
  Convolution conv;
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  THIMBLE_TRY(conv.w, call.tensor("weight"));
  THIMBLE_TRY(conv.b, call.optional_tensor("bias"));
  THIMBLE_TRY(conv.groups, call.integer("groups", 1));
  const size_t x_rank = call.shape(x).size();
  if (call.shape(conv.w).size() != rank + 2 || (x_rank != rank + 2 && x_rank != rank + 1)) {
    return bad_input("input {} and weight {}, expected rank {}", ir::list_text(call.shape(x)),
                     ir::list_text(call.shape(conv.w)), rank + 2);
  }
  THIMBLE_TRY(conv.stride, call.spatial("stride", rank, 1));
  THIMBLE_TRY(conv.dilation, call.spatial("dilation", rank, 1));
  THIMBLE_TRY(conv.image, as_image(call, x, rank));
  return conv;
}

/// Returns the weight with a height dimension.
Result<ValueId> weight_2d(Call& call, const Convolution& conv) {
  ir::Shape shape = call.shape(conv.w);
  if (conv.image.spatial == 1) shape.insert(shape.begin() + 2, 1);
  return call.reshape(conv.w, std::move(shape));
}

Status convolve(Call& call, size_t rank) {
  THIMBLE_TRY(const Convolution conv, read_convolution(call, rank));
  THIMBLE_TRY(Ints padding, read_padding(call, call.shape(conv.w), conv.dilation, rank));
  padding = as_2d(padding, rank, 0);
  ValueId x = conv.image.x;
  merge_pad(call.builder(), x, padding);
  THIMBLE_TRY(const ValueId w, weight_2d(call, conv));
  THIMBLE_TRY(const ValueId y, call.add(OpKind::conv2d, {x, w, conv.b},
                                        {{ir::attr::stride, as_2d(conv.stride, rank, 1)},
                                         {ir::attr::padding, std::move(padding)},
                                         {ir::attr::dilation, as_2d(conv.dilation, rank, 1)},
                                         {ir::attr::groups, conv.groups}}));
  return call.result(as_given(call, conv.image, y));
}

/// 3-D convolution as conv2d: each output slice becomes an image of the batch, whose channels are
/// those of all input slices that it reads.
Status convolve_volume(Call& call) {
  THIMBLE_TRY(ValueId x, call.tensor("input"));
  THIMBLE_TRY(ValueId w, call.tensor("weight"));
  THIMBLE_TRY(const ValueId b, call.optional_tensor("bias"));
  THIMBLE_TRY(const int64_t groups, call.integer("groups", 1));
  THIMBLE_TRY(const Ints stride, call.spatial("stride", 3, 1));
  THIMBLE_TRY(const Ints dilation, call.spatial("dilation", 3, 1));
  const ir::Shape ws = call.shape(w);
  const bool has_batch = call.shape(x).size() == 5;
  if (ws.size() != 5 || (!has_batch && call.shape(x).size() != 4)) {
    return bad_input("input {} and weight {}", ir::list_text(call.shape(x)), ir::list_text(ws));
  }
  THIMBLE_TRY(const Ints sides, read_padding(call, ws, dilation, 3));
  if (!has_batch) {
    ir::Shape shape = call.shape(x);
    shape.insert(shape.begin(), 1);
    THIMBLE_TRY(x, call.reshape(x, shape));
  }
  THIMBLE_TRY(x, call.add(OpKind::pad, {x},
                          {{ir::attr::before, Ints{0, 0, sides[0], 0, 0}},
                           {ir::attr::after, Ints{0, 0, sides[3], 0, 0}}}));
  const ir::Shape shape = call.shape(x);
  const int64_t room = shape[2] - (ws[2] - 1) * dilation[0] - 1;
  if (room < 0 || stride[0] < 1 || dilation[0] < 1) return bad_input("the window does not fit");
  const int64_t depth = room / stride[0] + 1;
  THIMBLE_TRY(ir::Tensor index, call.new_constant(ir::DType::kI32, {depth, ws[2]}));
  for (int64_t i = 0; i < depth * ws[2]; ++i) {
    index.data<int32_t>()[static_cast<size_t>(i)] =
        static_cast<int32_t>(i / ws[2] * stride[0] + i % ws[2] * dilation[0]);
  }
  THIMBLE_TRY(x, call.add(OpKind::gather, {x, call.constant_value("index", std::move(index))},
                          {{ir::attr::dim, int64_t{2}}}));
  THIMBLE_TRY(x, call.add(OpKind::permute, {x}, {{ir::attr::dims, Ints{0, 2, 1, 3, 4, 5}}}));
  THIMBLE_TRY(x, call.reshape(x, {shape[0] * depth, shape[1] * ws[2], shape[3], shape[4]}));
  THIMBLE_TRY(w, call.reshape(w, {ws[0], ws[1] * ws[2], ws[3], ws[4]}));
  THIMBLE_TRY(ValueId y,
              call.add(OpKind::conv2d, {x, w, b},
                       {{ir::attr::stride, Ints{stride[1], stride[2]}},
                        {ir::attr::padding, Ints{sides[1], sides[2], sides[4], sides[5]}},
                        {ir::attr::dilation, Ints{dilation[1], dilation[2]}},
                        {ir::attr::groups, groups}}));
  ir::Shape whole = call.shape(y);
  whole[0] = shape[0];
  whole.insert(whole.begin() + 1, depth);
  THIMBLE_TRY(y, call.reshape(y, whole));
  THIMBLE_TRY(y, call.add(OpKind::permute, {y}, {{ir::attr::dims, Ints{0, 2, 1, 3, 4}}}));
  if (!has_batch) {
    const ir::Shape& batched = call.shape(y);
    THIMBLE_TRY(y, call.reshape(y, ir::Shape(batched.begin() + 1, batched.end())));
  }
  return call.result(y);
}

Status convolve_transposed(Call& call, size_t rank) {
  THIMBLE_TRY(const Convolution conv, read_convolution(call, rank));
  THIMBLE_TRY(Ints padding, call.spatial("padding", rank, 0));
  padding.insert(padding.end(), padding.begin(), padding.end());
  THIMBLE_TRY(const Ints output_padding, call.spatial("output_padding", rank, 0));
  THIMBLE_TRY(const ValueId w, weight_2d(call, conv));
  THIMBLE_TRY(const ValueId y, call.add(OpKind::conv_transpose2d, {conv.image.x, w, conv.b},
                                        {{ir::attr::stride, as_2d(conv.stride, rank, 1)},
                                         {ir::attr::padding, as_2d(padding, rank, 0)},
                                         {ir::attr::output_padding, as_2d(output_padding, rank, 0)},
                                         {ir::attr::dilation, as_2d(conv.dilation, rank, 1)},
                                         {ir::attr::groups, conv.groups}}));
  return call.result(as_given(call, conv.image, y));
}

}  // namespace

namespace handlers {

Status conv1d(Call& call) {
  return convolve(call, 1);
}
Status conv2d(Call& call) {
  return convolve(call, 2);
}
Status conv3d(Call& call) {
  return convolve_volume(call);
}
Status conv_transpose1d(Call& call) {
  return convolve_transposed(call, 1);
}
Status conv_transpose2d(Call& call) {
  return convolve_transposed(call, 2);
}

Status convolution(Call& call) {
  THIMBLE_TRY(const bool transposed, call.boolean("transposed", false));
  THIMBLE_TRY(const ValueId weight, call.tensor("weight"));
  const size_t rank = call.shape(weight).size();
  if (rank == 5 && !transposed) return convolve_volume(call);
  if (rank != 3 && rank != 4) return unsupported("weight of rank {}", rank);
  return transposed ? convolve_transposed(call, rank - 2) : convolve(call, rank - 2);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
