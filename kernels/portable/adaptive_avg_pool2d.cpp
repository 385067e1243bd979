// thimble::adaptive_avg_pool2d; operands and memory: kernels/args/adaptive.h; formula:
// docs/numerics.md, "Pools and reductions".

#include "kernels/args/adaptive.h"
#include "kernels/args/attributes.h"
#include "kernels/define.h"

namespace thimble::kernels {
namespace {

/// A sum of this many codes fits 31 bits.
constexpr int64_t kMaxTaps = 1 << 23;

Status check(const Call& call) {
  if (const Status s = check_adaptive_pool(call, 5); s != Status::kOk) return s;
  const int32_t* const attribute = attributes(tensor(call, 1));
  if (!are_bounds(attribute[3], attribute[4])) return Status::kBadParameter;
  int64_t taps = 1;
  for (uint32_t side = 0; side < 2; ++side) {
    const AdaptiveAxis axis = adaptive_axis(call, side);
    taps *= axis.in / axis.out + 2;
  }
  return taps <= kMaxTaps ? Status::kOk : Status::kBadShape;
}

struct Patch {
  const int8_t* x;
  int32_t rows, columns, x_row, x_column;
};

int32_t sum(const Patch& patch, int32_t channel) {
  int32_t total = 0;
  for (int32_t row = 0; row < patch.rows; ++row) {
    const int8_t* const x = patch.x + channel + row * patch.x_row;
    for (int32_t column = 0; column < patch.columns; ++column) total += x[column * patch.x_column];
  }
  return total;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const int32_t* const attribute = attributes(tensor(call, 1));
  const AdaptiveAxis down = adaptive_axis(call, 0);
  const AdaptiveAxis across = adaptive_axis(call, 1);
  const int32_t channels = x.sizes[1];
  int8_t* y = mutable_codes(tensor(call, 2));
  for (int32_t n = 0; n < x.sizes[0]; ++n) {
    for (int32_t oy = 0; oy < down.out; ++oy) {
      const Span rows = down.span(oy);
      for (int32_t ox = 0; ox < across.out; ++ox) {
        const Span columns = across.span(ox);
        const int32_t start = ((n * down.in + rows.first) * across.in + columns.first) * channels;
        const Patch patch = {codes(x) + start, rows.last - rows.first, columns.last - columns.first,
                             across.in * channels, channels};
        const int32_t count = patch.rows * patch.columns;
        for (int32_t c = 0; c < channels; ++c) {
          const int32_t total = sum(patch, c);
          const int32_t mean = (total + (total >= 0 ? count / 2 : -(count / 2))) / count;
          *y++ = static_cast<int8_t>(numerics::clamp(mean, attribute[3], attribute[4]));
        }
      }
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_adaptive_avg_pool2d, check, run);

}  // namespace thimble::kernels
