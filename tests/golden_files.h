// SPDX-License-Identifier: Apache-2.0
#pragma once
// Golden files of the present kernel layout version (tests/data/golden).

#include <string>

#include <fmt/format.h>

#include "abi/kernel_layout.h"
#include "tests/folders.h"
#include "tests/unit/test_files.h"

namespace thimble::test {

/// Returns the bytes of NAME.pte.
inline Bytes golden_file(const std::string& name) {
  const std::string layout = fmt::format("layout{}", abi::kKernelLayoutVersion);
  return read_bytes(source_folder() / "tests/data/golden" / layout / (name + ".pte"));
}

}  // namespace thimble::test
