#pragma once
/* A driver of our own with the functions that the runtime calls, for tests without the vendor's. It
 * executes the words that tests/axon_vendor/standin_compiler.c makes up:
 *
 *   5d000001, length of all                                    begins a program
 *   5d000010, input, n, constant, n, output, rows, bytes of a row, bytes from row to row, k
 *       output[i] = input[i % n] + constant[i % n] + k, row by row
 *   5d000020, function, count, operands..., address            calls it; the first byte of its
 *       output is added to each of the first four at the address
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How often the NPU was reserved, freed and run, and how the last run waited. */
typedef struct axon_standin_log {
  int reserved, freed, runs, wait_mode, kept;
  int fail_with; /* what the next run answers instead of 0 */
} axon_standin_log;
extern axon_standin_log axon_standin;

#ifdef __cplusplus
}
#endif
