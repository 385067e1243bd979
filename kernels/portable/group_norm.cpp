// thimble::group_norm of contiguous tensors and of those with channels innermost; formula:
// docs/numerics.md, "Norms".
//
// Operands: x, w int16 or None, b int32 or None, attributes, y. In place: y may be x.

#include "kernels/args/norm.h"
#include "kernels/args/reduction.h"
#include "kernels/args/requant.h"
#include "kernels/define.h"

namespace thimble::kernels {
namespace {

bool has_channels_innermost(const Tensor& x) {
  uint8_t order[abi::kMaxRank] = {};
  for (uint32_t d = 2; d < x.rank; ++d) order[d - 1] = static_cast<uint8_t>(d);
  order[x.rank - 1] = 1;
  return has_order(x, order);
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  AttributeReader attributes(tensor(call, 3));
  const int32_t groups = attributes.word();
  Norm norm;
  norm.read(attributes, /*has_zero=*/false);
  if (const Status s = check_norm(x, tensor(call, 4), attributes, norm); s != Status::kOk) return s;
  if (x.rank < 2) return Status::kBadShape;
  if (groups < 1 || x.sizes[1] % groups != 0) return Status::kBadParameter;
  if (!is_contiguous(x) && !has_channels_innermost(x)) return Status::kBadLayout;
  if (elements(x) / x.sizes[0] / groups > kMaxReduced) return Status::kBadShape;
  return check_norm_entries(tensor(call, 1), tensor(call, 2), x.sizes[1]);
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 4);
  AttributeReader attributes(tensor(call, 3));
  const int32_t groups = attributes.word();
  Norm norm;
  norm.read(attributes, /*has_zero=*/false);
  norm.w = half_words(tensor(call, 1));
  norm.b = words(tensor(call, 2));
  const int32_t channels = x.sizes[1] / groups;
  const int32_t image = elements(x) / x.sizes[0];
  const int32_t positions = image / x.sizes[1];
  const bool planes = is_contiguous(x);
  NormRow row;
  row.outer = planes ? channels : positions;
  row.inner = planes ? positions : channels;
  row.step = planes ? positions : x.sizes[1];
  row.outer_entry = planes ? 1 : 0;
  row.inner_entry = planes ? 0 : 1;
  for (int32_t i = 0; i < x.sizes[0]; ++i) {
    for (int32_t g = 0; g < groups; ++g) {
      const int32_t first = i * image + g * channels * (planes ? positions : 1);
      norm.run(codes(x) + first, mutable_codes(y) + first, row, g * channels);
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_group_norm, check, run);

}  // namespace thimble::kernels
