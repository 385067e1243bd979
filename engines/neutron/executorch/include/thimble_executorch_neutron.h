// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_EXECUTORCH_NEUTRON_H
#define THIMBLE_EXECUTORCH_NEUTRON_H
/* The Neutron's delegates for ExecuTorch's runtime. The shared library for hosts registers them
 * with the integer model when it is loaded. The integer model executes kernel lists and refuses
 * microcode. */

#ifdef __cplusplus
extern "C" {
#endif

/* Registers ThimbleNeutronModel (kernel lists) and NeutronBackend (microcode). They use
 * thimble_neutron_npu (thimble_neutron.h), which the product defines, and the linked driver, for
 * which the product has called neutronInit(). Returns 0, or -1 if ExecuTorch's runtime refuses one.
 * Must be called before a method is loaded. */
int thimble_executorch_register_neutron(void);

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_EXECUTORCH_NEUTRON_H */
