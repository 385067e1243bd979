// SPDX-License-Identifier: Apache-2.0
#pragma once
// check() and run() of the norms, for int8 and int16 kernels; formula: docs/numerics.md, "Norms".
// `Rows` computes a row: Norm, or a class of a kernel for some cores.

#include "kernels/args/norm.h"
#include "kernels/args/requant.h"

namespace thimble::kernels {

/// Operands: x, w int16 or None, b int32 or None, parameters, y. In place: y may be x. x is
/// contiguous, or its channels are innermost.
template <class Code, const abi::PteOpInfo& kOp, class Rows = Norm>
struct GroupNorm {
  static bool has_channels_innermost(const Tensor& x) {
    uint8_t order[abi::kMaxRank] = {};
    for (uint32_t d = 2; d < x.rank; ++d) order[d - 1] = static_cast<uint8_t>(d);
    order[x.rank - 1] = 1;
    return has_order(x, order);
  }

  static Status check(const Call& call) {
    const Tensor& x = tensor(call, 0);
    THIMBLE_RETURN_IF_ERROR(check_params<kOp>(tensor(call, 3)));
    const abi::ParamsOf<kOp>& p = params<kOp>(tensor(call, 3));
    const int32_t groups = p.groups;
    THIMBLE_RETURN_IF_ERROR(check_norm<Code>(x, tensor(call, 4), Norm(p)));
    if (x.rank < 2) return Status::kBadShape;
    if (groups < 1 || x.sizes[1] % groups != 0) return Status::kBadParameter;
    if (!is_contiguous(x) && !has_channels_innermost(x)) return Status::kBadDimOrder;
    if (elements(x) / x.sizes[0] / groups > NormWords<Code>::kRowMax) return Status::kBadShape;
    return check_norm_entries(tensor(call, 1), tensor(call, 2), x.sizes[1]);
  }

  static void run(const Call& call) {
    const Tensor& x = tensor(call, 0);
    const Tensor& y = tensor(call, 4);
    const abi::ParamsOf<kOp>& p = params<kOp>(tensor(call, 3));
    const int32_t groups = p.groups;
    Rows norm(p);
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
    const Code* const from = static_cast<const Code*>(x.data);
    Code* const to = static_cast<Code*>(y.data);
    for (int32_t i = 0; i < x.sizes[0]; ++i) {
      for (int32_t g = 0; g < groups; ++g) {
        const int32_t first = i * image + g * channels * (planes ? positions : 1);
        norm.run(from + first, to + first, row, g * channels);
      }
    }
  }
};

/// Norm over the last dimensions, which are contiguous. Operands: x, w int16 or None, b int32 or
/// None (if `kHasBias`), parameters, y. In place: y may be x. layer_norm is centered and has a
/// bias; rms_norm is not centered and has no bias.
template <class Code, const abi::PteOpInfo& kOp, bool kHasBias, class Rows>
struct TrailingNorm {
  static constexpr uint32_t kParams = kHasBias ? 3 : 2;

  static Status check(const Call& call) {
    const Tensor& x = tensor(call, 0);
    THIMBLE_RETURN_IF_ERROR(check_params<kOp>(tensor(call, kParams)));
    const abi::ParamsOf<kOp>& p = params<kOp>(tensor(call, kParams));
    const auto dims = static_cast<uint32_t>(p.last_dims);
    THIMBLE_RETURN_IF_ERROR(check_norm<Code>(x, tensor(call, kParams + 1), Norm(p)));
    THIMBLE_RETURN_IF_ERROR(check_trailing(x, dims, NormWords<Code>::kRowMax));
    int32_t entries = 1;
    for (uint32_t d = x.rank - dims; d < x.rank; ++d) entries *= x.sizes[d];
    Tensor none;
    none.is_null = true;
    return check_norm_entries(tensor(call, 1), kHasBias ? tensor(call, 2) : none, entries);
  }

  static void run(const Call& call) {
    const abi::ParamsOf<kOp>& p = params<kOp>(tensor(call, kParams));
    Rows norm(p);
    norm.centered = kHasBias;
    norm.w = half_words(tensor(call, 1));
    if (kHasBias) norm.b = words(tensor(call, 2));
    run_trailing<Code>(norm, tensor(call, 0), tensor(call, kParams + 1),
                       static_cast<uint32_t>(p.last_dims));
  }
};
template <class Code, const abi::PteOpInfo& kOp, class Rows = Norm>
using LayerNorm = TrailingNorm<Code, kOp, true, Rows>;
template <class Code, const abi::PteOpInfo& kOp, class Rows = Norm>
using RmsNorm = TrailingNorm<Code, kOp, false, Rows>;

}  // namespace thimble::kernels
