// SPDX-License-Identifier: Apache-2.0
#include "kernels/mve/matmul_layer.h"

#if THIMBLE_HAS_MVE
#include "kernels/mve/matmul_layer_impl.h"

namespace thimble::kernels::mve {

template AnyMatmulLayer<Int8Weights>::AnyMatmulLayer(const void*, uint32_t, uint32_t,
                                                     const Bounds&);
template void AnyMatmulLayer<Int8Weights>::begin(PixelBlocks*) const;
template void AnyMatmulLayer<Int8Weights>::begin(WindowBlock*) const;
template uint32_t AnyMatmulLayer<Int8Weights>::multiply_many(const int8_t*, int8_t*,
                                                             uint32_t) const;
template void AnyMatmulLayer<Int8Weights>::multiply_one(const int8_t*, int8_t*) const;
template void AnyMatmulLayer<Int8Weights>::multiply_with_rest(PixelBlocks*,
                                                              void (*)(PixelBlocks*)) const;
template void AnyMatmulLayer<Int8Weights>::multiply_with_rest(WindowBlock*,
                                                              void (*)(WindowBlock*)) const;

}  // namespace thimble::kernels::mve
#endif
