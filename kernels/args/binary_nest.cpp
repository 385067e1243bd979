#include "kernels/args/binary_nest.h"

namespace thimble::kernels {

Status check_binary_nest(const Call& call, const abi::Nest& nest) {
  static constexpr uint32_t kCodes[] = {0, 1, 3};
  for (const uint32_t i : kCodes) {
    if (const Status s = check_tensor(tensor(call, i), DType::kI8); s != Status::kOk) return s;
  }
  const bool inside = stays_inside(nest, 0, tensor(call, 0).bytes) &&
                      stays_inside(nest, 1, tensor(call, 1).bytes) &&
                      count_of(nest) == tensor(call, 3).bytes;
  return inside ? Status::kOk : Status::kBadShape;
}

}  // namespace thimble::kernels
