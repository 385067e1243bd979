// SPDX-License-Identifier: Apache-2.0
#pragma once
/* A stand-in driver with the functions that the runtime calls, for tests without the vendor's. It
 * executes the words that tests/axon_vendor/standin_compiler.c generates:
 *
 *   5d000001, total length                                     begins a program
 *   5d000010, input, n, constant, n, output, rows, bytes per row, row pitch in bytes, k
 *       output[i] = input[i % n] + constant[i % n] + k, row by row
 *   5d000020, function, count, operands..., address            calls the function; adds the first
 *       byte of its output to each of the first four bytes at the address
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of times the NPU was reserved, freed and run, and the wait mode of the last run. */
typedef struct axon_standin_log {
  int reserved, freed, runs, wait_mode, kept;
  int fail_with; /* return value of the next run; 0: success */
} axon_standin_log;
extern axon_standin_log axon_standin;

#ifdef __cplusplus
}
#endif
