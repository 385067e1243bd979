// SPDX-License-Identifier: Apache-2.0
// Symbols to which programs of the vendor's compiler may refer. The address is null if the product
// does not link the symbol; a program that needs it does not load.

#include "engines/axon/delegate_vendor/extensions.h"
#include "thimble_axon_vendor.h"

#define THIMBLE_WEAK __attribute__((weak))

extern "C" {
// Weak symbols of the vendor's driver and extensions.
THIMBLE_WEAK extern const signed char axonpro_int8_packing_filter[];
THIMBLE_WEAK int nrf_axon_nn_op_extension_reshape(uint16_t count, uintptr_t* words);
THIMBLE_WEAK int nrf_axon_nn_op_extension_reshape_from_axon(uint16_t count, uintptr_t* words);
THIMBLE_WEAK int nrf_axon_nn_op_extension_resize_nearest_neighbor(uint16_t count, uintptr_t* words);
THIMBLE_WEAK int nrf_axon_nn_op_extension_space_to_batch(uint16_t count, uintptr_t* words);
THIMBLE_WEAK int nrf_axon_nn_op_extension_batch_to_space(uint16_t count, uintptr_t* words);

#define THIMBLE_FUNCTION(name, function) \
  { name, reinterpret_cast<const void*>(&(function)) }
#define THIMBLE_OF_VENDOR(function) THIMBLE_FUNCTION(#function, function)

const thimble_axon_symbol thimble_axon_symbols[] = {
    {"axonpro_int8_packing_filter", axonpro_int8_packing_filter},
    THIMBLE_FUNCTION("nrf_axon_nn_op_extension_softmax", thimble_axon_ext_softmax),
    THIMBLE_FUNCTION("nrf_axon_nn_op_extension_sigmoid_v2", thimble_axon_ext_sigmoid),
    THIMBLE_FUNCTION("nrf_axon_nn_op_extension_tanh_v2", thimble_axon_ext_tanh),
    THIMBLE_OF_VENDOR(nrf_axon_nn_op_extension_reshape),
    THIMBLE_OF_VENDOR(nrf_axon_nn_op_extension_reshape_from_axon),
    THIMBLE_OF_VENDOR(nrf_axon_nn_op_extension_resize_nearest_neighbor),
    THIMBLE_OF_VENDOR(nrf_axon_nn_op_extension_space_to_batch),
    THIMBLE_OF_VENDOR(nrf_axon_nn_op_extension_batch_to_space),
};
const uint32_t thimble_axon_symbol_count =
    sizeof thimble_axon_symbols / sizeof thimble_axon_symbols[0];

}  // extern "C"
