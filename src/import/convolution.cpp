// Convolutions become conv2d with a constant weight. A 1-D convolution is one of height 1; an input
// without a batch gets one for the time of the operator. Zero padding in front of the convolution
// joins its own padding, which is how models write asymmetric ("TensorFlow same") padding.

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

struct Convolution {
  ValueId x = ir::kNoValue, w = ir::kNoValue, b = ir::kNoValue;
  Ints stride, dilation;
  Ints padding;  // top, left, bottom, right
  int64_t groups = 1;
};

/// Takes a `pad` by zeros of height and width into the padding.
void merge_pad(Builder& builder, Convolution& conv) {
  const ir::Op* pad = builder.producer(conv.x);
  if (pad == nullptr || pad->kind != OpKind::pad || pad->number("value") != 0) return;
  const Ints before = pad->integers("before");
  const Ints after = pad->integers("after");
  if (before.size() != 4 || before[0] + before[1] + after[0] + after[1] != 0) return;
  const Ints sides = {before[2], before[3], after[2], after[3]};
  for (size_t i = 0; i < 4; ++i) conv.padding[i] += sides[i];
  conv.x = pad->inputs[0];
}

Result<ValueId> add_conv2d(Call& call, Convolution conv) {
  merge_pad(call.builder(), conv);
  return call.add(OpKind::conv2d, {conv.x, conv.w, conv.b},
                  {{"stride", conv.stride},
                   {"padding", conv.padding},
                   {"dilation", conv.dilation},
                   {"groups", conv.groups}});
}

/// `same` pads so that the size stays; an odd number has its larger half after the image.
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

/// `rank` numbers of height and width as the two of conv2d; a missing height is `filler`.
Ints as_2d(Ints values, size_t rank, int64_t filler) {
  if (rank == 2) return values;
  Ints result;
  for (const int64_t value : values) {
    result.push_back(filler);
    result.push_back(value);
  }
  return result;
}

/// `shape` with a batch and a height.
ir::Shape as_4d(ir::Shape shape, size_t rank) {
  if (shape.size() == rank + 1) shape.insert(shape.begin(), 1);
  if (rank == 1 && shape.size() == 3) shape.insert(shape.end() - 1, 1);
  return shape;
}

Status convolve(Call& call, size_t rank) {
  Convolution conv;
  THIMBLE_TRY(conv.x, call.tensor("input"));
  THIMBLE_CHECK(call.constant("weight"));
  THIMBLE_TRY(conv.w, call.tensor("weight"));
  THIMBLE_TRY(conv.b, call.optional_tensor("bias"));
  THIMBLE_TRY(conv.groups, call.integer("groups", 1));
  const ir::Shape x_shape = call.shape(conv.x);
  const ir::Shape w_shape = call.shape(conv.w);
  if (w_shape.size() != rank + 2 || (x_shape.size() != rank + 2 && x_shape.size() != rank + 1)) {
    return bad_input("input {} and weight {}, expected rank {}", ir::list_text(x_shape),
                     ir::list_text(w_shape), rank + 2);
  }
  THIMBLE_TRY(const Ints stride, call.spatial("stride", rank, 1));
  THIMBLE_TRY(const Ints dilation, call.spatial("dilation", rank, 1));
  THIMBLE_TRY(const Ints padding, read_padding(call, w_shape, dilation, rank));
  conv.stride = as_2d(stride, rank, 1);
  conv.dilation = as_2d(dilation, rank, 1);
  conv.padding = as_2d(padding, rank, 0);
  THIMBLE_TRY(conv.x, call.reshape(conv.x, as_4d(x_shape, rank)));
  THIMBLE_TRY(conv.w, call.reshape(conv.w, as_4d(w_shape, rank)));
  THIMBLE_TRY(ValueId y, add_conv2d(call, conv));

  ir::Shape shape = call.shape(y);
  if (rank == 1) shape.erase(shape.begin() + 2);
  if (x_shape.size() == rank + 1) shape.erase(shape.begin());
  THIMBLE_TRY(y, call.reshape(y, shape));
  return call.result(y);
}

}  // namespace

namespace handlers {

Status conv1d(Call& call) {
  return convolve(call, 1);
}
Status conv2d(Call& call) {
  return convolve(call, 2);
}

Status convolution(Call& call) {
  THIMBLE_TRY(const bool transposed, call.boolean("transposed", false));
  if (transposed) return unsupported("transposed");
  THIMBLE_TRY(const ValueId weight, call.tensor("weight"));
  const size_t rank = call.shape(weight).size();
  if (rank == 3 || rank == 4) return convolve(call, rank - 2);
  return unsupported("weight of rank {}", rank);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
