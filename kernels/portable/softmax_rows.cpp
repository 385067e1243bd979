// thimble::softmax.packed: softmax of int8 rows with a table of exponentials; formula:
// docs/numerics.md, "Softmax"; constant: abi/packed_ops.h.
//
// Operands: x, SoftmaxRows constant, y. In place: y may be x.

#include "kernels/args/softmax_rows.h"
#include "abi/ops/normalization.h"

#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct LongProduct {
  static int32_t high(int32_t a, int32_t b) {
    return static_cast<int32_t>((int64_t{a} * b + (int64_t{1} << 31)) >> 32);
  }
  /// Adds both rounding halves before the product, so that one multiply-accumulate suffices.
  static uint32_t divided(int32_t a, uint32_t b, uint32_t right) {
    const uint32_t half = uint32_t{1} << (right - 1);
    const uint64_t halves = uint64_t{half} << 32 | uint64_t{1} << 31;
    const uint64_t sum = halves + uint64_t{static_cast<uint32_t>(a) * 2} * b;
    return static_cast<uint32_t>(sum >> 32) >> right;
  }
};

void run(void* const* operands) {
  softmax_rows<LongProduct>(operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_softmax_rows, check_softmax_rows, run);

}  // namespace thimble::kernels
