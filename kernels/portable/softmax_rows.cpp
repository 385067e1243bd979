// thimble::softmax_rows: softmax of rows of codes with the exponentials in a table; formula:
// docs/numerics.md, "Softmax"; constant: abi/packed_rows.h.
//
// Operands: x, SoftmaxRows constant, y. In place: y may be x.

#include "kernels/args/softmax_rows.h"

#include "kernels/define.h"

namespace thimble::kernels {
namespace {

struct LongProduct {
  static int32_t high(int32_t a, int32_t b) {
    return static_cast<int32_t>((int64_t{a} * b + (1 << 30)) >> 31);
  }
  static uint32_t divided(int32_t a, uint32_t b, uint32_t right) {
    const auto product = static_cast<uint32_t>(high(a, static_cast<int32_t>(b)));
    return (product + (uint32_t{1} << (right - 1))) >> right;
  }
};

void run(void* const* operands) {
  softmax_rows<LongProduct>(operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_softmax_rows, check_softmax_rows, run);

}  // namespace thimble::kernels
