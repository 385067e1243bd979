// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_TESTS_MODEL_IO_H
#define THIMBLE_TESTS_MODEL_IO_H
/* Input and output functions of a test program, on the host and on a board. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void read_input(void* data, size_t bytes);
void write_output(const void* data, size_t bytes);
#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_TESTS_MODEL_IO_H */
