// conv2d_scalar_int4 and linear_scalar_int4 on any core (abi/matmul_scalar.h).

#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "kernels/args/conv_scalar.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/int4.h"

namespace thimble::kernels {
namespace {

struct ScalarWeights {
  const void* packed;
  uint32_t channels, depth;
  int32_t y_zero_point, min, max;

  /// Sums wrap.
  int8_t code(uint32_t channel, const int8_t* x) const {
    const abi::ScalarChannel& record = scalar_channels(packed)[channel];
    const auto* const pairs = reinterpret_cast<const uint8_t*>(scalar_weights(packed, channels));
    const uint8_t* const own = pairs + channel / 2 * scalar_row(depth);
    auto sum = static_cast<uint32_t>(record.bias);
    for (uint32_t k = 0; k < depth; ++k) {
      const int32_t weight = channel % 2 == 0 ? abi::int4_low(own[k]) : abi::int4_high(own[k]);
      sum += static_cast<uint32_t>(x[k] * weight);
    }
    return scalar_code(record, static_cast<int32_t>(sum), min, max);
  }
};

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_conv2d_scalar_int4, check_conv2d_scalar_int4,
                           run_conv2d_int4<ScalarWeights>);
THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_linear_scalar_int4, check_linear_scalar_int4,
                           run_linear_int4<ScalarWeights>);

}  // namespace thimble::kernels
