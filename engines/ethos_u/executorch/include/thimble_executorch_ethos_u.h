// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_EXECUTORCH_ETHOS_U_H
#define THIMBLE_EXECUTORCH_ETHOS_U_H
/* The delegate EthosUBackend for ExecuTorch's runtime, with Thimble's own driver of the NPU. The
 * shared library for hosts registers it with the simulator when it is loaded. It replaces
 * ExecuTorch's delegate of this name, so a product links one of them. */

#ifdef __cplusplus
extern "C" {
#endif

/* Registers EthosUBackend. It uses thimble_npu (thimble_ethos_u.h), which the product defines.
 * Returns 0, or -1 if ExecuTorch's runtime refuses it, for example because it has a delegate of
 * this name. Must be called before a method is loaded. */
int thimble_executorch_register_ethos_u(void);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_EXECUTORCH_ETHOS_U_H */
