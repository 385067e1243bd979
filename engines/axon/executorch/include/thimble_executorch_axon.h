// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_EXECUTORCH_AXON_H
#define THIMBLE_EXECUTORCH_AXON_H
/* The AXON's delegates for ExecuTorch's runtime. The shared library for hosts registers
 * ThimbleAxonModel with the integer model when it is loaded. */

#ifdef __cplusplus
extern "C" {
#endif

/* Registers ThimbleAxonModel. It uses thimble_axon_npu (thimble_axon.h), which the product defines.
 * Returns 0, or -1 if ExecuTorch's runtime refuses it. Must be called before a method is loaded. */
int thimble_executorch_register_axon(void);

/* Registers AxonBackend, for programs in the firmware. It uses thimble_axon_chip
 * (thimble_axon_vendor.h) and the vendor's driver. */
int thimble_executorch_register_axon_vendor(void);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_EXECUTORCH_AXON_H */
