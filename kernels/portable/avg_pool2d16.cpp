// thimble::avg_pool2d16; formula: docs/numerics.md, "Pools and reductions". Padding is not counted.
//
// Operands: x NHWC, attributes (kernel stride padding min max), y NHWC.

#include "kernels/args/attributes.h"
#include "kernels/args/wide.h"
#include "kernels/args/window.h"
#include "kernels/define.h"

namespace thimble::kernels {
namespace {

/// The attributes as they lie; lists begin with their count.
struct Params {
  int32_t kernels, kernel[2];
  int32_t strides, stride[2];
  int32_t pads, pad[4];
  int32_t min, max;
};
/// The sum of a window stays inside 32 bits.
constexpr int64_t kMaxTaps = 1 << 15;

struct Pool16 {
  const int16_t* x;
  int16_t* y;
  int32_t batch, c, min, max;
  WindowAxis axis[2];
};

Pool16 bind(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Params& p = *reinterpret_cast<const Params*>(attributes(tensor(call, 1)));
  Pool16 pool = {codes16(x), mutable_codes16(y), x.sizes[0], x.sizes[1], p.min, p.max, {}};
  for (uint32_t a = 0; a < 2; ++a) {
    pool.axis[a] = {p.kernel[a], p.stride[a], 1, p.pad[a], x.sizes[2 + a], y.sizes[2 + a]};
  }
  return pool;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) {
    if (const Status s = check_tensor(*t, DType::kI16); s != Status::kOk) return s;
    if (t->rank != 4) return Status::kBadShape;
    if (!is_nhwc(*t)) return Status::kBadLayout;
  }
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1]) return Status::kBadShape;
  const Status s = check_attributes(tensor(call, 1), sizeof(Params) / sizeof(int32_t));
  if (s != Status::kOk) return s;
  const Params& p = *reinterpret_cast<const Params*>(attributes(tensor(call, 1)));
  const bool lists = p.kernels == 2 && p.strides == 2 && p.pads == 4;
  if (!lists || !are_bounds16(p.min, p.max)) return Status::kBadParameter;
  const Pool16 pool = bind(call);
  if (const Status a = check_axes(pool.axis, pool.c); a != Status::kOk) return a;
  if (int64_t{p.kernel[0]} * p.kernel[1] > kMaxTaps) return Status::kBadShape;
  for (const WindowAxis& axis : pool.axis) {
    if (!windows_meet_image(axis) || !output_follows(axis)) return Status::kBadShape;
  }
  return Status::kOk;
}

void pixel(const Pool16& pool, const int16_t* x, int32_t rows, int32_t columns, int16_t* y) {
  const int32_t row_step = pool.axis[1].in * pool.c;
  const int32_t count = rows * columns;
  const int32_t half = count / 2;
  for (int32_t c = 0; c < pool.c; ++c) {
    int32_t total = 0;
    for (int32_t row = 0; row < rows; ++row) {
      for (int32_t column = 0; column < columns; ++column) {
        total += x[row * row_step + column * pool.c + c];
      }
    }
    const int32_t mean = (total + (total >= 0 ? half : -half)) / count;
    y[c] = static_cast<int16_t>(numerics::clamp(mean, pool.min, pool.max));
  }
}

void run(const Call& call) {
  const Pool16 pool = bind(call);
  const WindowAxis& down = pool.axis[0];
  const WindowAxis& across = pool.axis[1];
  const int16_t* image = pool.x;
  int16_t* y = pool.y;
  for (int32_t n = 0; n < pool.batch; ++n) {
    for (int32_t oy = 0; oy < down.out; ++oy) {
      const int32_t y_origin = down.origin(oy);
      const Taps ty = down.inside(y_origin);
      for (int32_t ox = 0; ox < across.out; ++ox) {
        const int32_t x_origin = across.origin(ox);
        const Taps tx = across.inside(x_origin);
        const int32_t first = (y_origin + ty.first) * across.in + x_origin + tx.first;
        pixel(pool, image + first * pool.c, ty.last - ty.first, tx.last - tx.first, y);
        y += pool.c;
      }
    }
    image += down.in * across.in * pool.c;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_avg_pool2d16, check, run);

}  // namespace thimble::kernels
