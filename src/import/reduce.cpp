// Means. Over height and width of an image it is an average pool over the whole image, which every
// engine has.

#include <algorithm>
#include <numeric>

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

Result<ValueId> image_mean(Call& call, ValueId x, bool keeps_dims) {
  const ir::Shape shape = call.shape(x);
  const Ints window = {shape[2], shape[3]};
  THIMBLE_TRY(const ValueId y,
              call.add(OpKind::avg_pool2d, {x},
                       {{"kernel", window}, {"stride", window}, {"padding", Ints{0, 0, 0, 0}}}));
  if (keeps_dims) return y;
  return call.reshape(y, {shape[0], shape[1]});
}

}  // namespace

namespace handlers {

Status mean(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  const size_t rank = call.shape(x).size();
  if (rank == 0) return call.result(x);
  Ints dims;
  if (call.has("dim")) {
    THIMBLE_TRY(dims, call.dimensions("dim", rank));
  }
  if (dims.empty()) {
    dims.resize(rank);
    std::iota(dims.begin(), dims.end(), 0);
  }
  std::sort(dims.begin(), dims.end());
  THIMBLE_TRY(const bool keeps_dims, call.boolean("keepdim", false));
  if (rank == 4 && dims == Ints{2, 3}) {
    THIMBLE_TRY(const ValueId y, image_mean(call, x, keeps_dims));
    return call.result(y);
  }
  THIMBLE_TRY(const ValueId y,
              call.add(OpKind::mean, {x}, {{"dims", dims}, {"keepdim", int64_t{keeps_dims}}}));
  return call.result(y);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
