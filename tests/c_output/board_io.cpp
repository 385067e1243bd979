// SPDX-License-Identifier: Apache-2.0
// Reads inputs from the host's file `in` and writes outputs to its file `out`, by semihosting.

#include "firmware/common/exit_codes.h"
#include "firmware/common/semihosting.h"
#include "model_io.h"

using namespace thimble::firmware;

namespace {
HostFile in, out;
}

extern "C" void read_input(void* data, size_t bytes) {
  if (in.handle <= 0) in = host_open("in", OpenMode::kRead);
  if (!host_read(in, data, bytes)) host_exit(kExitUsage);
}

extern "C" void write_output(const void* data, size_t bytes) {
  if (out.handle <= 0) out = host_open("out", OpenMode::kWrite);
  if (!host_write(out, data, bytes)) host_exit(kExitUsage);
}
