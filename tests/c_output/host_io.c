/* SPDX-License-Identifier: Apache-2.0 */
/* Reads inputs from standard input and writes outputs to standard output. */

#include <stdio.h>
#include <stdlib.h>

#include "model_io.h"

void read_input(void* data, size_t bytes) {
  if (fread(data, 1, bytes, stdin) != bytes) exit(2);
}

void write_output(const void* data, size_t bytes) {
  if (fwrite(data, 1, bytes, stdout) != bytes) exit(2);
}
